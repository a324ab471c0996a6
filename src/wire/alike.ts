/** Permissions for calls like one in the inbox (docs/how-to/fewer-prompts.md). */
import { z } from "zod";

export const WireAlike = z
  .object({
    patterns: z
      .array(
        z.object({
          id: z.string().describe("A decision names the pattern by this."),
          says: z.string().describe("What the pattern covers, in full"),
          covered: z
            .object({ calls: z.int(), approved: z.int(), rejected: z.int() })
            .describe("What it covers of the last seven days, and what people decided about these"),
        }),
      )
      .describe("The narrowest first"),
    has_run: z.boolean().describe("The call names its session, to which a pattern can be bound"),
  })
  .meta({ id: "Alike", description: "What an admin may allow beside a call, so that people are not asked again." });
export type WireAlike = z.output<typeof WireAlike>;
