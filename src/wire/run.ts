/** The timeline of one run of an agent, as one person may read it (spec/a2h 25). */
import { z } from "zod";
import { CALL_OUTCOME_STATES } from "../requests/model/call-outcome.ts";
import { RUN_EVENTS } from "../requests/model/run.ts";
import { WireDecidedBy } from "./inbox.ts";
import { nextField } from "./page.ts";

const orNull = z.string().nullable();

export const WireRunEntry = z
  .object({
    id: z.string().describe("Its place in the timeline: `before` of the entries that are older"),
    at: z.string(),
    kind: z.enum(RUN_EVENTS),
    by: WireDecidedBy.nullable().describe("Who did it; null for time that ran out, and for the server"),
    mine: z.boolean().describe("Whoever reads this did it"),
    ask: z
      .object({
        id: z.string().describe("Its card; that of the plan for a call of a plan"),
        kind: z.enum(["approval", "reply", "value"]),
        agent: z.string(),
        title: z.string().describe("The sentence of a call, else the title, in the language of `Accept-Language`"),
      })
      .nullable()
      .describe("Null for a freeze, and for a note that was written at the task"),
    state: z
      .enum(CALL_OUTCOME_STATES)
      .nullable()
      .describe("Of `outcome`; `not_reported` of an `approved` call whose agent reports nothing; else null"),
    text: orNull.describe("The words of whoever did it, such as a comment, an answer, or a reason"),
  })
  .meta({ id: "RunEntry", description: "One thing that happened in a run of an agent." });
export type WireRunEntry = z.output<typeof WireRunEntry>;

export const WireRun = z
  .object({ entries: z.array(WireRunEntry).describe("The newest first"), next: nextField })
  .meta({ id: "Run", description: "One page of the timeline of a run: of the asks that this person may read alone." });
export type WireRun = z.output<typeof WireRun>;
