import { localTime } from "../../lib/local-time.ts";
import { printable } from "../../lib/printable.ts";
import { nameOf, type Policy } from "../../policy/model/policy.ts";
import {
  aboutRule,
  proposalDiff,
  readBesidePolicy,
  readRulesInUse,
  type RulesInUse,
  usesOf,
} from "../../policy/list.ts";
import { revokeGrantOf } from "../../policy/grants.ts";
import { acceptProposal, dismissProposal, reloadPolicy, revokeLearnedRule } from "../../policy/proposals.ts";
import { COMMAND_LINE, type CommandContext, withStore } from "../command-store.ts";
import { patternSentence } from "../../requests/model/pattern-words.ts";
import { type Command, command, EXIT, type Io, JSON_FLAG, STORE_FLAGS } from "../command.ts";
import { lookAt } from "./policy.ts";
import { policyPath, readPolicy } from "./input.ts";
import { print, table, utcText } from "../print.ts";

const LEARNED = "learned-";

export const policyShow = command({
  takes: { ...JSON_FLAG, ...STORE_FLAGS },
  example: "parley policy show",
  async run({ json, ...place }, io) {
    const path = policyPath(place, io);
    return lookAt(io, async () => {
      const policy = await readPolicy(path);
      const beside = await withStore(place, io, async (ctx) => {
        return { ...(await readBesidePolicy(ctx)), ...(await readRulesInUse(ctx, policy)) };
      });
      if (json) return print(json, toWire(path, policy, beside), [], io);
      show(path, policy, beside, io);
      return EXIT.done;
    });
  },
});

export const policyReload = command({
  takes: STORE_FLAGS,
  example: "parley policy reload",
  run(place, io) {
    return lookAt(io, async () => {
      const { policyVersion } = await readPolicy(policyPath(place, io));
      await withStore(place, io, (ctx) => reloadPolicy(ctx));
      io.tell(`${policyVersion} is read again by every server within a second.`);
      return EXIT.done;
    });
  },
});

/** A command about one permission, learned rule or proposal, named by its id. */
function onId(example: string, act: (ctx: CommandContext, id: string, io: Io) => Promise<void>): Command {
  return command({
    takes: { ID: "", ...STORE_FLAGS },
    example,
    async run({ id, ...place }, io) {
      await withStore(place, io, (ctx) => act(ctx, id, io));
      return EXIT.done;
    },
  });
}

export const policyRevoke = onId("parley policy revoke grant_4Jx0mT9bVq2Lr7Hs1Zc8Wd", async (ctx, id, io) => {
  if (id.startsWith(LEARNED)) await revokeLearnedRule(ctx, id, COMMAND_LINE);
  else await revokeGrantOf(ctx, id, COMMAND_LINE);
  io.tell(`${printable(id)} allows nothing any more.`);
});

export const policyAccept = onId("parley policy accept proposal_4Jx0mT9bVq2Lr7Hs1Zc8Wd", async (ctx, id, io) => {
  const { rule } = await acceptProposal(ctx, id, COMMAND_LINE);
  io.out(rule.id);
  io.tell(`${rule.id} is in force on every server; parley policy revoke ${rule.id} takes it back.`);
});

export const policyDismiss = onId("parley policy dismiss proposal_4Jx0mT9bVq2Lr7Hs1Zc8Wd", async (ctx, id, io) => {
  await dismissProposal(ctx, id, COMMAND_LINE);
  io.tell(`${printable(id)} is dismissed.`);
});

type Beside = Awaited<ReturnType<typeof readBesidePolicy>> & RulesInUse;

function show(path: string, policy: Policy, beside: Beside, io: Io): void {
  const { grants, proposals, learned } = beside;
  io.tell(`${path}: version ${policy.policyVersion}`);
  const rules = [...policy.rules, ...learned].map((rule) => {
    const { spared, observed } = usesOf(rule, beside);
    const uses =
      observed === null ? [rule.decision, String(spared)] : [`would ${rule.decision}`, `observed ${observed}`];
    return [nameOf(rule), ...uses, printable(aboutRule(rule, beside))];
  });
  const defaults = Object.entries(policy.defaults).map(([name, decision]) => [`default ${name}`, decision, "-", "-"]);
  for (const line of table(["RULE", "DECISION", "SPARED", "ABOUT"], [...rules, ...defaults])) io.out(line);

  const live = grants.filter(({ isLive }) => isLive);
  if (live.length > 0) {
    const rows = live.map((one) => {
      const { action, resource, env, tool, repo, agent, digest } = one;
      const asked = { resource, env, tool, repo };
      const about = Object.entries({ action, ...(digest === undefined ? asked : { digest }), agent })
        .filter(([, value]) => value !== null)
        .map(([name, value]) => `${name} ${JSON.stringify(value)}`);
      const words = one.pattern ? patternSentence(one.pattern, "en") : printable(about.join(", "));
      return [one.id, one.madeBy, String(one.uses), localTime(one.expiresAt), words];
    });
    io.out("");
    for (const line of table(["ALLOWED", "BY", "SPARED", "UNTIL", "ABOUT"], rows)) io.out(line);
  }

  for (const proposal of proposals.filter(({ state }) => state === "open")) {
    io.out("");
    io.out(`${proposal.id} proposes, after ${proposal.approvals} approvals of the same:`);
    for (const line of proposalDiff(proposal)) io.out(printable(line));
  }
}

function toWire(path: string, policy: Policy, beside: Beside): object {
  const { grants, proposals, learned } = beside;
  return {
    file: path,
    policy_version: policy.policyVersion,
    defaults: policy.defaults,
    rules: [...policy.rules, ...learned].map((rule) => ({
      rule: nameOf(rule),
      decision: rule.decision,
      about: aboutRule(rule, beside),
      ...usesOf(rule, beside),
    })),
    grants: grants.map(({ id, action, resource, env, tool, repo, agent, digest = null, pattern, ...grant }) => ({
      id,
      action,
      resource,
      env,
      tool,
      repo,
      agent,
      digest,
      pattern,
      by: grant.madeBy,
      ask_id: grant.approvalId,
      created_at: utcText(grant.createdAt),
      expires_at: utcText(grant.expiresAt),
      revoked_at: utcText(grant.revokedAt),
      live: grant.isLive,
      spared: grant.uses,
    })),
    proposals: proposals.map((proposal) => ({
      id: proposal.id,
      state: proposal.state,
      rule: proposal.rule,
      approvals: proposal.approvals,
      created_at: utcText(proposal.createdAt),
      ...(proposal.state === "open" && { diff: proposalDiff(proposal).join("\n") }),
    })),
  };
}
