/** One request of an agent, as figures count it. */
export interface CountedRequest {
  state: "open" | "answered" | "expired" | "cancelled";
  /** Null where it is no approval, or nobody decided. */
  approved: boolean | null;
  /** From asking to its end; null while it is open. */
  waitMs: number | null;
}

/** The figures of an agent's newest requests. */
export interface AskerFigures {
  /** How many requests they count. */
  of: number;
  approved: number;
  rejected: number;
  /** The median wait of those that were answered; null where none was. */
  medianWaitMs: number | null;
}

/** Returns the figures of these requests. */
export function figuresOf(requests: readonly CountedRequest[]): AskerFigures {
  const answered = requests.filter(({ state }) => state === "answered");
  const waits = answered.flatMap(({ waitMs }) => waitMs ?? []).toSorted((one, other) => one - other);
  return {
    of: requests.length,
    approved: answered.filter(({ approved }) => approved === true).length,
    rejected: answered.filter(({ approved }) => approved === false).length,
    medianWaitMs: waits.length === 0 ? null : median(waits),
  };
}

function median(sorted: readonly number[]): number {
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : Math.round(((sorted[middle - 1] ?? upper) + upper) / 2);
}
