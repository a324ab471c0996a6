import { readAllowance } from "./allowance.ts";
import { readArgumentCondition } from "./argument-conditions.ts";
import { patternProblem } from "../../lib/shell/command-pattern.ts";
import type { Expression } from "./expression.ts";
import { pathPatternProblem } from "./path-condition.ts";
import { ASK_TYPES } from "../../core/model/ask-type.ts";
import { canonicalExact, sha256Digest } from "../../lib/json/exact-json.ts";
import { isSentence } from "./sentence.ts";
import { RULED_RISKS, type PolicyEffect, type Policy, type PolicyRule } from "./policy.ts";
import { type InputCondition, patternOf, POLICY_INPUTS, type Pattern } from "./match.ts";
import { isOnCall, type PolicyCondition } from "./conditions.ts";

/** Where in a policy something stands: keys and places in lists. */
export type PolicyPath = readonly (string | number)[];

/** The mistake at one place of a policy. */
export interface PolicyFault {
  path: PolicyPath;
  /** The rest of a sentence that begins with the place: what it must be, or must not be. */
  says: string;
}

/** A policy is invalid, so nothing of it is in force. */
export class PolicyMistake extends Error {
  readonly faults: readonly PolicyFault[];

  constructor(faults: readonly PolicyFault[], placeOf: (path: PolicyPath) => string = pathText) {
    super(faults.map(({ path, says }) => `${placeOf(path)} ${says}.`).join("\n"));
    this.name = "PolicyMistake";
    this.faults = faults;
  }
}

const DECISIONS: readonly PolicyEffect[] = ["ALLOW", "DENY", "ESCALATE"];
const MAX_RULES = 2000;
const MAX_VALUES = 100;
const MAX_VALUE_CHARS = 512;
const MAX_REASON_CHARS = 500;
const MAX_NEED = 10;
const MAX_FAULTS = 20;
const ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const WHERE_TO = /^\S(.{0,126}\S)?$/u;
const VERSION_DIGITS = 12;
const CURRENCIES: ReadonlySet<string> = new Set(Intl.supportedValuesOf("currency"));
/** These are never missing. */
const ALWAYS_THERE: ReadonlySet<string> = new Set(["action", "resource", "env", "ask_type", "agent", "job", "fn"]);
/** The inputs that a function call is known by. */
const CALL_INPUTS: ReadonlySet<string> = new Set(["fn", "agent", "args", "expr", "command", "path"]);

/**
 * Returns a policy that is ready to be asked. Unknown names are mistakes, so that a slip of the pen never opens
 * anything: every key, every decision, an `other` that would allow what nobody thought of.
 *
 * @throws {PolicyMistake} naming each place (spec/relay 8)
 */
export function checkPolicy(value: unknown, name = "policy.yaml", readExpression: ReadExpression = notLoaded): Policy {
  const faults: PolicyFault[] = [];
  const note = (path: PolicyPath, says: string): void => void faults.push({ path, says });
  const say: Say = Object.assign(note, { readExpression });
  const policy = readPolicy(value, name, say);
  if (faults.length > 0) throw new PolicyMistake(faults.slice(0, MAX_FAULTS));
  const digest = sha256Digest(canonicalExact(value)).slice("sha256:".length);
  return { ...policy, policyVersion: `${policy.version}:${digest.slice(0, VERSION_DIGITS)}` };
}

/** Returns the expression of a text, or the problem of it as the rest of a sentence that begins with its place. */
export type ReadExpression = (text: string) => Expression | { problem: string };

/** @throws {Error} always: our bug, for a text with expressions is read by `loadPolicy` */
function notLoaded(): never {
  throw new Error("the reader of expressions is not loaded");
}

/** Collects faults, and reads the expressions of the file. */
type Say = ((path: PolicyPath, says: string) => void) & { readExpression: ReadExpression };

