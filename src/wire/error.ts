/** What the doors decline with at which executors and coding agents work. */
import { z } from "zod";

export const WireWorkError = z
  .object({ error: z.object({ code: z.string(), message: z.string(), details: z.unknown().optional() }) })
  .meta({ id: "WorkError" });
export type WireWorkError = z.output<typeof WireWorkError>;
