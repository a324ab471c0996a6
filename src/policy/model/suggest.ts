import { yieldEvery, yieldToEventLoop } from "../../lib/event-loop.ts";
import { Agreement, deedOf } from "./agreement.ts";
import { coversCall, mayTakeInput, unreadPatterns } from "./alike.ts";
import { type GrantPattern, readPattern } from "./pattern.ts";
import { holds, type PolicyInput, type PolicyRule } from "./policy.ts";
import { SeenValues } from "./seen-values.ts";

/** A recorded function call, as far as rules are proposed from it. */
export interface PastCall {
  input: PolicyInput;
  /**
   * `approved` by people, where no rule decides it; `apart`, where no proposed rule may cover it, because people refused
   * it, or it looks high; `open` for every other call.
   */
  kind: "approved" | "apart" | "open";
}

/** A rule that is proposed, with the calls that speak for it. */
export interface SuggestedRule<T extends PastCall> {
  when: GrantPattern["when"];
  /** The calls that it covers and people approved. */
  approved: readonly T[];
  /** The nearest calls of the same agent and function that no proposed rule covers, at most two. */
  notCovered: readonly T[];
}

/** So many patterns of one agent and function are looked at, those of most calls first. */
const MOST_CANDIDATES = 300;
/** A list of a rule has no more values. */
const MOST_VALUES = 100;
const MOST_NEIGHBOURS = 2;
/** Others are served after so many looks at a call. */
const LOOKS_AT_ONCE = 50;

interface Candidate {
  when: GrantPattern["when"];
  rule: PolicyRule;
  /** Its place among the patterns of a call, the narrowest first. */
  width: number;
}

/** A pattern before it is read. */
interface Found extends Omit<Candidate, "rule"> {
  key: string;
  /** So many calls have it among their patterns. */
  count: number;
  /** Whether it covers no call `apart`; null before it was looked at. */
  isSafe: boolean | null;
}

const byCount = (one: Found, other: Found): number =>
  other.count - one.count || one.width - other.width || (one.key < other.key ? -1 : 1);

/** Awaited after each look at a call, so that others are served. */
type Looked = ReturnType<typeof yieldEvery>;

/** The calls that no rule may cover, the fewest approved calls of a rule, and the values of these calls. */
interface Bounds {
  apart: readonly PastCall[];
  least: number;
  seen: SeenValues;
  /** The tools of one deed that the agent used. */
  tools: readonly unknown[];
  agreement: Agreement<PastCall>;
  looked: Looked;
}

/**
 * Returns the rules that would allow what people approved: each covers at least `least` approved calls, and no call
 * `apart`. Of the patterns of an agent and function the one that covers most of the approved calls comes first, the
 * narrower of two alike, until the rest is covered. The tools of a coding agent that run commands count as one function,
 * and so do those that write files. Of these a pattern may cover fewer approved calls, at least one, where as many calls
 * of other agents or folders agree. The same calls give the same rules. Others are served meanwhile.
 */
export async function suggestRules<T extends PastCall>(
  calls: readonly T[],
  least: number,
): Promise<SuggestedRule<T>[]> {
  const groups = Map.groupBy(calls, ({ input: { agent, fn } }) => JSON.stringify([agent, deedOf(fn) ?? [fn]]));
  const looked = yieldEvery(LOOKS_AT_ONCE);
  const agreement = await Agreement.of(ofKind(calls, "approved"), ofKind(calls, "apart"), looked);
  const rules: SuggestedRule<T>[] = [];
  for (const [, group] of [...groups].toSorted(([one], [other]) => (one < other ? -1 : 1)))
    rules.push(...(await rulesOf(group, { least: Math.max(1, least), agreement, looked })));
  return rules;
}

const ofKind = <T extends PastCall>(calls: readonly T[], kind: PastCall["kind"]): T[] =>
  calls.filter((call) => call.kind === kind);

