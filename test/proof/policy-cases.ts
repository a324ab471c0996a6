import { policyInputOfCall } from "../../src/requests/model/policy-call.ts";
import { policyInputOf } from "../../src/asks/model/policy-input.ts";
import { isDeepStrictEqual } from "node:util";
import { evaluate, policyClassOf, type PolicyInput } from "../../src/policy/model/policy.ts";
import { checkPolicy } from "../../src/policy/model/check.ts";
import { lintPolicy } from "../../src/policy/model/lint.ts";
import type { Ask } from "../../src/asks/model/ask.ts";
import { decide, ODD, type Decided, type RawAsk, type RawGrant, type RawPolicy, type RawRule } from "./policy-model.ts";
import { argumentsText, type RawArgument, type RawArguments } from "./policy-arguments.ts";
import { diceOf, type Dice } from "./sim-dice.ts";

/** The number of asks that are put to each random policy. */
export const ASKS_PER_POLICY = 20;

const TYPES = ["CLARIFICATION", "RESOURCE_FETCH", "POLICY_DECISION", "APPROVAL", "CHOICE"];
const DECISIONS = ["ALLOW", "DENY", "ESCALATE"];
/** Texts that are equal in some inputs and not in others, and stars that are not wildcards. */
const ACTIONS = [
  "write",
  "WRITE",
  " write ",
  "ｗｒｉｔｅ",
  "deploy",
  "read",
  "clarify",
  "unknown",
  "a*b",
  "ab",
  "a＊b",
];
const ENVS = ["prod", "Prod", "ｐｒｏｄ", "staging", "dev", "pro", ""];
const WORDS = ["", "a", "b", "ab", "aab", "abab", "é", "e\u0301", "A", "docs/a", "docs/a/b", "*", "＊", "null"];
const NAMES = ["ana-bot", "bo-bot"];
const FUNCTIONS = ["write", "Write", "deploy", "é", "e\u0301", "unknown", " "];
const DIGESTS = ["sha256:aa", "sha256:bb"];

/** A case that the engine decided differently. */
interface Difference {
  says: string;
}

/**
 * Makes the policy of a seed and puts asks to it, here and in the second implementation; then once more with the rules
 * in another order, where every decision has to be the same. Returns what differs, or null.
 */
export function differenceOf(seed: number): Difference | null {
  const dice = diceOf(seed);
  /** The share of rules and asks about function calls. */
  const callShare = dice.chance(0.3) ? 0.9 : 0.25;
  const raw = policyOf(dice, callShare);
  const policy = checkPolicy(raw);
  const shuffled = raw.rules && { ...raw, rules: dice.shuffle([...raw.rules]) };
  const other = shuffled && checkPolicy(shuffled);
  const idle = new Set(lintPolicy(policy).map(({ rule }) => rule));

  for (let i = 0; i < ASKS_PER_POLICY; i += 1) {
    const ask = askOf(dice, callShare);
    const input = inputOf(ask);
    const what = policyClassOf(input);
    const grants = dice.chance(0.4) && what ? [grantOf(dice), { ...what, id: "g_exact" }] : [grantOf(dice)];
    const policyDecision = evaluate(policy, grants, input);
    const { countedAs } = policyDecision;
    const said: Decided = {
      decision: policyDecision.decision,
      matched: [...policyDecision.trace.matched],
      observed: [...(policyDecision.trace.observed ?? [])],
      defaulted: policyDecision.trace.defaulted,
      grant: policyDecision.trace.grant ?? null,
      rule: policyDecision.trace.rule_index,
      reason: policyDecision.trace.reason,
      to: policyDecision.to,
      need: policyDecision.need,
      uses: countedAs && "spending" in countedAs ? countedAs.spending?.amount : undefined,
      input: { action: plain(input.action), resource: plain(input.resource), env: plain(input.env) },
      claimed: { ...input.claimed },
    };
    const expected = decide(raw, grants.map(plainGrant), ask);
    const put = () => `policy ${JSON.stringify(raw)}, ask ${JSON.stringify(ask)}, grants ${JSON.stringify(grants)}`;
    if (!isDeepStrictEqual(said, expected))
      return { says: `said ${JSON.stringify(said)}, expected ${JSON.stringify(expected)}: ${put()}` };
    if (policyDecision.matchedRule === policyDecision.trace.defaulted)
      return { says: `a default is no rule: ${put()}` };
    // A value that cannot be compared makes a DENY hold in spite of an exception that takes all it is about.
    if (said.rule !== undefined && idle.has(said.rule) && !hasOdd(ask))
      return { says: `rules[${said.rule}] won, which lint says can never win: ${put()}` };
    if (!other) continue;
    const again = evaluate(other, grants, input);
    if (
      again.decision !== policyDecision.decision ||
      again.need !== policyDecision.need ||
      again.trace.grant !== policyDecision.trace.grant
    )
      return { says: `${again.decision} in another order of rules, and ${policyDecision.decision} before: ${put()}` };
  }
  return null;
}

