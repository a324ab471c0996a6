import type { Context } from "../context.ts";
import { listUnanswered, type UnansweredQuestion } from "./store/unanswered.ts";

/**
 * Returns up to `limit` open questions that nobody has answered within an hour, or half of their time, and how many there
 * are.
 */
export async function readUnanswered(
  ctx: Pick<Context, "db">,
  limit: number,
): Promise<{ questions: UnansweredQuestion[]; count: number }> {
  return listUnanswered(ctx.db, limit);
}
