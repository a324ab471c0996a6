/** Why something is stuck, in the order in which causes are listed. */
export const CAUSES = [
  "frozen",
  "policy_stale",
  "channel_failing",
  "message_failed",
  "nobody_reached",
  "away",
  "outcome_unknown",
  "webhook_failing",
  "unanswered",
  "question_unanswered",
  "job_unclaimed",
] as const;
export type StuckCause = (typeof CAUSES)[number];

/** The kinds of things that can be stuck. */
export const STUCK_KINDS = ["request", "ask", "question", "job", "channel", "webhook", "policy"] as const;

/** Something that waits and will not end by itself. */
export interface StuckItem {
  cause: StuckCause;
  kind: (typeof STUCK_KINDS)[number];
  /** A channel's is its name. */
  id: string;
  sentence: string | null;
  /** The principal that asks. */
  agent: string | null;
  /** The ids of the people who are asked. */
  people: readonly string[];
  /** Null where it is not known. */
  sinceMs: number | null;
  channel: string | null;
  error: string | null;
}

/** The things of one cause: how many there are, and the first of them. */
export interface StuckGroup {
  cause: StuckCause;
  count: number;
  items: readonly StuckItem[];
}

/** Everything that is stuck at one time of the store's clock. */
export interface StuckReport {
  atMs: number;
  /** How many approved calls have begun and not ended. */
  running: number;
  /** More requests are open than were looked at. */
  isPart: boolean;
  causes: readonly StuckGroup[];
  /** The names of the people, by id. */
  names: ReadonlyMap<string, string>;
}

/** The policy file, as far as something may be stuck by it. */
export interface PolicyState {
  /** The fault of the file; null while it has none. */
  problem: string | null;
}

/**
 * Groups things by their cause, in the order of `CAUSES`, with at most so many named of each. A cause counts its things,
 * unless its count is given because not all of them were read.
 */
export function causesOf(
  items: readonly StuckItem[],
  { counts, mostNamed }: { counts: Partial<Record<StuckCause, number>>; mostNamed: number },
): StuckGroup[] {
  return CAUSES.flatMap((cause) => {
    const of = items.filter((item) => item.cause === cause);
    if (of.length === 0) return [];
    return [{ cause, count: Math.max(of.length, counts[cause] ?? 0), items: of.slice(0, mostNamed) }];
  });
}