function inputOf(ask: RawAsk): PolicyInput {
  if (!ask.call) return policyInputOf(relayAskOf(ask), ask.job, ask.tool === undefined ? {} : { tool: ask.tool });
  const form = {
    kind: "approval" as const,
    fn: ask.call.fn,
    kwargs: argumentsText(ask.call.args),
    rejectOptions: [],
    editable: false,
  };
  return policyInputOfCall({ asker: ask.principal, digest: ask.call.digest, form, wire: { run_id: ask.call.run } });
}

/** Whether an ask says something that no rule can hold, as arguments may. */
const hasOdd = ({ meta, call }: RawAsk): boolean =>
  call !== undefined || Object.values(meta).some((value) => typeof value === "object" || value === 1.5);

const plain = (value: PolicyInput["action"]): string => (typeof value === "string" ? value : ODD);

function plainGrant({ id, action, resource, env, tool, repo, agent, digest }: RawGrant): RawGrant {
  return { id, action, resource, env, tool, repo, agent, ...(digest !== undefined && { digest }) };
}

function policyOf(dice: Dice, callShare: number): RawPolicy {
  const rules = Array.from({ length: dice.int(7) }, (_, index) => ({
    ...(dice.chance(callShare) ? callRuleOf(dice, index) : ruleOf(dice, index)),
    ...(dice.chance(0.2) && { mode: "observe" }),
  }));
  return {
    version: dice.between(1, 9),
    ...(dice.chance(0.4) && {
      defaults: {
        ...(dice.chance(0.7) && { read: dice.pick(DECISIONS) }),
        ...(dice.chance(0.7) && { other: dice.pick(["DENY", "ESCALATE"]) }),
      },
    }),
    ...((rules.length > 0 || dice.chance(0.5)) && { rules }),
  };
}

/** A rule about function calls. */
function callRuleOf(dice: Dice, index: number): RawRule {
  const decision = dice.pick(DECISIONS);
  const block = (fn: boolean): Record<string, unknown> => ({
    ...(fn && {
      fn: dice.pick(["write", "Write", "e*", "é", "*o*", "*e", ["deploy", "w*"], ["w*", "W*", "d*", "é", "u*"]]),
    }),
    ...((!fn || dice.chance(0.3)) && { agent: wantedOf(dice, "agent") }),
    ...(dice.chance(0.4) && { args: argumentBlockOf(dice) }),
    ...(dice.chance(0.4) && { path: pathsWantedOf(dice) }),
  });
  return {
    id: `rule-${index}`,
    when: block(true),
    decision,
    ...(dice.chance(0.3) && { unless: block(dice.chance(0.5)) }),
    ...(dice.chance(0.3) && { reason: `reason ${index}` }),
    ...(decision === "ESCALATE" && dice.chance(0.4) && { standing: dice.chance(0.3) }),
    ...(decision === "ALLOW" && dice.chance(0.5) && { most: mostOf(dice) }),
  };
}

function mostOf(dice: Dice): Record<string, unknown> {
  const isSum = dice.chance(0.6);
  return {
    per: dice.pick(["hour", "day", "run"]),
    ...(isSum && { "/amount": dice.pick([500, "0.000001"]) }),
    ...((!isSum || dice.chance(0.5)) && { calls: 20 }),
  };
}

const FOLDER = "/home/kim";
const FILE_NAMES = ["src", "Src", "a", "ab", ".e", "é", "e\u0301", "..", "a$b"];
const PATTERN_NAMES = ["src", "a*", "*", "*b", ".e", "é", "**", "**"];

function pathsWantedOf(dice: Dice): string | string[] {
  const one = (): string => Array.from({ length: dice.between(1, 2) }, () => dice.pick(PATTERN_NAMES)).join("/");
  return dice.chance(0.6) ? one() : [one(), one()];
}

