import type { ListPosition } from "./list-page.ts";

/** The ones who may end what was asked: `nobody` is a deadline or a failure, `withdrawn` the asker. */
export const DECIDERS = ["people", "rule", "model", "nobody", "withdrawn"] as const;
export type EndedBy = (typeof DECIDERS)[number];

/** The kinds of what is asked: of the crowd, of named people, by an executor. */
export const DECISION_KINDS = ["question", "request", "ask"] as const;
export type DecisionKind = (typeof DECISION_KINDS)[number];

/** One thing that was asked, and who ended it; null for what is not known while it waits. */
export interface DecisionLine {
  id: string;
  kind: DecisionKind;
  by: EndedBy | null;
  sentence: string;
  agent: string;
  result: string | null;
  createdAt: number;
  endedAt: number | null;
  jobId: string | null;
}

/** Decisions that ended from `fromMs` on and before `untilMs`, of one agent, by one kind of decider. */
export interface DecisionFilter {
  fromMs?: number | undefined;
  untilMs?: number | undefined;
  agent?: string | undefined;
  by?: EndedBy | undefined;
  kind?: DecisionKind | undefined;
  isWaiting?: boolean | undefined;
}

export interface DecisionPlace {
  after?: ListPosition;
  limit: number;
}
