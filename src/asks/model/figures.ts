import type { AnswerSource, Stage } from "./ask.ts";

/** The answerers that metrics distinguish. A service counts as people, because both are asked. */
export type AnsweredBy = "policy" | "cache" | "runner" | "people" | "nobody";

/** The asks that ended within one minute, counted. */
export interface MinuteFigures {
  /** When the minute began. */
  at: number;
  /** How many asks ended in each stage; stages without any are absent. */
  stages: Readonly<Partial<Record<Stage, number>>>;
  /** How many each answered; absent where none. */
  by: Readonly<Partial<Record<AnsweredBy, number>>>;
  /** The time within which 95 of 100 answers of machines came; people take as long as they take. Null without any. */
  p95Ms: number | null;
}

const OF_SOURCE: Readonly<Record<AnswerSource, AnsweredBy>> = {
  policy: "policy",
  cache: "cache",
  runner: "runner",
  person: "people",
  service: "people",
  server: "nobody",
};
const MACHINES: ReadonlySet<AnswerSource> = new Set(["policy", "cache", "runner"]);

/** Returns the figures of a minute in which these asks ended. */
export function figuresOf(
  at: number,
  ended: readonly { stage: Stage; source: AnswerSource; ms: number }[],
): MinuteFigures {
  const stages: Partial<Record<Stage, number>> = {};
  const by: Partial<Record<AnsweredBy, number>> = {};
  const times: number[] = [];
  for (const { stage, source, ms } of ended) {
    stages[stage] = (stages[stage] ?? 0) + 1;
    const who = OF_SOURCE[source];
    by[who] = (by[who] ?? 0) + 1;
    if (MACHINES.has(source)) times.push(ms);
  }
  times.sort((one, other) => one - other);
  return { at, stages, by, p95Ms: times[Math.ceil(times.length * 0.95) - 1] ?? null };
}
