import type { RepoName } from "./run-site.ts";

/** What became of a request, as whoever sent it knows it. */
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

/** What a person said of finished work, and at which door. */
export interface Reviewing extends Op {
  attempt: number;
  verdict: "approve" | "request_changes" | "reject";
  /** The ask in whose place it was said; null for the review of the task itself. */
  ask: string | null;
  status: number;
}

/** What a person decided of what an agent asked. */
export interface Deciding {
  ask: string;
  said: Readonly<Record<string, unknown>>;
  known: Known;
}

/** What the clients of one story were told. */
export interface Ledger {
  submissions: Submission[];
  cancellings: Cancelling[];
  reviews: Reviewing[];
  decisions: Deciding[];
}

export const openLedger = (): Ledger => ({ submissions: [], cancellings: [], reviews: [], decisions: [] });

/** Returns what a status means for what was asked; whoever is told to come again knows nothing. */
export function knownBy(status: number | undefined): Known {
  if (status === undefined || [408, 429, 503].includes(status)) return "unknown";
  return status < 300 ? "acknowledged" : "refused";
}
