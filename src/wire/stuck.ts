/** Bodies of the report of what is stuck, for admins, and of a reminder. */
import { z } from "zod";
import { CAUSES, STUCK_KINDS } from "../stuck/model/causes.ts";

const orNull = z.string().nullable();

export const WireStuckItem = z
  .object({
    kind: z.enum(STUCK_KINDS),
    id: z.string(),
    sentence: orNull,
    agent: orNull,
    people: z.array(z.object({ id: z.string(), name: z.string() })).describe("Who is asked."),
    since: orNull,
    channel: orNull,
    error: orNull,
  })
  .meta({ id: "StuckItem", description: "Something that waits and will not end by itself." });
export type WireStuckItem = z.output<typeof WireStuckItem>;

export const WireStuckReport = z
  .object({
    at: z.string(),
    running: z.int().describe("Approved calls that have begun and not ended."),
    more_open: z
      .boolean()
      .describe("More requests are open than the 500 that were looked at, the soonest deadline first."),
    causes: z.array(
      z.object({
        cause: z.enum(CAUSES),
        count: z.int(),
        items: z.array(WireStuckItem).describe("The first 20."),
      }),
    ),
  })
  .meta({ id: "StuckReport", description: "What is stuck now, by its cause." });
export type WireStuckReport = z.output<typeof WireStuckReport>;

export const WireReminded = z
  .object({ told: z.int().describe("How many people were told; 0 within a minute of the last time.") })
  .meta({ id: "Reminded" });
export type WireReminded = z.output<typeof WireReminded>;
