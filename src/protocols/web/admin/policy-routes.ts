import { canonicalExact } from "../../../lib/json/exact-json.ts";
import { z } from "zod";
import { nameOf, policyInput } from "../../../policy/model/policy.ts";
import { explainDecision } from "../../../policy/model/explain.ts";
import { lintPolicy } from "../../../policy/model/lint.ts";
import {
  aboutRule,
  type KeptGrant,
  listGrants,
  listProposals,
  type Proposal,
  proposalDiff,
  readRulesInUse,
  usesOf,
} from "../../../policy/list.ts";
import { revokeGrantOf } from "../../../policy/grants.ts";
import { judge } from "../../../policy/judge.ts";
import { acceptProposal, dismissProposal, reloadPolicy, revokeLearnedRule } from "../../../policy/proposals.ts";
import { shippedPolicy } from "../../../policy/shipped.ts";
import { patternSentence } from "../../../requests/model/pattern-words.ts";
import { type Language, languageOf } from "../../../requests/model/sentence-words.ts";
import { Refusal } from "../../../refusals.ts";
import type { Door, DoorContext, FastifyRequest } from "../../http/door.ts";
import { parseBody } from "../../http/body.ts";
import { editRoutes } from "./policy-edit.ts";
import { replayRoute } from "./policy-replay.ts";
import { suggestRoute } from "./policy-suggest.ts";
import {
  PolicyTestBody,
  PROPOSAL_STATES,
  WireEndedGrant,
  WireGrantPage,
  WirePolicyReport,
  WirePolicyVerdict,
  WireProposal,
  WireProposalPage,
} from "../../../wire/policy.ts";
import { isId } from "../../http/ids.ts";
import { jsonReply } from "../../http/json-reply.ts";
import { administrator } from "../../http/principals.ts";
import { cursorField, PAGE, pageAfter, placeText } from "../../http/list-pages.ts";
import { ADMIN_REFUSALS, timeText } from "./access-routes.ts";
import { ErrorBody } from "../../../wire/error.ts";

const GrantList = z.object({
  live: z.enum(["true", "false"]).describe("Only those that allow something now, or none.").optional(),
  ...cursorField,
});
const ProposalList = z.object({ state: z.enum(PROPOSAL_STATES).optional(), ...cursorField });
/** The form of the ids of grants and proposals. */
const ID = /^\w{1,64}$/;
const LIST = { 400: ErrorBody, ...ADMIN_REFUSALS } as const;
const changes = { ...ADMIN_REFUSALS, 404: ErrorBody } as const;

interface OneOf {
  Params: { id: string };
}

/**
 * The policy, as admins see and change it: what is in force, what was allowed for good and what is proposed, with the
 * questions each has spared people; what would be decided, and why.
 */
export function adminPolicyRoutes(door: DoorContext): (app: Door) => Promise<void> {
  return async (app) => {
    app.addHook("preValidation", async (http) => parseBody(http));
    readingRoutes(app, door);
    tryingRoutes(app, door);
    replayRoute(app, door);
    suggestRoute(app, door);
    editRoutes(app, door);
    changingRoutes(app, door);
  };
}

const tags = ["administration"];

/** Mounts the routes that read the policy in force, the permanent permissions and the proposals. */
function readingRoutes(app: Door, door: DoorContext): void {
  const { ctx } = door;

  app.get(
    "/admin/policy",
    {
      schema: {
        tags,
        summary: "What is in force, allowed for good and proposed",
        response: { 200: jsonReply(WirePolicyReport), ...ADMIN_REFUSALS },
      },
    },
    async (http) => overview(door, http),
  );

  app.get(
    "/admin/policy/grants",
    {
      schema: {
        tags,
        summary: "What was allowed for good, the newest first",
        querystring: GrantList,
        response: { 200: jsonReply(WireGrantPage), ...LIST },
      },
    },
    async (http) => {
      await administrator(door, http);
      const { live, cursor } = http.query as z.output<typeof GrantList>;
      const which = live === undefined ? {} : { isLive: live === "true" };
      const { items, next } = await listGrants(ctx, { ...which, ...pageAfter(cursor, ID), limit: PAGE });
      return {
        grants: items.map((one) => printGrant(one, languageIn(http))),
        next: placeText(next),
      } satisfies WireGrantPage;
    },
  );

  app.get(
    "/admin/policy/proposals",
    {
      schema: {
        tags,
        summary: "Rules that were proposed, the newest first",
        querystring: ProposalList,
        response: { 200: jsonReply(WireProposalPage), ...LIST },
      },
    },
    async (http) => {
      await administrator(door, http);
      const { state, cursor } = http.query as z.output<typeof ProposalList>;
      const found = await listProposals(ctx, { state, ...pageAfter(cursor, ID), limit: PAGE });
      return { proposals: found.items.map(withDiff), next: placeText(found.next) } satisfies WireProposalPage;
    },
  );
}

