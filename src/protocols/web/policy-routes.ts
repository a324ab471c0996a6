import { z } from "zod";
import { evaluate, nameOf, policyInput } from "../../model/policy.ts";
import { conditionsText, explainVerdict } from "../../model/policy-explain.ts";
import { lintPolicy } from "../../model/policy-lint.ts";
import { ASK_TYPES } from "../../model/relay.ts";
import { listPolicy, type KeptGrant, type Proposal, proposalDiff } from "../../verbs/list-policy.ts";
import { readGrants, revokeStanding } from "../../verbs/policy-grants.ts";
import { acceptProposal, dismissProposal, reloadPolicy, revokeLearnedRule } from "../../verbs/policy-proposals.ts";
import { shippedPolicy } from "../../verbs/shipped-policy.ts";
import { Refusal } from "../../refusals.ts";
import type { Door, DoorContext } from "../door.ts";
import { parseBody } from "../door-body.ts";
import { fields, laterField, optional, textField, wordField } from "../door-fields.ts";
import { isId } from "../door-ids.ts";
import { administrator } from "../door-principals.ts";
import { ADMIN_REFUSALS, timeText } from "./admin-routes.ts";

const said = (name: string) => optional(textField(name, 0, 512));
const Question = fields({
  ...{ action: said("action"), resource: said("resource"), env: said("env"), tool: said("tool") },
  ...{ repo: said("repo"), agent: said("agent"), role: said("role"), job: said("job"), fn: said("fn") },
  digest: optional(textField("digest", 0, 100, { description: "Of a function call: what would be approved." })),
  ask_type: optional(wordField("ask_type", ASK_TYPES)),
  meta: laterField({ type: "object", description: "What the asker sends along." }),
});

const Refused = z.object({ error: z.object({ code: z.string(), message: z.string() }) });
const Decision = z.enum(["ALLOW", "DENY", "ESCALATE"]);
const about = { action: z.string(), resource: z.string(), env: z.string() };
const orNull = z.string().nullable();
const Grant = z.object({
  ...{ id: z.string(), ...about, tool: orNull, repo: orNull, agent: orNull, by: z.string(), ask_id: z.string() },
  digest: orNull.meta({ description: "Of a function call: exactly what is allowed; what executors ask has none." }),
  ...{ created_at: z.string(), expires_at: z.string(), revoked_at: orNull, live: z.boolean().optional() },
  spared: z.number().int().meta({ description: "Questions it has spared people." }),
});
const ProposalOut = z.object({
  ...{ id: z.string(), state: z.enum(["open", "accepted", "dismissed", "revoked"]), rule: z.string() },
  ...{ approvals: z.number().int(), created_at: z.string(), decided_at: orNull },
  diff: z.string().optional().meta({ description: "How the file would change; of an open one." }),
});
const Overview = z.object({
  state: z.enum(["ok", "stale", "missing"]).meta({ description: "Whether the file is in force as it stands." }),
  ...{ problem: orNull, policy_version: z.string(), text: orNull },
  defaults: z.object({ read: Decision, other: Decision }),
  rules: z.array(
    z.object({
      ...{ rule: z.string(), decision: Decision, about: z.string(), reason: orNull, to: orNull },
      ...{ need: z.number().int(), standing: z.boolean(), spared: z.number().int(), learned: z.boolean() },
      idle: orNull.meta({ description: "Why it can never win, where that is certain." }),
    }),
  ),
  grants: z.array(Grant),
  proposals: z.array(ProposalOut),
});
const Said = z.object({ trace: z.looseObject({ decision: Decision }), words: z.array(z.string()) });
const changes = { ...ADMIN_REFUSALS, 404: Refused, 409: Refused } as const;

interface OneOf {
  Params: { id: string };
}

/**
 * The policy, as admins see and change it: what is in force, what was allowed for good and what is proposed, with the
 * questions each has spared people; what would be decided, and why.
 */