function readPolicy(value: unknown, name: string, say: Say): Policy {
  const file = readBlock(value, [], ["version", "defaults", "rules", "says", "limits"], say);
  if (!file) return { name, version: 0, policyVersion: "", defaults: { read: "DENY", other: "DENY" }, rules: [] };
  const version = file["version"];
  const isVersion = isWhole(version, 1, Number.MAX_SAFE_INTEGER);
  if (!isVersion) say(["version"], `must be a whole number from 1${instead(version)}`);
  const defaults = readDefaults(file["defaults"], say);

  const list = file["rules"] ?? [];
  if (!Array.isArray(list)) say(["rules"], "must be a list of rules");
  const rules: unknown[] = Array.isArray(list) ? list : [];
  if (rules.length > MAX_RULES) say(["rules"], `has ${rules.length} rules; ${MAX_RULES} is the most`);
  const read = rules.slice(0, MAX_RULES).map((rule, index) => readRule(rule, index, say));
  const firstOf = new Map<string, number>();
  for (const { id, index } of read) {
    if (id === null) continue;
    const before = firstOf.get(id);
    if (before !== undefined) say(["rules", index, "id"], `is "${id}", as is that of rules[${before}]`);
    else firstOf.set(id, index);
  }
  const says = readSentences(file["says"], say);
  const limits = readLimits(file["limits"], say);
  const policy = { name, version: isVersion ? version : 0, policyVersion: "", defaults, rules: read };
  return { ...policy, ...(says && { says }), ...(limits && { limits }) };
}

/** The limits of money above which a call is of high risk. */
function readLimits(value: unknown, say: Say): Policy["limits"] {
  const block = value === undefined ? undefined : readBlock(value, ["limits"], null, say);
  if (!block) return undefined;
  for (const [currency, limit] of Object.entries(block)) {
    const path = ["limits", currency];
    if (!CURRENCIES.has(currency)) say(path, "names no currency; write the three capitals of its code, as EUR");
    else if (typeof limit !== "number" || !Number.isFinite(limit) || limit < 0)
      say(path, `must be a number from 0, in the main unit of the currency${instead(limit)}`);
  }
  return block as Readonly<Record<string, number>>;
}

/** The sentences of functions, in the operator's words. */
function readSentences(value: unknown, say: Say): Policy["says"] {
  const block = value === undefined ? undefined : readBlock(value, ["says"], null, say);
  if (!block) return undefined;
  for (const [fn, sentence] of Object.entries(block)) {
    if (typeof sentence === "string" && isSentence(sentence)) continue;
    const wanted = "must be a sentence of at most 200 characters that names an argument, as {amount}";
    say(["says", fn], `${wanted}${instead(sentence)}`);
  }
  return new Map(Object.entries(block).map(([fn, sentence]) => [fn, String(sentence)]));
}

function readDefaults(value: unknown, say: Say): Policy["defaults"] {
  const block = value === undefined ? {} : readBlock(value, ["defaults"], ["read", "other"], say);
  const { read: reads = "ALLOW", other: others = "ESCALATE" } = block ?? {};
  const read = readDecision(reads, ["defaults", "read"], say);
  const other = readDecision(others, ["defaults", "other"], say);
  if (other === "ALLOW") {
    say(["defaults", "other"], "must be ESCALATE or DENY: ALLOW would allow whatever no rule speaks of");
    return { read, other: "ESCALATE" };
  }
  return { read, other };
}

/** Stands for what has been refused. */
const NO_RULE: PolicyRule = {
  index: -1,
  id: null,
  key: "",
  when: [],
  unless: [],
  decision: "DENY",
  reason: null,
  to: null,
  need: 1,
  isGrantable: true,
  risk: null,
  most: null,
  isObserved: false,
};
const RULE_KEYS = [
  "id",
  "when",
  "unless",
  "decision",
  "mode",
  "reason",
  "to",
  "need",
  "standing",
  "risk",
  "most",
] as const;
/** A rule that decides later begins to count anew. */
const OBSERVED = "observe:";

