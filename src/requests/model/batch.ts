import { yieldEvery, yieldToEventLoop } from "../../lib/event-loop.ts";
import { LOWEST_FIRST, type Risk } from "./risk.ts";
import { membersOf, riskiestNames } from "./argument-order.ts";
import { argumentMarks, LEAST_OTHERS, MOST, type BatchMark } from "./batch-marks.ts";

/** One of the waiting calls of an agent and function: the canonical JSON of its arguments, and its risk. */
export interface BatchCall {
  kwargs: string;
  risk: Risk;
}

/** Waiting calls of one agent and function beside one another. */
export interface ComparedCalls {
  /** The arguments that are the same in each call, those that matter most first. */
  same: readonly string[];
  /** The arguments that differ or that not every call has, those that matter most first. */
  differing: readonly string[];
  /** The ways in which each call stands out, in the order of the calls. */
  marks: readonly (readonly BatchMark[])[];
}

/** Looking at so many texts takes some milliseconds. */
const TEXTS_AT_ONCE = 500;

/**
 * Compares calls of one agent and function: what they share, where they differ, and what stands out of the rest. It
 * helps the eye and decides nothing. The same calls give the same result. Others are served meanwhile.
 */
export async function compareCalls(calls: readonly BatchCall[]): Promise<ComparedCalls> {
  const members = calls.map(({ kwargs }) => new Map(membersOf(kwargs).map((member) => [member.name, member])));
  const names = riskiestNames(members.flatMap((call) => [...call.values()]));
  const isSame = (name: string): boolean => {
    const value = members[0]?.get(name)?.value;
    return value !== undefined && members.every((call) => call.get(name)?.value === value);
  };
  const same = names.filter(isSame);
  const differing = names.filter((name) => !same.includes(name));
  const marks: BatchMark[][] = calls.map(() => []);
  if (calls.length > LEAST_OTHERS) {
    for (const [at, mark] of riskMarks(calls).entries()) if (mark) marks[at]?.push(mark);
    const serveOthers = yieldEvery(TEXTS_AT_ONCE);
    for (const name of differing) {
      const values = members.map((call) => call.get(name)?.value);
      const found = await argumentMarks(name, values, serveOthers);
      for (const [at, some] of found.entries()) marks[at]?.push(...some);
      await yieldToEventLoop();
    }
  }
  return { same, differing, marks };
}

/** Marks calls whose risk is higher than that of most others. */
function riskMarks(calls: readonly BatchCall[]): (BatchMark | null)[] {
  const ranks = calls.map(({ risk }) => LOWEST_FIRST.indexOf(risk));
  return ranks.map((rank, at) => {
    const lower = ranks.filter((other, i) => i !== at && other < rank).length;
    return lower >= MOST * (ranks.length - 1) ? { argument: null, kind: "risk", says: "" } : null;
  });
}
