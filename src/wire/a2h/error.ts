/** Refusals at the doors of A2H (spec/a2h 3.1). */
import { z } from "zod";

export const WireA2hProblem = z
  .object({ loc: z.array(z.union([z.string(), z.int()])), msg: z.string(), type: z.string() })
  .meta({ id: "A2hProblem", description: "A problem of one field." });
export type WireA2hProblem = z.output<typeof WireA2hProblem>;

export const WireA2hError = z
  .object({
    error: z.looseObject({ code: z.string(), message: z.string() }),
    detail: z.union([z.string(), z.array(WireA2hProblem)]).optional(),
  })
  .meta({ id: "A2hError" });
export type WireA2hError = z.output<typeof WireA2hError>;
