import type { Context } from "../../context.ts";
import type { ListPosition } from "../../core/model/list-page.ts";
import type { PolicyCall } from "../model/policy-call.ts";
import type { Request } from "../model/request.ts";
import { yieldToEventLoop } from "../../lib/event-loop.ts";
import { ageOfNewest, listCallsSince } from "../store/recorded-calls.ts";

const PAGE = 50;
/** Others are served after so many. */
const CALLS_AT_ONCE = 20;

/** The recorded calls that are looked at. */
export interface RecordedSpan {
  /** How far back. */
  sinceMs: number;
  /** Only so many, the newest; left out, all. */
  most?: number;
  /** Gets the number of calls after each page. */
  onProgress?: (calls: number) => void;
}

/** A request about a function call. */
export type RecordedCall = Request & PolicyCall;

/** True for a function call, also one of a plan, and false for a plan itself. */
export function isCall(request: Request): request is RecordedCall {
  return request.form.kind === "approval" && request.form.calls === undefined;
}

/**
 * Returns what people decided about a call by itself; null where a rule, a permission or the agent itself did, where
 * nobody did, and in a plan.
 */
export function saidByPeople({ outcome, plan }: Request): boolean | null {
  if (plan !== undefined || outcome?.status !== "answered" || outcome.trace || outcome.by?.kind === "agent")
    return null;
  return outcome.approved ?? null;
}

/** Returns how far back the `most` newest calls of a span reach, and whether older ones are left out. */
export async function newestWithin(
  { db }: Pick<Context, "db">,
  { sinceMs, most }: RecordedSpan,
): Promise<{ sinceMs: number; more: boolean }> {
  const age = most === undefined ? sinceMs : await ageOfNewest(db, { sinceMs, most });
  return { sinceMs: age, more: age < sinceMs };
}

/** Gives each recorded call of a span, the oldest first. */
export async function* recordedCalls(
  { db }: Pick<Context, "db">,
  { sinceMs, onProgress }: Omit<RecordedSpan, "most">,
): AsyncGenerator<RecordedCall, void> {
  let calls = 0;
  let after: ListPosition | undefined;
  for (;;) {
    const page = await listCallsSince(db, { sinceMs, ...(after && { after }), limit: PAGE });
    for (const request of page.filter(isCall)) {
      calls += 1;
      if (calls % CALLS_AT_ONCE === 0) await yieldToEventLoop();
      yield request;
    }
    onProgress?.(calls);
    const last = page.at(-1);
    if (page.length < PAGE || !last) return;
    after = { at: last.createdAt, id: last.id };
  }
}
