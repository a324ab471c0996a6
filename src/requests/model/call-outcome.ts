import { Refusal } from "../../refusals.ts";
import type { PromisedReports, Request } from "./request.ts";

/** How an approved call ended, as its agent reports it; a report that the agent can send. */
export const REPORTS = ["done", "failed", "withdrawn"] as const;

/**
 * The life of an approved call after its approval (spec/a2h 24). `awaited`: its agent promised reports and has sent none.
 * `started`: a run has it. The others are ends; of these a later report replaces `unknown` and `not_reported`.
 */
export const CALL_OUTCOME_STATES = ["awaited", "started", ...REPORTS, "unknown", "not_run", "not_reported"] as const;
export type CallOutcomeState = (typeof CALL_OUTCOME_STATES)[number];

/** The outcome of an approved call, as far as its agent or its door has said. */
export interface CallOutcome {
  state: CallOutcomeState;
  /** Since when; store's clock. */
  at: number;
  /** When it ends without a further report; null where nothing ends it so. */
  dueAt: number | null;
  /** The run of the agent that has the call; null while none said so. */
  run: string | null;
  /** `sha256:…` of the result. */
  resultDigest: string | null;
  /** The agent's words about the end, without secrets. */
  words: string | null;
}

/** A report of an agent that a run of it has the call from now on. */
export interface StartReport {
  state: "started";
  run: string;
}

/** A report of an agent about the end of a call. */
export interface OutcomeReport {
  state: (typeof REPORTS)[number];
  resultDigest?: string;
  words?: string;
}

/** A report of this server's own executor about a call that it has started: its agent says that it did not run it. */
export interface NotRunReport {
  state: "not_run";
}

/** The time that a start or an end may take to be reported. */
export const REPORT_WITHIN_MS = 3_600_000;
/** A start that was in time is committed by then. */
const LATE_COMMIT_MS = 10_000;

/** The most code points of an agent's words about an end. */
export const MOST_OUTCOME_WORDS = 500;

const NOTHING_SAID = { dueAt: null, run: null, resultDigest: null, words: null } as const;

/** Returns the reports that a door promises for a request that it makes. */
const promisedReports = ({ wire }: Pick<Request, "wire">): PromisedReports =>
  (wire["reports"] as PromisedReports | undefined) ?? "none";

/**
 * Returns the reports that are promised of a call that is approved now. Each call of a plan has its start taken on the
 * server. A plan itself is no call.
 */
export function reportsOf({ wire, plan, form }: Pick<Request, "wire" | "plan" | "form">): PromisedReports | undefined {
  if (form.kind !== "approval" || form.calls !== undefined) return undefined;
  const promised = promisedReports({ wire });
  return plan !== undefined && promised !== "door" ? "start" : promised;
}

/** Returns the first outcome of a call that was approved; null where its agent promised no report. */
export function firstOutcome(over: Request, now: number): CallOutcome | null {
  const { outcome } = over;
  if (outcome?.approved !== true || outcome.reports === undefined || outcome.reports === "none") return null;
  return awaitedOutcome(now, reportDueAt(over, outcome.reports, now));
}

/** Returns the outcome of a call that has just been approved, whose agent promised a report by a time. */
export function awaitedOutcome(now: number, dueAt = now + REPORT_WITHIN_MS): CallOutcome {
  return { ...NOTHING_SAID, state: "awaited", at: now, dueAt };
}

/** Returns the outcome of a call that was approved at a time, and about which nothing was promised. */
export function unreportedOutcome(at: number): CallOutcome {
  return { ...NOTHING_SAID, state: "not_reported", at };
}

/** A call of a plan starts before the deadline of the plan, and one of a door within the door's own time after the deadline. */
function reportDueAt({ wire, plan, expiresAt }: Request, reports: PromisedReports, now: number): number {
  if (reports === "door") return expiresAt + Number(wire["starts_after_ms"]) + LATE_COMMIT_MS;
  return plan === undefined ? now + REPORT_WITHIN_MS : expiresAt + LATE_COMMIT_MS;
}

/**
 * Returns the outcome of a call that a run starts: the former one if that run has it already.
 *
 * @throws {Refusal} `outcome_known` for a call that another run has, or that has ended: this run would be another one
 */
export function startedOutcome(former: CallOutcome, run: string, now: number): CallOutcome {
  const { state, at } = former;
  if (state === "started" && former.run === run) return former;
  if (state !== "awaited" && state !== "not_reported") throw new Refusal("outcome_known", { state, at });
  return { ...NOTHING_SAID, state: "started", at: now, dueAt: now + REPORT_WITHIN_MS, run };
}

/**
 * Returns what became of a call, from the stored outcome; null for a request that approves no call, and for an approval
 * that was made before there were reports.
 */
export function outcomeOf({ outcome, settledAt }: Request, stored: CallOutcome | undefined): CallOutcome | null {
  if (outcome?.approved !== true || outcome.reports === undefined) return null;
  return stored ?? unreportedOutcome(settledAt ?? 0);
}

/**
 * Returns the same at a time: the end of a time without a report counts, also before it is stored. The time for a start
 * stands still while its agent is frozen.
 */
export function outcomeAt(
  request: Request,
  stored: CallOutcome | undefined,
  at: { now: number; isFrozen: boolean },
): CallOutcome | null {
  const outcome = outcomeOf(request, stored);
  return outcome && dueOutcome(request.outcome?.reports, outcome, at);
}

/** Returns an outcome at a time, by the reports that were promised of its call. */
export function dueOutcome(
  reports: PromisedReports | undefined,
  outcome: CallOutcome,
  { now, isFrozen }: { now: number; isFrozen: boolean },
): CallOutcome {
  if (reports === undefined || outcome.dueAt === null || now < outcome.dueAt) return outcome;
  if (isFrozen && outcome.state === "awaited") return outcome;
  return givenUp(reports, outcome, outcome.dueAt);
}

/** Returns the outcome of a call whose time for a report is over: only a start that the server gives away is known not to be. */
function givenUp(reports: PromisedReports, { state, ...stored }: CallOutcome, at: number): CallOutcome {
  const isUnstarted = state === "awaited" && (reports === "start" || reports === "door");
  return { ...stored, state: isUnstarted ? "not_run" : "unknown", at, dueAt: null };
}

/**
 * Returns the outcome after a report: the former one if it says the same. A report replaces an end that nobody reported.
 *
 * @throws {Refusal} `outcome_known` where the end is another one, `outcome_started` for a withdrawal of a call that has
 *   started
 */
export function reported(
  former: CallOutcome,
  report: OutcomeReport | StartReport | NotRunReport,
  now: number,
): CallOutcome {
  if (report.state === "started") return startedOutcome(former, report.run, now);
  const { state, resultDigest = null, words = null } = report.state === "not_run" ? { state: report.state } : report;
  if (former.state === state && former.resultDigest === resultDigest && former.words === words) return former;
  const { run } = former;
  const next: CallOutcome = { state, at: now, dueAt: null, run, resultDigest, words };
  switch (former.state) {
    case "awaited":
    case "not_reported":
      return next;
    case "started":
    case "unknown":
      if (state === "withdrawn") throw new Refusal("outcome_started", { state: former.state });
      return next;
    case "done":
    case "failed":
    case "withdrawn":
    case "not_run":
      throw new Refusal("outcome_known", { state: former.state, at: former.at });
  }
}
