/** Earlier decisions on the function of a call, as the inbox shows them (docs/how-to/inbox.md). */
import { z } from "zod";
import { WireDecidedBy } from "./inbox.ts";

const orNull = z.string().nullable();

const change = z
  .object({
    name: z.string(),
    kind: z.enum(["added", "removed", "changed"]).describe("Of the present call, compared with the earlier one"),
    before: orNull.describe("Its JSON in the earlier call; null where it has none, or the value is hidden"),
    now: orNull.describe("The same of the present call"),
    words: z
      .array(z.object({ kind: z.enum(["same", "before", "now"]), text: z.string() }))
      .nullable()
      .describe("Both word by word: two texts, or the JSON of two lists or objects; else null"),
    hidden: z
      .enum(["secret", "long"])
      .nullable()
      .describe("`secret`: masked, or left out where its characters are not known; `long`: left out"),
  })
  .meta({ id: "ArgumentChange", description: "An argument in which two calls of one function differ." });

export const WirePrecedents = z
  .object({
    precedents: z
      .array(
        z.object({
          id: z.string(),
          sentence: z.string().describe("The call as it ran, in the language of `Accept-Language`"),
          approved: z.boolean(),
          edited: z.boolean().describe("The approval changed arguments: what ran is compared"),
          by: WireDecidedBy.nullable(),
          mine: z.boolean(),
          at: z.string(),
          comment: orNull,
          changes: z.array(change).describe("The arguments that differ now, those that matter most first"),
          more: z.int().describe("So many more arguments differ"),
        }),
      )
      .describe("At most three, the newest first; empty also for an ask that is no call"),
  })
  .meta({
    id: "Precedents",
    description: "What people decided before on calls of the same agent and function that this person may read.",
  });
export type WirePrecedents = z.output<typeof WirePrecedents>;
