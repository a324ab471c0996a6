/** Decisions, by whom and when: the rows and the numbers that admins read (docs/how-to/console.md). */
import { z } from "zod";
import { DECIDERS, DECISION_KINDS } from "../core/model/decision-line.ts";
import { wireMoment } from "./time.ts";

export const ACTIVITY_SPANS = ["day", "week", "month"] as const;

const kind = z
  .enum(DECISION_KINDS)
  .describe("A question to the crowd, a request to named people, or the ask of an executor.");
const by = z
  .enum(DECIDERS)
  .describe(
    "The one who ended it: `rule` is a rule, grant or cached decision; `model` also a service; `nobody` is expired or failed.",
  );

export const WireDecisionLine = z
  .object({
    id: z.string(),
    kind,
    state: z.enum(["waiting", "ended"]),
    by: by.optional().describe("Absent while it waits."),
    sentence: z.string().describe("One sentence: the title of a request, or the beginning of a prompt."),
    agent: z.string().describe("The one who asked."),
    result: z
      .string()
      .optional()
      .describe("How it ended, as its kind calls it: `approved`, `answered`, `REJECTED`; absent while it waits."),
    created_at: wireMoment,
    ended_at: wireMoment.optional(),
    wait_ms: z.int().optional().describe("From its creation to its end."),
    job_id: z.string().optional().describe("The job of an executor's ask."),
  })
  .meta({ id: "DecisionLine", description: "One thing that was asked, and who ended it." });
export type WireDecisionLine = z.output<typeof WireDecisionLine>;

export const WireActivityPage = z
  .object({
    items: z.array(WireDecisionLine),
    next: z.string().nullable().describe("`cursor` of the next page; null after the last."),
    total: z.int().optional().describe("The rows of all pages, for a filter that has `from`, or of what waits."),
    at: wireMoment.describe("The time of the reading: the end of the period where `until` is absent."),
  })
  .meta({ id: "ActivityPage", description: "What was decided, newest first." });
export type WireActivityPage = z.output<typeof WireActivityPage>;

const counts = z
  .object({
    people: z.int(),
    rule: z.int(),
    model: z.int(),
    nobody: z.int(),
    withdrawn: z.int(),
  })
  .meta({ id: "DecisionCounts", description: "How many decisions each made." });

export const WireActivityHours = z
  .object({
    span: z.enum(ACTIVITY_SPANS),
    at: wireMoment.describe("The time of the reading, which ends the last bar."),
    from: wireMoment.describe("The beginning of the period: what ended at it or later counts."),
    step_ms: z.int().describe("The length of a bar; the last one may be shorter."),
    bars: z
      .array(z.object({ from: wireMoment, until: wireMoment, counts }))
      .describe("Every bar of the period, the oldest first, also the empty ones; `until` is exclusive."),
    counts: counts.describe("The sums of the period."),
    before: z
      .object({ from: wireMoment, until: wireMoment, counts })
      .describe("The sums of the period of the same length before it."),
    waits: z
      .object({ median_ms: z.int().nullable(), p95_ms: z.int().nullable() })
      .describe("The waits of what people decided in the period, exact; null where they decided nothing."),
    waiting: z.int().describe("What waits now."),
  })
  .meta({ id: "ActivityHours", description: "How many decisions were made, by time and by whom." });
export type WireActivityHours = z.output<typeof WireActivityHours>;