function readRule(value: unknown, index: number, say: Say): PolicyRule {
  const at = (key: string): PolicyPath => ["rules", index, key];
  const rule = readBlock(value, ["rules", index], RULE_KEYS, say);
  if (!rule) return NO_RULE;
  const { id, mode, reason, to, need, standing, most } = rule;
  const decision = readDecision(rule["decision"], at("decision"), say);

  if (id !== undefined && !(typeof id === "string" && ID.test(id)))
    say(at("id"), `must be 1 to 64 letters, digits, dots, dashes and underscores${instead(id)}`);
  if (mode !== undefined && mode !== "observe")
    say(at("mode"), `must be observe, or be left out for a rule that decides${instead(mode)}`);
  if (reason !== undefined && !(typeof reason === "string" && reason !== "" && reason.length <= MAX_REASON_CHARS))
    say(at("reason"), `must be a text of at most ${MAX_REASON_CHARS} characters${instead(reason)}`);
  if (to !== undefined && !(typeof to === "string" && WHERE_TO.test(to)))
    say(at("to"), `must name a person, a group or a channel${instead(to)}`);
  if (need !== undefined && !isWhole(need, 1, MAX_NEED))
    say(at("need"), `must be a whole number from 1 to ${MAX_NEED}${instead(need)}`);
  if (standing !== undefined && typeof standing !== "boolean")
    say(at("standing"), `must be true or false${instead(standing)}`);
  for (const key of ["to", "need", "standing"]) {
    if (rule[key] !== undefined && decision !== "ESCALATE")
      say(at(key), "is for rules that ESCALATE: others ask nobody");
  }
  if (rule["when"] === undefined) say(["rules", index], "has no when, which says what it is about");
  const when = rule["when"] === undefined ? [] : readConditions(rule["when"], at("when"), say);
  const unless = rule["unless"] === undefined ? [] : readConditions(rule["unless"], at("unless"), say);
  checkCallRule(rule, { when, unless, decision }, at, say);
  const risk = RULED_RISKS.find((one) => one === rule["risk"]) ?? null;
  if (rule["risk"] !== undefined && risk === null)
    say(at("risk"), `must be low, normal or high${instead(rule["risk"])}`);
  return {
    index,
    id: typeof id === "string" ? id : null,
    key: typeof id === "string" ? `${mode === undefined ? "" : OBSERVED}${id}` : `#${digestOf(value)}`,
    when,
    unless,
    decision,
    reason: typeof reason === "string" ? reason : null,
    to: typeof to === "string" ? to : null,
    need: isWhole(need, 1, MAX_NEED) ? need : 1,
    isGrantable: standing !== false,
    risk,
    most: most === undefined ? null : readAllowance(most, (path, says) => say([...at("most"), ...path], says)),
    isObserved: mode !== undefined,
  };
}

/**
 * A rule that names a function decides calls in its own name, and may look at nothing that a call does not have; one that
 * approves says which functions (spec/a2h 8).
 */
function checkCallRule(
  { id, to, need, risk, most }: Readonly<Record<string, unknown>>,
  { when, unless, decision }: Pick<PolicyRule, "when" | "unless" | "decision">,
  at: (key: string) => PolicyPath,
  say: Say,
): void {
  const functions = when.find(({ input }) => input === "fn");
  if (most !== undefined && (!functions || decision !== "ALLOW"))
    say(at("most"), "is for rules that ALLOW function calls: their when names fn");
  if (!functions) {
    if (unless.some(({ input }) => input === "fn")) say(at("unless"), "names fn, which when does not");
    if (risk !== undefined) say(at("risk"), "is for function calls: its rule names fn in when");
    return;
  }
  for (const [key, conditions] of Object.entries({ when, unless })) {
    for (const { input } of conditions) {
      if (!CALL_INPUTS.has(input))
        say([...at(key), input], "is nothing that a function call has: it has fn, agent, args, command, path and expr");
    }
  }
  if (id === undefined) say(at("id"), "is missing: what a rule decides of function calls is named after it");
  if (to !== undefined || need !== undefined)
    say(at(to === undefined ? "need" : "to"), "is for what executors ask: a function call says itself who is asked");
  if (decision === "ALLOW" && "any" in functions && functions.any.some((pattern) => pattern?.join("") === ""))
    say([...at("when"), "fn"], 'must say which functions: "*" would approve whatever is asked');
}

function readConditions(value: unknown, path: PolicyPath, say: Say): PolicyCondition[] {
  const block = readBlock(value, path, null, say);
  if (!block) return [];
  const entries = Object.entries(block);
  if (entries.length === 0) say(path, 'names nothing; write action: "*" for whatever there is');
  const conditions = entries.flatMap(([input, given]): PolicyCondition[] => {
    if (input === "args") return readArguments(given, [...path, input], say);
    if (input === "expr") return readExpressionAt(given, [...path, input], say);
    if (input === "command" || input === "path") {
      return [{ input, patterns: readPatterns(input, given, [...path, input], say) }];
    }
    if (!isConditionInput(input)) {
      say(path, `has no "${input}"; it knows ${POLICY_INPUTS.join(", ")}, args, command, path, expr and meta.<key>`);
      return [];
    }
    const values = Array.isArray(given) ? (given as unknown[]) : [given];
    if (values.length === 0 || values.length > MAX_VALUES)
      say([...path, input], `must have 1 to ${MAX_VALUES} values, not ${values.length}`);
    const any = values.slice(0, MAX_VALUES).map((one, i) => {
      const place = Array.isArray(given) ? [...path, input, i] : [...path, input];
      return readValue(input, one, place, say);
    });
    return [{ input, any }];
  });
  // The function is compared before the arguments are read.
  return conditions.toSorted((one, other) => Number(isOnCall(one)) - Number(isOnCall(other)));
}

