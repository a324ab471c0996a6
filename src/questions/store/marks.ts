import type { QuestionId } from "../../core/model/ids.ts";
import { first, one, type Queryable, type Tx } from "../../core/store/db.ts";
import { join, type Sql, sql } from "../../core/store/sql.ts";

/** Keeps when a person first saw a question; later views change nothing. */
export async function insertFirstView(tx: Tx, questionId: QuestionId, person: string): Promise<void> {
  await tx.all(sql`INSERT INTO views (ask_id, person, first_at) VALUES (${questionId}, ${person}, parley_now())
    ON CONFLICT (ask_id, person) DO NOTHING`);
}

/** Returns when one of `people` first saw the question, or nothing. */
export async function findFirstView(
  on: Queryable,
  questionId: QuestionId,
  people: readonly string[],
): Promise<number | null> {
  if (people.length === 0) return null;
  const row = await first<{ first_at: number | null }>(
    on,
    sql`SELECT min(first_at) AS first_at FROM views WHERE ask_id = ${questionId} AND person IN (${join([...people])})`,
  );
  return row?.first_at ?? null;
}

/** Hides the question from the person for `forMs` from now. */
export async function upsertSkip(tx: Tx, questionId: QuestionId, person: string, forMs: number): Promise<void> {
  await tx.all(sql`INSERT INTO skips (person, ask_id, until) VALUES (${person}, ${questionId}, parley_now() + ${forMs})
    ON CONFLICT (person, ask_id) DO UPDATE SET until = excluded.until`);
}

/** Keeps a person's report of a question, the latest one. */
export async function upsertReport(
  tx: Tx,
  report: { questionId: QuestionId; person: string; reason: string; comment: string | null; network: string },
): Promise<void> {
  await tx.all(sql`INSERT INTO reports (ask_id, person, reason, comment, network, at)
    VALUES (${report.questionId}, ${report.person}, ${report.reason}, ${report.comment}, ${report.network}, parley_now())
    ON CONFLICT (ask_id, person) DO UPDATE SET reason = excluded.reason, comment = excluded.comment`);
}

/** Counts the networks from which different people have reported the question. */
export async function countReportingNetworks(on: Queryable, questionId: QuestionId): Promise<number> {
  const row = await one<{ networks: number }>(
    on,
    sql`SELECT count(DISTINCT network) AS networks FROM reports WHERE ask_id = ${questionId}`,
  );
  return row.networks;
}

/**
 * Deletes up to `limit` skips that are over and views nobody can use any more; true when there may be more. Of the two
 * conditions on skips the outer one is judged again when one was renewed while this waited for its row.
 */
export async function deleteOldMarks(tx: Tx, viewsKeptMs: number, limit: number): Promise<boolean> {
  const skips = await tx.all(
    sql`DELETE FROM skips WHERE (person, ask_id) IN
      (SELECT person, ask_id FROM skips WHERE until <= (SELECT parley_now()) LIMIT ${limit})
      AND until <= (SELECT parley_now()) RETURNING ask_id`,
  );
  const views = await tx.all(
    sql`DELETE FROM views WHERE (ask_id, person) IN
      (SELECT ask_id, person FROM views WHERE first_at <= (SELECT parley_now()) - ${viewsKeptMs} LIMIT ${limit})
      RETURNING ask_id`,
  );
  return skips.length === limit || views.length === limit;
}

/** True in SQL where the person has answered the question, reported it, or skipped it for now. */
export const hasDealtWith = (questionId: QuestionId, person: Sql): Sql => sql`(
  EXISTS (SELECT 1 FROM responses r WHERE r.ask_id = ${questionId} AND r.person = ${person})
  OR EXISTS (SELECT 1 FROM skips k WHERE k.ask_id = ${questionId} AND k.until > (SELECT parley_now()) AND k.person = ${person})
  OR EXISTS (SELECT 1 FROM reports m WHERE m.ask_id = ${questionId} AND m.person = ${person}))`;
