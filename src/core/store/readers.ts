import type { QuestionId } from "../model/ids.ts";
import type { Clock } from "../../lib/clock.ts";

/** A hint, kept in memory: who has opened which question lately. It orders one page of a feed and decides nothing. */
export interface Readers {
  /** Notes that `viewer` has opened the question; once per viewer. */
  opened(questionId: QuestionId, viewer: string): void;
  /** How many others opened it within the last 180 s. */
  othersOn(questionId: QuestionId, viewer: string): number;
}

const REMEMBERED_MS = 180_000;
const MOST_QUESTIONS = 10_000;

export function openReaders(clock: Clock): Readers {
  const viewers = new Map<string, Map<string, number>>();

  return {
    opened(questionId, viewer) {
      let on = viewers.get(questionId);
      if (!on) {
        const oldest = viewers.size >= MOST_QUESTIONS ? viewers.keys().next().value : undefined;
        if (oldest !== undefined) viewers.delete(oldest);
        viewers.set(questionId, (on = new Map()));
      }
      if (!on.has(viewer)) on.set(viewer, clock.monotonic());
    },
    othersOn(questionId, viewer) {
      const on = viewers.get(questionId);
      if (!on) return 0;
      const since = clock.monotonic() - REMEMBERED_MS;
      for (const [who, at] of on) if (at < since) on.delete(who);
      if (on.size === 0) viewers.delete(questionId);
      return on.size - (on.has(viewer) ? 1 : 0);
    },
  };
}