function readArguments(value: unknown, path: PolicyPath, say: Say): PolicyCondition[] {
  const block = readBlock(value, path, null, say);
  const entries = Object.entries(block ?? {});
  if (block && entries.length === 0) say(path, "names no argument");
  return entries.map(([pointer, given]) =>
    readArgumentCondition(pointer, given, (at, says) => say([...path, pointer, ...at], says)),
  );
}

const PATTERN_PROBLEMS = { command: patternProblem, path: pathPatternProblem };

function readPatterns(kind: "command" | "path", value: unknown, path: PolicyPath, say: Say): string[] {
  const list: unknown[] = Array.isArray(value) ? value : [value];
  if (list.length === 0 || list.length > MAX_VALUES)
    say(path, `must have 1 to ${MAX_VALUES} values, not ${list.length}`);
  return list.slice(0, MAX_VALUES).flatMap((one, i) => {
    const place = Array.isArray(value) ? [...path, i] : path;
    const isPattern = typeof one === "string" && one.length <= MAX_VALUE_CHARS;
    const problem = isPattern ? PATTERN_PROBLEMS[kind](one) : `must be a text of at most ${MAX_VALUE_CHARS} characters`;
    if (problem !== null) say(place, problem);
    return isPattern ? [one] : [];
  });
}

function readExpressionAt(value: unknown, path: PolicyPath, say: Say): PolicyCondition[] {
  if (typeof value !== "string") {
    say(path, `must be a text${instead(value)}`);
    return [];
  }
  const expression = say.readExpression(value);
  if (!("problem" in expression)) return [{ input: "expr", expression }];
  say(path, expression.problem);
  return [];
}

function readValue(input: InputCondition["input"], value: unknown, path: PolicyPath, say: Say): Pattern {
  if (value === null) {
    if (ALWAYS_THERE.has(input)) say(path, `must be a text: ${input} is never missing`);
    return null;
  }
  const isMeta = input.startsWith("meta.");
  if (isMeta && (typeof value === "boolean" || Number.isSafeInteger(value))) return [String(value)];
  if (typeof value !== "string") {
    const what = isMeta ? "must be a text, a whole number, true, false or null" : "must be a text";
    say(path, `${what}${instead(value)}${typeof value === "object" ? "" : "; put it in quotes"}`);
    return null;
  }
  if (value.trim() === "" && input !== "resource") say(path, "must not be empty");
  if (value.length > MAX_VALUE_CHARS) say(path, `must have at most ${MAX_VALUE_CHARS} characters`);
  if (input === "ask_type" && !value.includes("*") && !(ASK_TYPES as readonly string[]).includes(value))
    say(path, `must be one of ${ASK_TYPES.join(", ")}${instead(value)}`);
  return patternOf(input, value);
}

function isConditionInput(name: string): name is InputCondition["input"] {
  return (POLICY_INPUTS as readonly string[]).includes(name) || /^meta\../s.test(name);
}

function readDecision(value: unknown, path: PolicyPath, say: Say): PolicyEffect {
  const known = DECISIONS.find((decision) => decision === value);
  if (!known) say(path, `must be ALLOW, DENY or ESCALATE${instead(value)}`);
  return known ?? "DENY";
}

/** Returns a mapping's values. Reports a value that is not a mapping, and names that it does not know. */
function readBlock(value: unknown, path: PolicyPath, keys: readonly string[] | null, say: Say): Block | null {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    say(path, `must be a block of names and values${instead(value)}`);
    return null;
  }
  for (const key of Object.keys(value)) {
    if (keys && !keys.includes(key)) say(path, `has no "${key}"; it knows ${keys.join(", ")}`);
  }
  return value as Block;
}
type Block = Readonly<Record<string, unknown>>;

function isWhole(value: unknown, least: number, most: number): value is number {
  return Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most;
}

function instead(value: unknown): string {
  if (value === undefined || value === null) return "";
  if (typeof value === "object") return Array.isArray(value) ? ", not a list" : ", not a block";
  return `, not ${JSON.stringify(String(value).slice(0, 60))}`;
}

/** A rule that cannot be printed has been refused. */
function digestOf(rule: unknown): string {
  try {
    return sha256Digest(canonicalExact(rule)).slice("sha256:".length).slice(0, VERSION_DIGITS);
  } catch {
    return "";
  }
}

/** Returns a place as it is written in sentences: `rules[2].when.env`. */
export function pathText(path: PolicyPath): string {
  if (path.length === 0) return "the policy";
  return path.map((part, i) => (typeof part === "number" ? `[${part}]` : i === 0 ? part : `.${part}`)).join("");
}
