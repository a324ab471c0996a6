import type { RepoName } from "./run-site.ts";

/** The result of a request, as its sender knows it. */
type Known = "acknowledged" | "refused" | "unknown";

interface Op {
  repo: RepoName;
  id: string;
  known: Known;
  /** When it was sent first; and when its reply had come, never for what is unknown, which may arrive at any time. */
  from: number;
  to: number;
}

/** A task that was given. */
export interface Submission extends Op {
  token: string;
}

/** A task that was taken back. */
export type Cancelling = Op;

/** A person's review of finished work, and the endpoint that it was sent to. */
export interface Reviewing extends Op {
  attempt: number;
  verdict: "approve" | "request_changes" | "reject";
  /** The ask that it answers; null for the review of the task itself. */
  ask: string | null;
  status: number;
}

/** A person's decision on an agent's ask. */
export interface Deciding {
  ask: string;
  said: Readonly<Record<string, unknown>>;
  known: Known;
}

/** The replies that the clients of one story got. */
export interface Ledger {
  submissions: Submission[];
  cancellings: Cancelling[];
  reviews: Reviewing[];
  decisions: Deciding[];
}

export const openLedger = (): Ledger => ({ submissions: [], cancellings: [], reviews: [], decisions: [] });

/** Returns the result of a request by its status. A status that asks the client to come again leaves it unknown. */
export function knownBy(status: number | undefined): Known {
  if (status === undefined || [408, 429, 503].includes(status)) return "unknown";
  return status < 300 ? "acknowledged" : "refused";
}
