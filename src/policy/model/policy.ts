import type { AskType } from "../../core/model/ask-type.ts";
import { type Allowance, type Spending, spendingOf } from "./allowance.ts";
import { type Truth, judgeArgument } from "./argument-conditions.ts";
import { CallArguments } from "./call-arguments.ts";
import { coversCommand, judgeCommand, lineIn } from "./command-condition.ts";
import { type CalledPaths, judgePaths, pathsOf } from "./path-condition.ts";
import {
  fits,
  type InputCondition,
  normalised,
  NOT_COMPARABLE,
  type PolicyInputName,
  type PolicyValue,
} from "./match.ts";
import { isOnCall, type PolicyCondition } from "./conditions.ts";
import type { PolicyTrace } from "./trace.ts";

export type PolicyEffect = PolicyTrace["decision"];

/** The risks that a rule can give function calls, the lowest first (spec/security 4.9). */
export const RULED_RISKS = ["low", "normal", "high"] as const;
export type RuledRisk = (typeof RULED_RISKS)[number];

/** One rule of the file, ready to be compared. */
export interface PolicyRule {
  /** Where it stands in the file, from 0. */
  index: number;
  id: string | null;
  /** The key under which its uses are counted: its id, or a digest of its content. */
  key: string;
  when: readonly PolicyCondition[];
  /** Where these all hold the rule does not; empty for a rule without exception. */
  unless: readonly PolicyCondition[];
  decision: PolicyEffect;
  reason: string | null;
  /** The addressee of an ESCALATE; null for the default addressee. */
  to: string | null;
  /** How many must approve. */
  need: number;
  /** Whether people may allow for good what this rule puts to them. */
  isGrantable: boolean;
  /** How risky the function calls that it matches are; null leaves that to their facts. */
  risk: RuledRisk | null;
  /** How much it allows within a period; null for any number of calls. */
  most: Allowance | null;
  /** Whether it only counts and names what it matches, by `mode: observe`. */
  isObserved: boolean;
}

/** The rules for what is allowed, denied and put to people (spec/relay 8). */
export interface Policy {
  /** The name of the file. */
  name: string;
  version: number;
  /** `1:227da1dce09c`: the version and the beginning of the digest of everything the file says. */
  policyVersion: string;
  defaults: { read: PolicyEffect; other: Exclude<PolicyEffect, "ALLOW"> };
  rules: readonly PolicyRule[];
  /** The operator's sentences of calls, by function (spec/security 4). */
  says?: ReadonlyMap<string, string>;
  /** The operator's limits of money, by currency, in its main unit (spec/security 4.9). */
  limits?: Readonly<Record<string, number>>;
}

/** The inputs of a policy, as they are compared; a missing input is null. */
export interface PolicyInput extends Record<PolicyInputName, PolicyValue> {
  action: Exclude<PolicyValue, null>;
  resource: Exclude<PolicyValue, null>;
  env: Exclude<PolicyValue, null>;
  meta: ReadonlyMap<string, Exclude<PolicyValue, null>>;
  /** The digest of the exact call that would be approved; only for function calls. */
  digest?: string;
  /** The arguments of the call; absent where none are known. */
  args?: CallArguments;
  /** The run of the agent that makes the call, as it names it. */
  run?: string;
  /** The values that the ask claimed and the job's registered values overruled. */
  claimed: Readonly<Record<string, string>>;
}

/** The same kind of thing, done by the same agent: what a person can allow for good. */
export interface PolicyClass {
  action: string;
  resource: string;
  env: string;
  tool: string | null;
  repo: string | null;
  agent: string | null;
  /** The digest of a function call, which is allowed for good with exactly these arguments only. */
  digest?: string;
}

/** A permission in the store for one class of calls: a person's decision, for a time, or a learned rule. */
export interface Grant extends PolicyClass {
  id: string;
  /** The rule covers what it certainly allows, in one run; left out, the grant covers one class. */
  pattern?: { rule: PolicyRule; run?: string };
  /**
   * The learned rule that the grant stands for. A revoked one allows nothing, nor does the rule of that id in a policy
   * file.
   */
  learned?: { rule: string; reason: string; isRevoked: boolean };
}