async function rulesOf<T extends PastCall>(
  group: readonly T[],
  { least, agreement, looked }: Pick<Bounds, "least" | "looked"> & { agreement: Agreement<T> },
): Promise<SuggestedRule<T>[]> {
  const [approved, apart] = [ofKind(group, "approved"), ofKind(group, "apart")];
  const inputs = approved.map(({ input }) => input);
  const tools = [...new Set(inputs.map(({ fn }) => fn))].toSorted();
  const bounds = { apart, least, seen: new SeenValues(inputs), tools, agreement, looked };
  const rules = await merged(await choose(await candidatesOf(approved, bounds), approved, bounds), bounds);
  const others: WordedCall<T>[] = [];
  for (const call of group) {
    if (!rules.some(({ rule }) => holds(rule, call.input))) others.push({ call, words: wordsOf(call) });
    await looked();
  }
  const suggested: SuggestedRule<T>[] = [];
  for (const { when, rule } of rules) {
    const covered: WordedCall<T>[] = [];
    for (const call of approved) {
      if (holds(rule, call.input)) covered.push({ call, words: wordsOf(call) });
      await looked();
    }
    const own = covered.map(({ call }) => call);
    const agreed = own.length < least ? await agreement.on(when) : [];
    const notCovered = await nearest(covered, others, looked);
    suggested.push({ when, approved: [...new Set([...own, ...agreed])], notCovered });
  }
  return suggested;
}

async function firstOf<T>(some: readonly T[], isIt: (one: T) => Promise<boolean>): Promise<T | undefined> {
  for (const one of some) if (await isIt(one)) return one;
  return undefined;
}

async function isAnyCovered(calls: readonly PastCall[], covers: (input: PolicyInput) => boolean, looked: Looked) {
  for (const { input } of calls) {
    if (covers(input)) return true;
    await looked();
  }
  return false;
}

/**
 * Returns of each call the pattern that most calls have, and that covers none `apart`, and where these are few the
 * narrowest on which others agree; those of most calls first.
 */
async function candidatesOf(approved: readonly PastCall[], bounds: Bounds): Promise<Candidate[]> {
  const { apart, least, seen, tools, agreement, looked } = bounds;
  const found = new Map<string, Found>();
  const patterns: { input: PolicyInput; some: Found[] }[] = [];
  for (const { input } of approved) {
    const some = unreadPatterns(input, seen, "alike").map((own, width): Found => {
      const isAnyTool = tools.length > 1 && (own["command"] ?? own["path"]) !== undefined;
      const when = isAnyTool ? { ...own, fn: tools } : own;
      const key = JSON.stringify(when);
      const one = found.get(key) ?? { key, when, width, count: 0, isSafe: null };
      found.set(key, one);
      one.count += 1;
      return one;
    });
    patterns.push({ input, some });
    await looked();
  }
  const isFit = async (one: Found, input: PolicyInput): Promise<boolean> => {
    await looked();
    if (!coversCall(one.when, input)) return false;
    one.isSafe ??= !(await isAnyCovered(apart, (other) => coversCall(one.when, other), looked));
    return one.isSafe;
  };
  const best: Found[] = [];
  for (const { input, some } of patterns) {
    // A pattern that is word for word that of a call is that of every call that it covers.
    const often = some.filter(({ width, count }) => width > 0 || count >= least).toSorted(byCount);
    const own = await firstOf(often, (one) => isFit(one, input));
    if (own) best.push(own);
    if (own && own.count >= least) continue;
    const agreed = await firstOf(
      some,
      async (one) => (await agreement.on(one.when)).length >= least && isFit(one, input),
    );
    if (agreed) best.push(agreed);
  }
  return [...new Set(best)]
    .toSorted(byCount)
    .slice(0, MOST_CANDIDATES)
    .map(({ when, width }) => ({ when, width, rule: readPattern({ when }).rule }));
}

async function choose(
  candidates: readonly Candidate[],
  approved: readonly PastCall[],
  { seen, least, agreement, looked }: Bounds,
): Promise<Candidate[]> {
  // Each call is read once for all patterns.
  const covered = candidates.map(() => new Set<PastCall>());
  const programs = candidates.map(({ when }) => new Set(programsOf(when)));
  for (const call of approved) {
    // A pattern without a program of the call does not cover it, and most patterns are such.
    const started = programsOf(unreadPatterns(call.input, seen, "alike")[0]);
    for (const [at, { rule }] of candidates.entries()) {
      const mayCover = started.every((program) => programs[at]?.has(program));
      if (!mayCover) continue;
      if (holds(rule, call.input)) covered[at]?.add(call);
      await looked();
    }
    await looked();
  }
  let left: { candidate: Candidate; calls: ReadonlySet<PastCall> }[] = [];
  for (const [at, candidate] of candidates.entries()) {
    const calls = covered[at] ?? new Set<PastCall>();
    if (calls.size === 0) continue;
    const isMet = calls.size >= least || (await agreement.on(candidate.when)).length >= least;
    if (isMet) left.push({ candidate, calls });
  }
  const chosen: Candidate[] = [];
  for (;;) {
    const [best] = left.toSorted(
      (one, other) => other.calls.size - one.calls.size || one.candidate.width - other.candidate.width,
    );
    if (!best) return chosen;
    chosen.push(best.candidate);
    await yieldToEventLoop();
    left = left
      .map(({ candidate, calls }) => ({
        candidate,
        calls: new Set([...calls].filter((call) => !best.calls.has(call))),
      }))
      .filter(({ calls }) => calls.size > 0);
  }
}

