import { parseArgs } from "node:util";
import { localTime } from "../../lib/local-time.ts";
import { printable, printableJson } from "../../lib/printable.ts";
import { nameOf, type Policy } from "../../policy/model/policy.ts";
import { conditionsText } from "../../policy/model/explain.ts";
import { proposalDiff, readBesidePolicy, readRulesInUse, type RulesInUse } from "../../policy/list.ts";
import { revokeGrantOf } from "../../policy/grants.ts";
import { acceptProposal, dismissProposal, reloadPolicy, revokeLearnedRule } from "../../policy/proposals.ts";
import { COMMAND_LINE, STORE_OPTIONS, withStore } from "../command-store.ts";
import { type Command, EXIT, type Io, onlyArgument, STORE_FLAGS } from "../command.ts";
import { lookAt } from "./policy.ts";
import { policyPath, readPolicy } from "./input.ts";
import { table } from "../table.ts";

const LEARNED = "learned-";

export const policyShow: Command = {
  usage: "[--json]",
  flags: { "--json": "print JSON", ...STORE_FLAGS },
  example: "parley policy show",
  async run(argv, io) {
    const { values } = parseArgs({ args: [...argv], options: { ...STORE_OPTIONS, json: { type: "boolean" } } });
    const path = policyPath(values, io);
    return lookAt(io, async () => {
      const policy = readPolicy(path);
      const beside = await withStore(values, io, async (ctx) => {
        return { ...(await readBesidePolicy(ctx)), ...(await readRulesInUse(ctx, policy)) };
      });
      if (values.json) io.out(printableJson(JSON.stringify(toWire(path, policy, beside))));
      else show(path, policy, beside, io);
      return EXIT.done;
    });
  },
};

export const policyReload: Command = {
  usage: "",
  flags: { ...STORE_FLAGS },
  example: "parley policy reload",
  async run(argv, io) {
    const { values } = parseArgs({ args: [...argv], options: STORE_OPTIONS });
    return lookAt(io, async () => {
      const { policyVersion } = readPolicy(policyPath(values, io));
      await withStore(values, io, (ctx) => reloadPolicy(ctx));
      io.tell(`${policyVersion} is read again by every server within a second.`);
      return EXIT.done;
    });
  },
};

export const policyRevoke: Command = {
  usage: "ID",
  flags: { ...STORE_FLAGS },
  example: "parley policy revoke grant_4Jx0mT9bVq2Lr7Hs1Zc8Wd",
  async run(argv, io) {
    const { values, positionals } = parseArgs({ args: [...argv], allowPositionals: true, options: STORE_OPTIONS });
    const id = onlyArgument(positionals, "ID");
    return lookAt(io, async () => {
      await withStore(values, io, async (ctx) => {
        if (id.startsWith(LEARNED)) await revokeLearnedRule(ctx, id, COMMAND_LINE);
        else await revokeGrantOf(ctx, id, COMMAND_LINE);
      });
      io.tell(`${printable(id)} allows nothing any more.`);
      return EXIT.done;
    });
  },
};

export const policyAccept: Command = {
  usage: "ID",
  flags: { ...STORE_FLAGS },
  example: "parley policy accept proposal_4Jx0mT9bVq2Lr7Hs1Zc8Wd",
  async run(argv, io) {
    const { values, positionals } = parseArgs({ args: [...argv], allowPositionals: true, options: STORE_OPTIONS });
    const id = onlyArgument(positionals, "ID");
    return lookAt(io, async () => {
      const { rule } = await withStore(values, io, (ctx) => acceptProposal(ctx, id, COMMAND_LINE));
      io.out(rule.id);
      io.tell(`${rule.id} is in force on every server; parley policy revoke ${rule.id} takes it back.`);
      return EXIT.done;
    });
  },
};

export const policyDismiss: Command = {
  usage: "ID",
  flags: { ...STORE_FLAGS },
  example: "parley policy dismiss proposal_4Jx0mT9bVq2Lr7Hs1Zc8Wd",
  async run(argv, io) {
    const { values, positionals } = parseArgs({ args: [...argv], allowPositionals: true, options: STORE_OPTIONS });
    const id = onlyArgument(positionals, "ID");
    await withStore(values, io, (ctx) => dismissProposal(ctx, id, COMMAND_LINE));
    io.tell(`${printable(id)} is dismissed.`);
    return EXIT.done;
  },
};

type Beside = Awaited<ReturnType<typeof readBesidePolicy>> & RulesInUse;

function show(path: string, policy: Policy, { grants, proposals, spared, learned }: Beside, io: Io): void {
  io.tell(`${path}: version ${policy.policyVersion}`);
  const rules = [...policy.rules, ...learned].map((rule) => {
    return [nameOf(rule), rule.decision, String(spared.get(rule.key) ?? 0), printable(conditionsText(rule))];
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
      return [one.id, one.madeBy, String(one.uses), localTime(one.expiresAt), printable(about.join(", "))];
    });
    io.out("");
    for (const line of table(["ALLOWED FOR GOOD", "BY", "SPARED", "UNTIL", "ABOUT"], rows)) io.out(line);
  }

  for (const proposal of proposals.filter(({ state }) => state === "open")) {
    io.out("");
    io.out(`${proposal.id} proposes, after ${proposal.approvals} approvals of the same:`);
    for (const line of proposalDiff(proposal)) io.out(printable(line));
  }
}

function toWire(path: string, policy: Policy, { grants, proposals, spared, learned }: Beside): object {
  return {
    file: path,
    policy_version: policy.policyVersion,
    defaults: policy.defaults,
    rules: [...policy.rules, ...learned].map((rule) => ({
      rule: nameOf(rule),
      decision: rule.decision,
      about: conditionsText(rule),
      spared: spared.get(rule.key) ?? 0,
    })),
    grants: grants.map(({ id, action, resource, env, tool, repo, agent, digest = null, ...grant }) => ({
      id,
      action,
      resource,
      env,
      tool,
      repo,
      agent,
      digest,
      by: grant.madeBy,
      ask_id: grant.approvalId,
      created_at: timeText(grant.createdAt),
      expires_at: timeText(grant.expiresAt),
      revoked_at: grant.revokedAt === null ? null : timeText(grant.revokedAt),
      live: grant.isLive,
      spared: grant.uses,
    })),
    proposals: proposals.map((proposal) => ({
      id: proposal.id,
      state: proposal.state,
      rule: proposal.rule,
      approvals: proposal.approvals,
      created_at: timeText(proposal.createdAt),
      ...(proposal.state === "open" && { diff: proposalDiff(proposal).join("\n") }),
    })),
  };
}

const timeText = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, "Z");