/** The policy's decision on an ask. */
export interface PolicyDecision {
  decision: PolicyEffect;
  trace: PolicyTrace;
  /** A rule or a permanent permission decided, not a default: only then does an ALLOW approve. */
  matchedRule: boolean;
  /** The rules that matched, by id, or by place where they have none. */
  rules: readonly string[];
  /** The key under which the deciding rule or grant is counted; null for a default. */
  countedAs: { rule: string; proposal?: string; spending?: Spending } | { grant: string } | null;
  /** The matching rules in mode `observe`, which decide nothing, and the version of their policy. */
  observed?: { rules: readonly PolicyRule[]; policyVersion: string };
  /** The addressee of an ESCALATE, and how many people must approve. */
  to?: string;
  need?: number;
  /** Whether a person may allow for good what is put to them here. */
  isGrantable: boolean;
  /** The highest risk that the matching rules give a function call, and the rule that gives it. */
  risk?: { kind: RuledRisk; rule: string };
  /** One sentence or clause that says why. */
  because: string;
}

/** The action of an ask that names no action. */
const ACTION_OF: Readonly<Record<AskType, string>> = {
  CLARIFICATION: "clarify",
  CHOICE: "choose",
  RESOURCE_FETCH: "read",
  POLICY_DECISION: "unknown",
  APPROVAL: "unknown",
};
const NO_ACTION = "unknown";
const READS: ReadonlySet<string> = new Set(["clarify", "choose", "read"]);

/** The inputs of a policy as somebody sent them. */
export type PolicyWords = Partial<Record<PolicyInputName, unknown>> & {
  meta?: Readonly<Record<string, unknown>>;
  digest?: string | undefined;
  run?: string | undefined;
  /** Returns the arguments of the call as JSON. */
  args?: (() => string) | undefined;
};

/** Returns the inputs as they are compared. An undefined value and JSON's null are missing. */
export function policyInput(words: PolicyWords, claimed: Readonly<Record<string, string>> = {}): PolicyInput {
  const read = (name: PolicyInputName): PolicyValue => {
    const value = comparable(words[name]);
    return typeof value === "string" ? normalised(name, value) : value;
  };
  const askType = read("ask_type");
  const isType = typeof askType === "string" && Object.hasOwn(ACTION_OF, askType);
  const byType = isType ? ACTION_OF[askType as AskType] : NO_ACTION;
  const meta = Object.entries(words.meta ?? {}).flatMap(([key, given]) => {
    const value = comparable(given);
    return value === null ? [] : [[key, typeof value === "string" ? value.normalize("NFC") : value] as const];
  });
  const fn = read("fn") || null;
  const byName = typeof fn === "string" ? normalised("action", fn) || NO_ACTION : fn;
  return {
    action: read("action") || (byName ?? byType),
    resource: read("resource") ?? "",
    env: read("env") || "dev",
    ask_type: askType,
    role: read("role"),
    tool: read("tool"),
    agent: read("agent"),
    repo: read("repo"),
    job: read("job"),
    fn,
    meta: new Map(meta),
    claimed,
    ...(fn !== null && words.digest !== undefined && { digest: words.digest }),
    ...(words.args !== undefined && { args: new CallArguments(words.args) }),
    ...(words.run !== undefined && { run: words.run }),
  };
}

/** Returns an agent as rules name it: by the name its key was issued for, or as `open:…`. */
export function agentName(principal: string): string {
  return principal.replace(/^(agent|executor):/, "");
}

/** Returns a value as rules compare it: what a rule can hold is a text, a whole number, or a truth value. */
export function comparable(value: unknown): PolicyValue {
  if (value === undefined || value === null) return null;
  if (typeof value === "string") return value;
  return typeof value === "boolean" || Number.isSafeInteger(value) ? String(value) : NOT_COMPARABLE;
}

/** Returns the class an input belongs to; null where a value of it cannot be compared, which is then like no other. */
export function policyClassOf(input: PolicyInput): PolicyClass | null {
  const { action, resource, env, tool, repo, agent, digest } = input;
  const one = { action, resource, env, tool, repo, agent };
  if (!isClass(one)) return null;
  return digest === undefined ? one : { ...one, digest };
}

function isClass(one: Readonly<Record<keyof Omit<PolicyClass, "digest">, PolicyValue>>): one is PolicyClass {
  return Object.values(one).every((value) => value !== NOT_COMPARABLE);
}

/** The end of the resource of a call whose arguments its agent does not tell (spec/assignment 8). */
export const UNKNOWN_ARGUMENTS = " (arguments unknown)";

/**
 * Returns whether a class can be allowed for good: one that names no action holds everything that names none, and one of
 * unknown arguments holds calls that nobody has seen.
 */
export function mayGrant(one: PolicyClass | null): one is PolicyClass {
  return one !== null && one.action !== NO_ACTION && !isUnseen(one);
}

function isUnseen({ resource }: PolicyClass): boolean {
  return resource?.endsWith(UNKNOWN_ARGUMENTS) === true;
}