function pathOf(dice: Dice): string {
  const names = Array.from({ length: dice.between(1, 2) }, () => dice.pick(FILE_NAMES)).join("/");
  return `${dice.pick(["", "", "", `${FOLDER}/`, `${FOLDER}/./`, "/", "/home/kimono/", "~/"])}${names}`;
}

const ARGUMENTS = ["amount", "to"];
const NUMBERS = ["100", "1e2", "100.0", "99.5", "100.00000000000000001", "9007199254740993", "-3", "0"];
const ADDRESSES = ["a@b", "aa@b", "c@d, a@b", "b"];

function argumentsOf(dice: Dice): RawArguments {
  const one = (): RawArgument =>
    dice.pick<() => RawArgument>([
      () => ({ number: dice.pick(NUMBERS) }),
      () => dice.pick(ADDRESSES),
      () => dice.pick(WORDS),
      () => dice.pick([true, false, null]),
      () => dice.pick([["a"], ["a", "b"]]),
    ])();
  return {
    ...Object.fromEntries(ARGUMENTS.filter(() => dice.chance(0.8)).map((name) => [name, one()])),
    ...(dice.chance(0.5) && { file_path: dice.chance(0.9) ? pathOf(dice) : one() }),
    ...(dice.chance(0.2) && { path: pathOf(dice) }),
    ...(dice.chance(0.8) && { cwd: FOLDER }),
  };
}

function argumentBlockOf(dice: Dice): Record<string, unknown> {
  const scalar = (): unknown => dice.pick([100, 99.5, -3, true, null, "a", "a@b", "é"]);
  const pattern = (): string => dice.pick(["a*", "*@b", "*a*", "*", "a@*", "e\u0301*"]);
  const tests: readonly (() => unknown)[] = [
    () => dice.pick([scalar, pattern])(),
    () => [scalar(), pattern()],
    () => ({ equals: dice.pick([scalar, pattern])() }),
    () => ({ one_of: [scalar(), pattern()] }),
    () => ({ glob: pattern() }),
    () => ({ min: dice.pick([100, 99.5, "9007199254740993"]) }),
    () => ({ max: dice.pick([100, 0, "100.00000000000000001"]), exists: true }),
    () => ({ length: dice.pick([1, 2, 3]) }),
    () => ({ exists: dice.chance(0.5) }),
  ];
  const names = ARGUMENTS.filter(() => dice.chance(0.6));
  return Object.fromEntries((names.length > 0 ? names : ["amount"]).map((name) => [`/${name}`, dice.pick(tests)()]));
}

function ruleOf(dice: Dice, index: number): RawRule {
  const decision = dice.pick(DECISIONS);
  return {
    ...(dice.chance(0.5) && { id: `rule-${index}` }),
    when: { ...blockOf(dice), ...(dice.chance(0.2) && { path: pathsWantedOf(dice) }) },
    ...(dice.chance(0.3) && { unless: blockOf(dice) }),
    decision,
    ...(dice.chance(0.3) && { reason: `reason ${index}` }),
    ...(decision === "ESCALATE" && {
      ...(dice.chance(0.4) && { to: dice.pick(["release-team", "dana"]) }),
      ...(dice.chance(0.4) && { need: dice.between(1, 3) }),
      ...(dice.chance(0.4) && { standing: dice.chance(0.3) }),
    }),
  };
}

const BLOCK_NAMES = [
  "action",
  "env",
  "resource",
  "ask_type",
  "role",
  "tool",
  "agent",
  "repo",
  "job",
  "meta.k",
  "meta.n",
];

function blockOf(dice: Dice): Record<string, unknown> {
  const names = dice.shuffle([...BLOCK_NAMES]).slice(0, dice.chance(0.6) ? 1 : dice.between(2, 3));
  // Rules name `action` and `env` more often, as cases do, so that many rules match.
  if (dice.chance(0.6)) names.push(dice.pick(["action", "env"]));
  return Object.fromEntries(
    [...new Set(names)].map((name) => {
      if (dice.chance(0.7)) return [name, wantedOf(dice, name)];
      return [name, Array.from({ length: dice.between(1, 3) }, () => wantedOf(dice, name))];
    }),
  );
}

