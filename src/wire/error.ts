/** Refusals, as they travel. */
import { z } from "zod";

/** A refusal, as most doors print it. */
export const ErrorBody = z
  .object({
    error: z.object({ code: z.string(), message: z.string(), details: z.record(z.string(), z.unknown()).optional() }),
  })
  .meta({ id: "Error" });

/** A refusal at the doors of executors and coding agents. */
export const WireWorkError = z
  .object({ error: z.object({ code: z.string(), message: z.string(), details: z.unknown().optional() }) })
  .meta({ id: "WorkError" });
export type WireWorkError = z.output<typeof WireWorkError>;

export const NoContent = z.null().meta({ description: "Nothing more to say" });
