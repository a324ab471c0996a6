/** The words of decisions by time, and of the list that each number opens. */
import type { ActivityHours, DecisionLine } from "@parley/sdk/admin";
import { count, duration, number } from "../../format.ts";

type By = NonNullable<DecisionLine["by"]>;

export const text = {
  failed: "The numbers could not be loaded",
  listFailed: "The list could not be loaded",
  span: "Time",
  spans: { day: "24 hours", week: "7 days", month: "30 days" } satisfies Record<ActivityHours["span"], string>,
  by: {
    people: "People",
    rule: "Rules",
    model: "Models",
    nobody: "Nobody in time",
    withdrawn: "Withdrawn",
  } satisfies Record<By, string>,
  kinds: { question: "Question to all", request: "Request", ask: "Ask of an executor" } satisfies Record<
    DecisionLine["kind"],
    string
  >,
  results: {
    approved: "approved",
    rejected: "rejected",
    answered: "answered",
    expired: "not in time",
    cancelled: "withdrawn",
    ANSWERED: "answered",
    REJECTED: "rejected",
    TIMEOUT: "not in time",
    ERROR: "failed",
  } as Readonly<Record<string, string>>,
  before: (n: number) => `${number(n)} in the time before`,
  total: (n: number) => `${count(n, "decision", "decisions")}.`,
  waits: (medianMs: number, p95Ms: number) =>
    `Half of those by people took at most ${duration(medianMs)}, 95 % at most ${duration(p95Ms)}.`,
  waiting: (n: number) => (n === 0 ? "Nothing waits now." : `${number(n)} ${n === 1 ? "waits" : "wait"} now`),
  chart: "Decisions by time",
  table: "As a table",
  from: "From",
  activity: "Activity",
  all: "All",
  filterBy: "Decided by",
  filterKind: "Kind",
  filterState: "State",
  states: { ended: "Ended", waiting: "Waiting" },
  agentOnly: (agent: string) => `Of ${agent}`,
  between: (from: string, until: string) => `From ${from} until ${until}`,
  anyTime: "At any time",
  rows: (n: number) => `${count(n, "row", "rows")}.`,
  none: "Nothing of this kind.",
  took: (ms: number) => `after ${duration(ms)}`,
  waitsSince: (ms: number) => `waits ${duration(ms)}`,
};

export type TodayTexts = typeof text;