/**
 * Returns the policy's decision on an input. The order of rules never matters: DENY, then an ESCALATE nobody may allow
 * for good, a permanent permission, ESCALATE, ALLOW, and the defaults (spec/relay 8). Between two ESCALATE rules of one rank
 * the one that needs more people counts; among rules that are still equal the first is named. People decide a function
 * call that no rule mentions, whatever the defaults say of executors.
 */
export function evaluate(policy: Policy, grants: readonly Grant[], input: PolicyInput): PolicyDecision {
  const what = policyClassOf(input);
  const stored = what && !isUnseen(what) ? grants.filter((one) => covers(one, what, input)) : [];
  const lesson = stored.find(({ learned }) => learned);
  // The store decides which learned rules hold, whatever a file still says.
  const isLesson = ({ id, decision }: PolicyRule) => decision === "ALLOW" && id === lesson?.learned?.rule;
  const holding = policy.rules.filter((rule) => holds(rule, input) && !isLesson(rule));
  const matched = holding.filter(({ isObserved }) => !isObserved);
  const observed = holding.filter(({ isObserved }) => isObserved);
  const denying = matched.find(({ decision }) => decision === "DENY");
  const escalating = matched.filter(({ decision }) => decision === "ESCALATE");
  const deciding = denying ?? strictest(escalating.filter(({ isGrantable }) => !isGrantable));
  const grant = deciding ? undefined : stored.find(({ learned }) => !learned);
  // Without a DENY and an ESCALATE, every rule that matched allows; one without an allowance uses none up.
  const allowing = matched.find(({ most }) => !most) ?? matched[0];
  const rule = deciding ?? (grant ? undefined : (strictest(escalating) ?? allowing));
  const learned = rule || grant || lesson?.learned?.isRevoked ? undefined : lesson?.learned;
  const reason = rule?.reason ?? learned?.reason;
  const byDefault = input.fn !== null ? "ESCALATE" : isRead(input) ? policy.defaults.read : policy.defaults.other;
  const decision = grant || learned ? "ALLOW" : (rule?.decision ?? byDefault);
  const defaulted = !rule && !grant && !learned;
  const risk = highestRisk(matched);
  const trace: PolicyTrace = {
    policy: `${learned?.rule ?? rule?.id ?? policy.name}@v${policy.version}`,
    policy_version: policy.policyVersion,
    decision,
    ...(reason && { reason }),
    ...(rule && { rule_index: rule.index }),
    matched: matched.map(({ index }) => index),
    ...(observed.length > 0 && { observed: observed.map(nameOf) }),
    defaulted,
    input: tracedInput(input),
    ...(Object.keys(input.claimed).length > 0 && { claimed: input.claimed }),
    grant: grant?.id ?? null,
  };
  return {
    decision,
    trace,
    matchedRule: !defaulted,
    rules: [...matched.map(nameOf), ...(learned ? [learned.rule] : [])],
    countedAs: countedAs({ grant, rule, lesson: learned && lesson }, input),
    ...(observed.length > 0 && { observed: { rules: observed, policyVersion: policy.policyVersion } }),
    ...(decision === "ESCALATE" && { ...(rule?.to && { to: rule.to }), need: rule?.need ?? 1 }),
    isGrantable: decision === "ESCALATE" && (rule?.isGrantable ?? true) && mayGrant(what),
    ...(risk && { risk }),
    because: reason ?? (rule ? `${nameOf(rule)} says ${decision}` : grantWords(policy, grant)),
  };
}

type Deciding = Record<"grant" | "lesson", Grant | undefined> & { rule: PolicyRule | undefined };

function countedAs({ grant, rule, lesson }: Deciding, input: PolicyInput): PolicyDecision["countedAs"] {
  if (grant) return { grant: grant.id };
  if (lesson?.learned) return { rule: lesson.learned.rule, proposal: lesson.id };
  if (!rule) return null;
  const spending = rule.most && spendingOf(rule.most, input);
  return { rule: rule.key, ...(spending && { spending }) };
}

function tracedInput({ action, resource, env, tool, fn, agent }: PolicyInput): Readonly<Record<string, unknown>> {
  return fn === null ? { action, resource, env, ...(tool && { tool }) } : { fn, agent };
}

/** Returns whether an input is a question or a reading, which have a default of their own. */
export function isRead({ action }: Pick<PolicyInput, "action">): boolean {
  return typeof action === "string" && READS.has(action);
}

/** Returns how a rule is named to people. */
export function nameOf({ id, index }: Pick<PolicyRule, "id" | "index">): string {
  return id ?? `rules[${index}]`;
}

/** Returns whether a rule is about function calls: only one that names the function is. */
export function isAboutCalls({ when }: Pick<PolicyRule, "when">): boolean {
  return when.some(({ input }) => input === "fn");
}