function wantedOf(dice: Dice, name: string): unknown {
  switch (name) {
    case "action":
      return starred(dice, dice.pick(ACTIONS));
    case "env":
      return starred(dice, dice.pick(ENVS.slice(0, -1)));
    case "ask_type":
      return dice.pick([...TYPES, "*", "C*"]);
    case "agent":
      return dice.pick([...NAMES, "*-bot", "open:*"]);
    case "job":
      return dice.pick(["J-1", "J-*"]);
    case "meta.n":
      return dice.pick([3, true, "3", "true", null, "*"]);
    case "resource":
      return starred(dice, dice.pick(WORDS));
    default:
      return dice.chance(0.2) ? null : starred(dice, dice.pick(WORDS.filter((word) => word !== "")));
  }
}

/** Puts stars into a text, or takes some of it away for one. */
function starred(dice: Dice, text: string): string {
  if (dice.chance(0.5)) return text;
  const at = dice.int(text.length + 1);
  const to = at + dice.int(text.length - at + 1);
  const one = `${text.slice(0, at)}*${text.slice(to)}`;
  // Texts between two stars, too, some of which are also at the end.
  return dice.chance(0.4) ? `${dice.pick(["", "a", "*"])}${dice.pick(["", "a", "b"])}*${one}` : one;
}

function askOf(dice: Dice, callShare: number): RawAsk {
  const some = <T>(p: number, make: () => T) => (dice.chance(p) ? make() : undefined);
  const odd = (list: readonly string[]): unknown =>
    dice.chance(0.05) ? dice.pick([7, false, null, 1.5, ["x"], { x: 1 }]) : dice.pick(list);
  const meta: Record<string, unknown> = {};
  if (dice.chance(0.7)) meta["action"] = odd(ACTIONS);
  if (dice.chance(0.7)) meta["resource"] = dice.chance(0.3) ? pathOf(dice) : odd(WORDS);
  if (dice.chance(0.6)) meta["env"] = odd(ENVS);
  if (dice.chance(0.5)) meta["k"] = odd(WORDS);
  if (dice.chance(0.5)) meta["n"] = dice.pick([3, true, "3", "true", 4, false, 1.5, [true]]);
  const tool = some(0.3, () => dice.pick(WORDS.slice(1)));
  const envProfile = some(0.4, () => dice.pick(ENVS));
  const snapshotRepo = some(0.4, () => dice.pick(WORDS.slice(1)));
  return {
    type: dice.pick(TYPES),
    meta,
    ...(envProfile !== undefined && { envProfile }),
    ...(snapshotRepo !== undefined && { snapshotRepo }),
    roleId: dice.chance(0.6) ? null : dice.pick(["a", "b", "ab"]),
    principal: `${dice.pick(["agent", "executor", "open"])}:${dice.pick(NAMES)}`,
    ...(tool !== undefined && { tool: tool.normalize("NFC") }),
    job: {
      id: dice.pick(["J-1", "J-2", "K-1"]),
      env: dice.chance(0.5) ? null : dice.pick(ENVS.slice(0, -1)),
      repo: dice.chance(0.5) ? null : dice.pick(WORDS.slice(1)),
    },
    ...(dice.chance(callShare) && {
      call: {
        fn: dice.pick(FUNCTIONS),
        digest: dice.pick(DIGESTS),
        args: argumentsOf(dice),
        ...(dice.chance(0.5) && { run: "r-1" }),
      },
    }),
  };
}

function grantOf(dice: Dice): RawGrant {
  if (dice.chance(0.25)) {
    const call = { resource: "", env: "dev", tool: null, repo: null, digest: dice.pick(DIGESTS) };
    return { id: "g_other", action: dice.pick(["write", "deploy"]), agent: dice.pick(NAMES), ...call };
  }
  return {
    id: "g_other",
    action: dice.pick(["write", "deploy", "read"]),
    resource: dice.pick(["", "a", "b"]),
    env: dice.pick(["prod", "dev"]),
    tool: dice.chance(0.8) ? null : "a",
    repo: dice.chance(0.8) ? null : "a",
    agent: dice.pick(NAMES),
  };
}

function relayAskOf(ask: RawAsk): Pick<Ask, "type" | "roleId" | "meta" | "envelope" | "principal"> {
  const { envProfile, snapshotRepo } = ask;
  const snapshot = {
    ...(envProfile !== undefined && { env_profile: envProfile }),
    ...(snapshotRepo !== undefined && { repo: snapshotRepo }),
  };
  const hasEnvelope = Object.keys(snapshot).length > 0;
  return {
    type: ask.type as Ask["type"],
    roleId: ask.roleId,
    meta: ask.meta,
    principal: ask.principal,
    envelope: hasEnvelope ? { job_snapshot: snapshot, role: "default" } : null,
  };
}
