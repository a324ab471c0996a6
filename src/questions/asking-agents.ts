import type { Context } from "../context.ts";
import { listDistinctAskers } from "../core/store/distinct-askers.ts";
import { findNewestAndOpen } from "./store/unanswered.ts";

/** Returns up to `limit` principals that ever asked the crowd, by name, after `after`. */
export async function listAskersOfCrowd(
  { db }: Pick<Context, "db">,
  page: { after: string; limit: number },
): Promise<string[]> {
  return listDistinctAskers(db, "questions", page);
}

/** Returns when an agent asked the crowd last, and how many of its questions wait. */
export async function readCrowdAsker(
  { db }: Pick<Context, "db">,
  asker: string,
): Promise<{ askedAt: number | null; waiting: number }> {
  return findNewestAndOpen(db, asker);
}