export function policyRoutes(door: DoorContext): (app: Door) => Promise<void> {
  const { ctx, policy: file } = door;
  const preset = shippedPolicy();
  const tags = ["administration"];

  return async (app) => {
    app.addHook("preValidation", async (request) => parseBody(request));

    app.get(
      "/admin/policy",
      {
        schema: {
          tags,
          summary: "What is in force, allowed for good and proposed",
          response: { 200: Overview, ...ADMIN_REFUSALS },
        },
      },
      async (request) => {
        await administrator(door, request);
        const { policy, text } = file.current();
        const { grants, proposals, savings } = await listPolicy(ctx);
        const spared = new Map(savings.map(({ rule, saved }) => [rule, saved]));
        const learned = new Set(proposals.filter(({ state }) => state === "accepted").map(({ rule }) => rule.id));
        const idle = new Map(lintPolicy(policy).map(({ rule, says }) => [rule, says]));
        return {
          ...{ state: file.state(), problem: file.problem(), policy_version: policy.policyVersion, text },
          defaults: policy.defaults,
          rules: policy.rules.map((rule) => ({
            ...{ rule: nameOf(rule), decision: rule.decision, about: conditionsText(rule), reason: rule.reason },
            ...{ to: rule.to, need: rule.need, standing: rule.standing, spared: spared.get(rule.key) ?? 0 },
            ...{ learned: rule.id !== null && learned.has(rule.id), idle: idle.get(rule.index) ?? null },
          })),
          grants: grants.map(printGrant),
          proposals: proposals.map((proposal) => ({
            ...printProposal(proposal),
            ...(proposal.state === "open" && text !== null && { diff: proposalDiff(text, proposal).join("\n") }),
          })),
        };
      },
    );

    app.post(
      "/admin/policy/test",
      {
        config: { takesBody: true },
        schema: {
          ...{ tags, summary: "What would be decided, and what every rule has to say about it", body: Question },
          response: { 200: Said, 400: Refused, ...ADMIN_REFUSALS },
        },
      },
      async (request) => {
        await administrator(door, request);
        const { meta, ...words } = request.body as z.output<typeof Question>;
        const { policy } = file.current();
        const isBlock = typeof meta === "object" && meta !== null && !Array.isArray(meta);
        const input = policyInput({ ...words, ...(isBlock && { meta: meta as Record<string, unknown> }) });
        const verdict = evaluate(policy, await readGrants(ctx.db, input), input);
        return { trace: { ...verdict.trace }, words: explainVerdict(policy, input, verdict, preset) };
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
      async (request, reply) => {
        await administrator(door, request);
        await reloadPolicy(ctx);
        return reply.code(204).send();
      },
    );

    for (const [verb, summary, change] of [
      ["accept", "Write a proposed rule into the policy file", acceptProposal],
      ["dismiss", "Let a proposed rule be, for ever", dismissProposal],
    ] as const) {
      app.post<OneOf>(
        `/admin/policy/proposals/:id/${verb}`,
        { schema: { tags, summary, response: { 200: ProposalOut, ...changes } } },
        async (request) => {
          const by = await administrator(door, request);
          return printProposal(await change(ctx, known(request.params.id), by, file));
        },
      );
    }

    app.delete<OneOf>(
      "/admin/policy/rules/:id",
      {
        schema: {
          tags,
          summary: "Take a learned rule out of the policy file",
          response: { 200: ProposalOut, ...changes },
        },
      },
      async (request) => {
        const by = await administrator(door, request);
        return printProposal(await revokeLearnedRule(ctx, request.params.id, by, file));
      },
    );

    app.delete<OneOf>(
      "/admin/policy/grants/:id",
      {
        schema: {
          tags,
          summary: "End what was allowed for good",
          response: { 200: Grant, ...ADMIN_REFUSALS, 404: Refused },
        },
      },
      async (request) => {
        const by = await administrator(door, request);
        return printGrant(await revokeStanding(ctx, known(request.params.id), by));
      },
    );
  };
}

function known(id: string): string {
  if (!isId(id)) throw new Refusal("policy_entry_not_found");
  return id;
}

function printGrant({ id, action, resource, env, tool, repo, agent, ...more }: KeptGrant & { isLive?: boolean }) {
  return {
    ...{ id, action, resource, env, tool, repo, agent, by: more.madeBy, ask_id: more.askId },
    digest: more.digest ?? null,
    ...{ created_at: timeText(more.createdAt), expires_at: timeText(more.expiresAt) },
    revoked_at: more.revokedAt === null ? null : timeText(more.revokedAt),
    ...(more.isLive !== undefined && { live: more.isLive }),
    spared: more.uses,
  };
}

function printProposal({ id, state, rule, approvals, createdAt, decidedAt }: Proposal) {
  return {
    ...{ id, state, rule: rule.id, approvals, created_at: timeText(createdAt) },
    decided_at: decidedAt === null ? null : timeText(decidedAt),
  };
}
