import { z } from "zod";

/** Returns what a route says of a reply that is JSON. */
export function jsonReply(schema: z.ZodType, description = "Default Response"): object {
  return { description, content: { "application/json": { schema } } };
}

/** Returns what a route says of its replies: by status in words, and of those that succeed with a body by its schema. */
export function repliesOf(
  words: Readonly<Record<number, string>>,
  schema: z.ZodType | undefined,
): Readonly<Record<string, object>> {
  const replies = Object.entries(words).map(([status, description]) => {
    const isJson = schema !== undefined && status.startsWith("2") && status !== "204";
    return [status, isJson ? jsonReply(schema, description) : z.unknown().meta({ description })] as const;
  });
  return Object.fromEntries(replies);
}
