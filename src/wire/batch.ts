/** Several waiting calls beside one another, decisions about them at once, and the undo of decisions. */
import { z } from "zod";
import { text } from "./fields.ts";
import { WireArgumentRow, WireAskToPeople } from "./inbox.ts";

const orNull = z.string().nullable();
const { sentence, risk, risk_reasons, state } = WireAskToPeople.shape;

const mark = z
  .object({
    argument: orNull.describe("Where it stands out; null for the call as a whole"),
    kind: z
      .enum(["risk", "amount", "highest", "receiver", "place", "missing", "added", "unlike"])
      .describe(
        "`risk`: higher than that of the others; `amount`: far from theirs; `highest`: the highest, though not far from theirs; `receiver`: another host; `place`: outside of their folder; `missing` and `added`: an argument; `unlike`: another value, form or length",
      ),
    says: z.string().describe("What the others have; empty where this has no short words"),
  })
  .meta({ id: "BatchMark", description: "One way in which a call stands out of those beside it." });

export const WireBatch = z
  .object({
    agent: z.string(),
    principal: z.string().describe("The agent, as a freeze names it"),
    fn: z.string(),
    arguments: z.array(WireArgumentRow).describe("Those that are the same in each call"),
    differing: z.array(z.string()).describe("The names of all others, those that matter most first"),
    calls: z
      .array(
        z.object({
          id: z.string(),
          digest: z.string(),
          sentence,
          risk,
          risk_reasons,
          created_at: z.string(),
          expires_at: orNull,
          arguments: z.array(WireArgumentRow).describe("Those that differ, as far as this call has them"),
          marks: z.array(mark).describe("What stands out of the others; empty where there are fewer than three calls"),
          alone: z
            .enum(["secret", "long", "decided", "not_asked"])
            .nullable()
            .describe("Why it cannot be decided with the others; null where it can"),
        }),
      )
      .describe("The first to be due first"),
    more: z.boolean().describe("More of them wait than are shown"),
  })
  .meta({ id: "Batch", description: "The calls of one agent and function that wait for the signed-in person." });
export type WireBatch = z.output<typeof WireBatch>;

export const BatchDecisionBody = z
  .object({
    approved: z.boolean(),
    comment: text(0, 5000).optional(),
    calls: z
      .array(z.object({ id: text(1, 200), digest: text(1, 100).describe("The digest that was shown.") }))
      .min(1)
      .max(200)
      .describe("Each call once."),
  })
  .meta({ id: "BatchDecision" });
export type BatchDecisionBody = z.output<typeof BatchDecisionBody>;

export const WireDecidedBatch = z
  .object({
    calls: z.array(
      z.object({
        id: z.string(),
        state,
        until: orNull.describe("Until when I can undo it, while it has not left; null where it has"),
      }),
    ),
  })
  .meta({ id: "DecidedBatch", description: "The calls that were decided, as they are then." });
export type WireDecidedBatch = z.output<typeof WireDecidedBatch>;

export const UndoBody = z
  .object({ asks: z.array(text(1, 200)).min(1).max(200).describe("The asks whose decision I take back.") })
  .meta({ id: "Undo" });
export type UndoBody = z.output<typeof UndoBody>;

export const WireUndone = z
  .object({
    asks: z.array(
      z.object({
        id: z.string(),
        undone: z.boolean().describe("False where the decision had left, or nothing was pressed"),
        state,
      }),
    ),
  })
  .meta({ id: "Undone", description: "The asks as they are after an undo." });
export type WireUndone = z.output<typeof WireUndone>;