/**
 * Returns whether a rule applies to an input: everything in `when` holds, and not everything in `unless`. A condition
 * that cannot be decided makes DENY and ESCALATE hold, and ALLOW not: the input may be what the rule is about, and it may
 * be something else. A rule with an allowance does not hold for a call that this cannot count.
 */
export function holds({ when, unless, decision, most }: Judging, input: PolicyInput): boolean {
  if (input.fn !== null && !isAboutCalls({ when })) return false;
  if (most && !spendingOf(most, input)) return false;
  const inDoubt = decision !== "ALLOW";
  if (!when.every((condition) => isMet(condition, input, inDoubt))) return false;
  return unless.length === 0 || !unless.every((condition) => isMet(condition, input, !inDoubt));
}

type Judging = Pick<PolicyRule, "when" | "unless" | "decision" | "most">;

/** Returns whether one condition holds; `inDoubt` of one that cannot be decided. */
export function isMet(condition: PolicyCondition, input: PolicyInput, inDoubt: boolean): boolean {
  if (condition.input === "command" && !inDoubt) return coversCommand(condition, lineIn(input));
  return judgeCondition(condition, input) ?? inDoubt;
}

/** Returns whether one condition holds; null where that cannot be decided, as of a value that cannot be compared. */
export function judgeCondition(condition: PolicyCondition, input: PolicyInput): Truth {
  if (!isOnCall(condition)) return judgeValue(condition, input);
  switch (condition.input) {
    case "args":
      return judgeArgument(condition, input.args);
    case "expr":
      return condition.expression.judge(input.args);
    case "command":
      return judgeCommand(condition, lineIn(input));
    case "path":
      return judgePaths(condition, pathsIn(input));
  }
}

function judgeValue(condition: InputCondition, input: PolicyInput): Truth {
  const value = valueOf(condition.input, input);
  if (typeof value === "object" && value !== null) return null;
  return condition.any.some((pattern) => fits(pattern, value));
}

const ON_FILES: ReadonlySet<PolicyValue> = new Set(["read", "write", "reconfigure"]);

/** An executor names the file of an ask as its resource, as seen from the folder of the work. */
function pathsIn({ fn, action, resource, args }: PolicyInput): CalledPaths | undefined {
  if (fn !== null || !ON_FILES.has(action)) return pathsOf(args?.root, fn);
  const isKnown = typeof resource === "string" && !resource.endsWith(UNKNOWN_ARGUMENTS);
  return isKnown ? { folder: null, paths: [resource] } : undefined;
}

/** Returns one value of an input by the name rules know it by. */
export function valueOf(name: InputCondition["input"], input: PolicyInput): PolicyValue {
  if (isPolicyInput(name)) return input[name];
  return input.meta.get(name.slice("meta.".length)) ?? null;
}

function isPolicyInput(name: InputCondition["input"]): name is PolicyInputName {
  return !name.startsWith("meta.");
}

/** Returns the first of the rules that need most people. */
function strictest(rules: readonly PolicyRule[]): PolicyRule | undefined {
  return rules.toSorted((one, other) => other.need - one.need)[0];
}

function highestRisk(rules: readonly PolicyRule[]): PolicyDecision["risk"] {
  const kind = RULED_RISKS.findLast((risk) => rules.some((rule) => rule.risk === risk));
  const rule = rules.find(({ risk }) => risk === kind);
  return kind && rule && { kind, rule: nameOf(rule) };
}

const CLASS_MEMBERS = ["action", "resource", "env", "tool", "repo", "agent", "digest"] as const;

function covers({ pattern, ...grant }: Grant, what: PolicyClass, input: PolicyInput): boolean {
  if (!pattern) return CLASS_MEMBERS.every((name) => grant[name] === what[name]);
  return (pattern.run === undefined || pattern.run === input.run) && holds(pattern.rule, input);
}

function grantWords(policy: Policy, grant: Grant | undefined): string {
  return grant ? `somebody allowed it (${grant.id})` : `no rule of ${policy.name} speaks of it`;
}

/**
 * Returns the decision on a permission that an agent requests: by the operator's policy and permanent permissions, or by the
 * preset where none of their rules applies. A request that the operator denies by default stays denied.
 */
export function withPreset(policyDecision: PolicyDecision, preset: Policy, input: PolicyInput): PolicyDecision {
  if (!policyDecision.trace.defaulted || policyDecision.decision === "DENY") return policyDecision;
  const byPreset = evaluate(preset, [], input);
  const { observed } = policyDecision;
  if (!observed) return byPreset;
  return { ...byPreset, observed, trace: { ...byPreset.trace, observed: observed.rules.map(nameOf) } };
}
