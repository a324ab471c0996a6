import type { RequestId } from "../../core/model/ids.ts";

/** The reasons for which an open request gets no answer by itself. */
export type StuckRequestCause = "frozen" | "away" | "message_failed" | "nobody_reached" | "unanswered";

/** An open request that gets no answer by itself. */
export interface StuckRequest {
  cause: StuckRequestCause;
  requestId: RequestId;
  sentence: string;
  agent: string;
  /** The ids of the people who are asked. */
  people: readonly string[];
  /** When it was asked. */
  sinceMs: number;
  /** The channel of the message that was given up, and its error. */
  channel: string | null;
  error: string | null;
}

/** The message of a request on one channel. */
export interface MessageState {
  channel: string;
  state: "queued" | "sending" | "sent" | "closing" | "closed" | "failed" | "skipped";
  error: string | null;
}

/** The ways in which a person who is asked may learn of it. */
export interface Reach {
  isSignedIn: boolean;
  hasDevice: boolean;
  /** Away, and nobody stands in. */
  isAway: boolean;
}

const LATE_MS = 3_600_000;

/** Returns after how long an answer is late: after an hour, or half of the time that there is for it, in ms. */
export function lateAfter({ createdAt, expiresAt }: { createdAt: number; expiresAt: number }): number {
  return Math.min(LATE_MS, (expiresAt - createdAt) / 2);
}

const ON_THE_WAY: readonly MessageState["state"][] = ["queued", "sending"];
const ARRIVED: readonly MessageState["state"][] = ["sent", "closing", "closed"];

/**
 * Returns why an open request gets no answer by itself; null while it may. The first reason that holds is named: a
 * freeze, everybody away, a message that was given up where none arrived, nobody who could see it, a late answer.
 */
export function causeOfStuck(of: {
  isFrozen: boolean;
  isLate: boolean;
  people: readonly Reach[];
  messages: readonly MessageState[];
}): StuckRequestCause | null {
  const { isFrozen, isLate, people, messages } = of;
  if (isFrozen) return "frozen";
  if (people.length > 0 && people.every(({ isAway }) => isAway)) return "away";
  const has = (states: readonly MessageState["state"][]) => messages.some(({ state }) => states.includes(state));
  const hasArrived = has(ARRIVED) || people.some(({ hasDevice }) => hasDevice);
  if (!hasArrived && has(["failed"])) return "message_failed";
  const isSeen = hasArrived || has(ON_THE_WAY) || people.some(({ isSignedIn }) => isSignedIn);
  if (!isSeen && people.length > 0) return "nobody_reached";
  return isLate ? "unanswered" : null;
}