/** Mounts the routes that test a decision and that read the policy file again. */
function tryingRoutes(app: Door, door: DoorContext): void {
  const { ctx, policy: file } = door;
  const preset = shippedPolicy();

  app.post(
    "/admin/policy/test",
    {
      config: { takesBody: true },
      schema: {
        tags,
        summary: "What would be decided, and what every rule has to say about it",
        body: PolicyTestBody,
        response: { 200: jsonReply(WirePolicyVerdict), 400: ErrorBody, ...ADMIN_REFUSALS },
      },
    },
    async (http) => {
      await administrator(door, http);
      const { meta, args, ...about } = http.body as PolicyTestBody;
      const { policy } = file.current();
      const isBlock = typeof meta === "object" && meta !== null && !Array.isArray(meta);
      const input = policyInput({
        ...about,
        ...(isBlock && { meta: meta as Record<string, unknown> }),
        ...(args && { args: () => canonicalExact(args) }),
      });
      const policyDecision = await judge(ctx.db, { policy }, input);
      const words = explainDecision(policy, input, policyDecision, preset);
      return { trace: { ...policyDecision.trace }, words: [...words] } satisfies WirePolicyVerdict;
    },
  );

  app.post(
    "/admin/policy/reload",
    {
      schema: {
        tags,
        summary: "Have every server read its policy file again",
        response: { 204: z.null(), ...ADMIN_REFUSALS },
      },
    },
    async (http, reply) => {
      await administrator(door, http);
      await reloadPolicy(ctx);
      return reply.code(204).send();
    },
  );
}

/** Deciding on proposals, and taking back what was learned or allowed for good. */
function changingRoutes(app: Door, door: DoorContext): void {
  const { ctx } = door;

  for (const [verb, summary, change] of [
    ["accept", "Put a proposed rule in force on every server", acceptProposal],
    ["dismiss", "Let a proposed rule be, for ever", dismissProposal],
  ] as const) {
    app.post<OneOf>(
      `/admin/policy/proposals/:id/${verb}`,
      { schema: { tags, summary, response: { 200: jsonReply(WireProposal), ...changes } } },
      async (http) => {
        const by = await administrator(door, http);
        return printProposal(await change(ctx, known(http.params.id), by));
      },
    );
  }

  app.delete<OneOf>(
    "/admin/policy/rules/:id",
    {
      schema: {
        tags,
        summary: "Take a learned rule out of force on every server",
        response: { 200: jsonReply(WireProposal), ...changes },
      },
    },
    async (http) => {
      const by = await administrator(door, http);
      return printProposal(await revokeLearnedRule(ctx, http.params.id, by));
    },
  );

  app.delete<OneOf>(
    "/admin/policy/grants/:id",
    {
      schema: {
        tags,
        summary: "End what was allowed for good",
        response: { 200: jsonReply(WireEndedGrant), ...ADMIN_REFUSALS, 404: ErrorBody },
      },
    },
    async (http) => {
      const by = await administrator(door, http);
      return printGrant(await revokeGrantOf(ctx, known(http.params.id), by), languageIn(http));
    },
  );
}

/** Prints a proposal, with the rule that it would put in force. */
function withDiff(proposal: Proposal): WireProposal {
  const isOpen = proposal.state === "open";
  return { ...printProposal(proposal), ...(isOpen && { diff: proposalDiff(proposal).join("\n") }) };
}

/** Returns the whole policy: its rules, and the first pages of what was allowed for good and proposed. */
async function overview(door: DoorContext, http: FastifyRequest): Promise<WirePolicyReport> {
  const { ctx, policy: file } = door;
  await administrator(door, http);
  const { policy, text } = file.current();
  const inUse = await readRulesInUse(ctx, policy);
  const { learned } = inUse;
  const [grants, proposals] = await Promise.all([
    listGrants(ctx, { limit: PAGE }),
    listProposals(ctx, { limit: PAGE }),
  ]);
  const idle = new Map(lintPolicy(policy).map(({ rule, says }) => [rule, says]));
  return {
    state: file.state(),
    problem: file.problem(),
    policy_version: policy.policyVersion,
    text,
    defaults: policy.defaults,
    rules: [...policy.rules, ...learned].map((rule) => ({
      rule: nameOf(rule),
      decision: rule.decision,
      about: aboutRule(rule, inUse),
      reason: rule.reason,
      to: rule.to,
      need: rule.need,
      standing: rule.isGrantable,
      ...usesOf(rule, inUse),
      learned: learned.includes(rule),
      idle: learned.includes(rule) ? null : (idle.get(rule.index) ?? null),
    })),
    grants: grants.items.map((one) => printGrant(one, languageIn(http))),
    grants_next: placeText(grants.next),
    proposals: proposals.items.map(withDiff),
    proposals_next: placeText(proposals.next),
  };
}

function known(id: string): string {
  if (!isId(id)) throw new Refusal("policy_entry_not_found");
  return id;
}

const languageIn = ({ headers }: FastifyRequest): Language => languageOf(headers["accept-language"]);

function printGrant(grant: KeptGrant & { isLive?: boolean }, language: Language): WireEndedGrant {
  const { id, action, resource, env, tool, repo, agent, pattern, ...more } = grant;
  return {
    id,
    action,
    resource,
    env,
    tool,
    repo,
    agent,
    by: more.madeBy,
    ask_id: more.approvalId,
    digest: more.digest ?? null,
    covers: pattern && patternSentence(pattern, language),
    created_at: timeText(more.createdAt),
    expires_at: timeText(more.expiresAt),
    revoked_at: more.revokedAt === null ? null : timeText(more.revokedAt),
    live: more.isLive,
    spared: more.uses,
  };
}

function printProposal({ id, state, rule, approvals, createdAt, decidedAt }: Proposal): WireProposal {
  return {
    id,
    state,
    rule: rule.id,
    approvals,
    created_at: timeText(createdAt),
    decided_at: decidedAt === null ? null : timeText(decidedAt),
  };
}
