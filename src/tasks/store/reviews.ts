import type { LineComment, Review, ReviewDecision } from "../model/task.ts";
import type { Queryable, Tx } from "../../core/store/db.ts";
import { sql } from "../../core/store/sql.ts";

/** Stores a person's review of an attempt's work; each attempt has at most one. */
export async function insertReview(tx: Tx, repo: string, id: string, review: Omit<Review, "at">): Promise<void> {
  const { attempt, decision, comment, comments, principal } = review;
  await tx.all(
    sql`INSERT INTO task_reviews (repo, id, attempt, verdict, comment, comments_json, principal, at)
      VALUES (${repo}, ${id}, ${attempt}, ${decision}, ${comment}, ${JSON.stringify(comments)}, ${principal}, parley_now())`,
  );
}

/** Returns the reviews of a task's work, oldest first. */
export async function listReviews(on: Queryable, repo: string, id: string): Promise<Review[]> {
  const rows = await on.all<{
    attempt: number;
    verdict: ReviewDecision;
    comment: string | null;
    comments_json: string;
    principal: string;
    at: number;
  }>(
    sql`SELECT attempt, verdict, comment, comments_json, principal, at FROM task_reviews
      WHERE repo = ${repo} AND id = ${id} ORDER BY attempt`,
  );
  return rows.map(({ verdict, comments_json, ...rest }) => ({
    ...rest,
    decision: verdict,
    comments: JSON.parse(comments_json) as LineComment[],
  }));
}
