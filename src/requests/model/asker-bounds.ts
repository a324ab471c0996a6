/** The requests of one asker: those that are open, and those of the last minute. */
export interface RequestCounts {
  open: number;
  recent: number;
}

/**
 * The most that each asker can have open and can have asked within a minute, kept in memory by the only process that
 * stores requests. It is never below the true counts: a request raises both, and nothing but a count lowers them. So
 * most requests need no count.
 */
export interface AskerBounds {
  /** Counts one more request, and returns whether the asker is below both limits without a count of the rows. */
  admits(asker: string, limits: RequestCounts): boolean;
  /** Counts one more request of an asker whose requests were counted just now. */
  counted(asker: string, counts: RequestCounts): void;
}

const MOST_ASKERS = 10_000;

export function openAskerBounds(): AskerBounds {
  const bounds = new Map<string, { open: number; recent: number }>();
  return {
    admits(asker, limits) {
      const bound = bounds.get(asker);
      if (!bound) return false;
      const isBelow = bound.open < limits.open && bound.recent < limits.recent;
      bound.open += 1;
      bound.recent += 1;
      return isBelow;
    },
    counted(asker, { open, recent }) {
      const oldest = bounds.size >= MOST_ASKERS ? bounds.keys().next().value : undefined;
      if (oldest !== undefined && !bounds.has(asker)) bounds.delete(oldest);
      bounds.set(asker, { open: open + 1, recent: recent + 1 });
    },
  };
}