function programsOf(when: GrantPattern["when"] | undefined): string[] {
  const commands = Array.isArray(when?.["command"]) ? (when["command"] as readonly string[]) : [];
  return commands.map((command) => command.split(" ", 1)[0] ?? "");
}

/** Whether a command of a pattern may read the output of another one, which no other rule may then add. */
function readsOthers({ command = [] }: GrantPattern["when"]): boolean {
  return [command].flat().some((pattern) => {
    const [program = "", ...texts] = String(pattern).split(" ");
    return mayTakeInput(program, texts);
  });
}

/**
 * Puts rules that differ in their list of commands or files alone into one, unless that covers a call `apart`, or would
 * give a command the output of one that was approved elsewhere.
 */
async function merged(chosen: readonly Candidate[], { apart, looked }: Bounds): Promise<Candidate[]> {
  const rules = new Map<string, Candidate>();
  for (const [at, candidate] of chosen.entries()) {
    const { command, path, ...common } = candidate.when;
    const list = command === undefined ? "path" : "command";
    const key = JSON.stringify([list, common]);
    const isAlone = (command === undefined && path === undefined) || readsOthers(candidate.when);
    const before = isAlone ? undefined : rules.get(key);
    const values = [...new Set([before?.when[list] ?? [], candidate.when[list] ?? []].flat())];
    const when = { ...candidate.when, [list]: values };
    const rule = before && values.length <= MOST_VALUES ? readPattern({ when }).rule : null;
    const isSafe = rule && !(await isAnyCovered(apart, (input) => holds(rule, input), looked));
    if (before && isSafe) rules.set(key, { ...before, when, rule });
    else rules.set(before || isAlone ? `${key} ${at}` : key, candidate);
  }
  return [...rules.values()];
}

interface WordedCall<T> {
  call: T;
  words: ReadonlySet<string>;
}

const LONGEST_COMPARED = 2000;
const UNCOMPARED: ReadonlySet<unknown> = new Set(["description", "cwd"]);

function wordsOf({ input }: PastCall): Set<string> {
  const texts: string[] = [];
  const root = input.args?.root;
  const collect = (value: unknown): void => {
    if (typeof value === "string") texts.push(value);
    else if (value instanceof Map || Array.isArray(value)) for (const inner of value.values()) collect(inner);
  };
  if (root instanceof Map) for (const [name, value] of root) if (!UNCOMPARED.has(name)) collect(value);
  return new Set(
    texts
      .join(" ")
      .slice(0, LONGEST_COMPARED)
      .match(/[\p{L}\p{N}._@/-]+/gu),
  );
}

/** Returns the calls with most words in common with those that a rule covers, those `apart` first. */
async function nearest<T extends PastCall>(
  covered: readonly WordedCall<T>[],
  others: readonly WordedCall<T>[],
  looked: Looked,
): Promise<T[]> {
  const words = new Set<string>();
  for (const { words: own } of covered) {
    for (const word of own) words.add(word);
    await looked();
  }
  const alike: (WordedCall<T> & { like: number; isApart: number })[] = [];
  for (const other of others) {
    const common = [...other.words].filter((word) => words.has(word)).length;
    const like = common ** 2 / Math.max(1, other.words.size);
    if (like > 0) alike.push({ ...other, like, isApart: Number(other.call.kind === "apart") });
    await looked();
  }
  const ranked = alike.toSorted((one, other) => other.isApart - one.isApart || other.like - one.like);
  const distinct = new Map(ranked.map(({ call, words: own }) => [[...own].join(" "), call]));
  return [...distinct.values()].slice(0, MOST_NEIGHBOURS);
}
