import type { z } from "zod";

/** Returns what a route says of a reply that is JSON. */
export function jsonReply(schema: z.ZodType, description = "Default Response"): object {
  return { description, content: { "application/json": { schema } } };
}
