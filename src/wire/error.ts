import { z } from "zod";

/** A refusal, as most doors print it. */
export const ErrorBody = z
  .object({
    error: z.object({ code: z.string(), message: z.string(), details: z.record(z.string(), z.unknown()).optional() }),
  })
  .meta({ id: "Error" });

export const NoContent = z.null().meta({ description: "Nothing more to say" });
