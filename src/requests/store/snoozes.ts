import type { RequestId } from "../../core/model/ids.ts";
import { one, type Queryable, type Tx } from "../../core/store/db.ts";
import { join, sql, type Sql } from "../../core/store/sql.ts";
import { absencesAround } from "./absences.ts";

/** In SQL, what stands behind FROM: the snoozes of these readers that go on; the only one with snoozes is a person's own id. */
export const snoozesFor = (requestId: Sql, readers: readonly string[]): Sql =>
  sql`request_snoozes s WHERE s.ask_id = ${requestId} AND s.person IN (${join([...readers])})
    AND s.until > (SELECT parley_now())`;

/** True in SQL where one of these readers has put the request aside. */
export const isSnoozedFor = (requestId: Sql, readers: readonly string[]): Sql =>
  sql`EXISTS (SELECT 1 FROM ${snoozesFor(requestId, readers)})`;

/** The request, which this transaction has locked, is put aside for the person until then, in place of a time before. */
export async function upsertSnooze(
  tx: Tx,
  { requestId, person, until }: { requestId: RequestId; person: string; until: number },
): Promise<void> {
  await tx.all(
    sql`INSERT INTO request_snoozes (ask_id, person, until) VALUES (${requestId}, ${person}, ${until})
      ON CONFLICT (ask_id, person) DO UPDATE SET until = excluded.until`,
  );
}

/** The request is put aside no longer: for the person, or for anybody where none is named. */
export async function deleteSnoozes(tx: Tx, requestId: RequestId, person?: string): Promise<void> {
  await tx.all(
    person === undefined
      ? sql`DELETE FROM request_snoozes WHERE ask_id = ${requestId}`
      : sql`DELETE FROM request_snoozes WHERE ask_id = ${requestId} AND person = ${person}`,
  );
}

export async function deleteSnoozesOf(tx: Tx, person: string): Promise<void> {
  await tx.all(sql`DELETE FROM request_snoozes WHERE person = ${person}`);
}

/** Returns until when the person has put each of these requests aside; those that are not aside are left out. */
export async function listSnoozes(
  on: Queryable,
  person: string,
  requestIds: readonly RequestId[],
): Promise<Map<RequestId, number>> {
  if (requestIds.length === 0) return new Map();
  const rows = await on.all<{ ask_id: string; until: number }>(
    sql`SELECT ask_id, until FROM request_snoozes WHERE person = ${person}
      AND ask_id IN (${join([...requestIds])}) AND until > (SELECT parley_now())`,
  );
  return new Map(rows.map(({ ask_id: id, until }) => [id, until]));
}

/**
 * Returns in how many milliseconds the next of the person's snoozes ends, or an absence that concerns them, null where
 * nothing does; and the mark of these absences, which is another one once they have changed.
 */
export async function nextEndFor(on: Queryable, person: string): Promise<{ ms: number | null; absences: number }> {
  return one(
    on,
    sql`SELECT min(until) - (SELECT parley_now()) AS ms, coalesce(sum(mark), 0) AS absences FROM (
        SELECT until, 0 AS mark FROM request_snoozes WHERE person = ${person}
        UNION ALL ${absencesAround(person)}) AS ends
      WHERE until > (SELECT parley_now())`,
  );
}
