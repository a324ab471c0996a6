import { pointerParts } from "../../lib/json/json-pointer.ts";
import { type CallArguments, NumberText } from "./call-arguments.ts";

const ALLOWANCE_PERIODS = ["hour", "day", "run"] as const;

/** A rule allows so many calls, or so much of one argument, within a period; people decide about more (spec/relay 8). */
export interface Allowance {
  /** A period of an hour or a day begins with its first call; a run is one session of one agent. */
  per: (typeof ALLOWANCE_PERIODS)[number];
  calls: number | null;
  /** The argument that is added up, and the most of it, in millionths. */
  sum: { pointer: string; path: readonly string[]; most: number } | null;
}

const HOUR_MS = 3_600_000;
/** How long a period is; no run of an agent is longer. */
export const PERIOD_MS = { hour: HOUR_MS, day: 24 * HOUR_MS, run: 31 * 24 * HOUR_MS } as const;

/** The part of an allowance that is used up in its present period. */
export interface UsedAllowance {
  calls: number;
  /** Millionths. */
  amount: number;
  /** Epoch ms. */
  openedAt: number;
}

/** One call, as an allowance counts it. */
export interface Spending {
  allowance: Allowance;
  /** The amount of the call, in millionths; 0 where no argument is added up. */
  amount: number;
  /** The agent and its run, where the allowance is for one run; else empty. */
  subject: string;
}

const MILLION = 1_000_000n;
/** A double holds each millionth up to here. */
const MOST_AMOUNT = 9_000_000_000n * MILLION;
const MOST_CALLS = 1_000_000;
const NUMBER = /^(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,3}))?$/;

/** Returns a number of JSON from 0 to 9,000,000,000 with at most six decimals, in millionths; null for any other. */
function millionths(text: string): number | null {
  const [, whole, fraction = "", exponent = "0"] = NUMBER.exec(text) ?? [];
  if (whole === undefined) return null;
  const power = Number(exponent) - fraction.length + 6;
  const digits = BigInt(whole + fraction);
  if (digits === 0n) return 0;
  if (whole.length + fraction.length + Math.abs(power) > 1000) return null;
  const scale = 10n ** BigInt(Math.abs(power));
  if (power < 0 && digits % scale !== 0n) return null;
  const amount = power < 0 ? digits / scale : digits * scale;
  return amount <= MOST_AMOUNT ? Number(amount) : null;
}

interface CountedInput {
  agent: unknown;
  args?: CallArguments;
  run?: string;
}

/** Returns a call as an allowance counts it; null for one that it cannot count, which it does not allow. */
export function spendingOf(allowance: Allowance, { agent, args, run }: CountedInput): Spending | null {
  const value = allowance.sum ? args?.at(allowance.sum.path) : new NumberText("0");
  const amount = value instanceof NumberText ? millionths(value.text) : null;
  const isRun = allowance.per === "run";
  if (amount === null || (isRun && run === undefined)) return null;
  return { allowance, amount, subject: isRun ? JSON.stringify([agent, run]) : "" };
}

/** Returns what is used up after one more call at `atMs`; null where the allowance has no room for it. */
export function spent(
  used: UsedAllowance | undefined,
  { allowance: { per, calls, sum }, amount }: Spending,
  atMs: number,
): UsedAllowance | null {
  const isOpen = used && atMs < used.openedAt + PERIOD_MS[per];
  const before = isOpen ? used : { calls: 0, amount: 0, openedAt: atMs };
  const after = { ...before, calls: before.calls + 1, amount: before.amount + amount };
  return after.calls <= (calls ?? Infinity) && after.amount <= (sum?.most ?? Infinity) ? after : null;
}

/** Reads `most` of a rule: `{ per: day, calls: 20, /amount: 500 }`. Reports what is wrong of it. */
export function readAllowance(value: unknown, say: (path: readonly string[], says: string) => void): Allowance | null {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    say([], "must be a block, as { per: day, calls: 20, /amount: 500 }");
    return null;
  }
  const { per: period, calls = null, ...sums } = value as Readonly<Record<string, unknown>>;
  const per = ALLOWANCE_PERIODS.find((one) => one === period);
  if (per === undefined) say(["per"], `must be one of ${ALLOWANCE_PERIODS.join(", ")}`);
  const isCount = Number.isSafeInteger(calls) && Number(calls) >= 1 && Number(calls) <= MOST_CALLS;
  if (calls !== null && !isCount) say(["calls"], `must be a whole number from 1 to ${MOST_CALLS}`);
  const [first, ...more] = Object.entries(sums);
  if (more.length > 0) say([], "adds up more than one argument");
  if (first === undefined && calls === null) say([], "names neither calls nor an argument, as /amount");
  const sum = first ? readSum(first, say) : null;
  return per === undefined ? null : { per, calls: isCount ? Number(calls) : null, sum };
}

function readSum(
  [pointer, given]: readonly [string, unknown],
  say: (path: readonly string[], says: string) => void,
): Allowance["sum"] {
  const path = pointerParts(pointer);
  if (!path || path.length === 0) say([pointer], 'is nothing that is counted; write calls, or a place as "/amount"');
  const most = typeof given === "number" || typeof given === "string" ? millionths(String(given)) : null;
  if (most === null || most === 0)
    say([pointer], "must be a number above 0, up to 9,000,000,000, with at most six decimals");
  return { pointer, path: path ?? [], most: most ?? 0 };
}

/** Returns an allowance in words: `at most 20 calls and 500 of /amount a day`. */
export function allowanceWords({ per, calls, sum }: Allowance): string {
  const parts = [
    ...(calls === null ? [] : [calls === 1 ? "1 call" : `${calls} calls`]),
    ...(sum ? [amountWords(sum, sum.most)] : []),
  ];
  return `at most ${parts.join(" and ")} ${per === "run" ? "in one run" : per === "hour" ? "an hour" : "a day"}`;
}

/** Returns what is used of an allowance, in words: `12 calls, 340 of /amount`. */
export function usedWords({ sum }: Allowance, { calls, amount }: Pick<UsedAllowance, "calls" | "amount">): string {
  return [calls === 1 ? "1 call" : `${calls} calls`, ...(sum ? [amountWords(sum, amount)] : [])].join(", ");
}

const amountWords = ({ pointer }: NonNullable<Allowance["sum"]>, amount: number): string =>
  `${amount / Number(MILLION)} of ${pointer}`;
