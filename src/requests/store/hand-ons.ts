import type { RequestId } from "../../core/model/ids.ts";
import { rowsOf } from "../../core/store/rows.ts";
import type { Queryable, Tx } from "../../core/store/db.ts";
import { empty, join, sql, type Sql } from "../../core/store/sql.ts";
import type { HandOn } from "../model/hand-on.ts";
import { stoodInForAsHandOns, type Absence } from "./absences.ts";

/** A hand-on, as one of its receivers has it. */
export interface HandOnRow extends Omit<HandOn, "receivers"> {
  requestId: RequestId;
  receiver: string;
}

const handOnColumns = {
  requestId: "ask_id",
  person: "person",
  receiver: "receiver",
  group: "group_name",
  note: "note",
  at: "at",
} as const;
const handOnRows = rowsOf<HandOnRow>()(handOnColumns);
const rowsWith = rowsOf<HandOnRow & { until: number | null }>()({ ...handOnColumns, until: "until" });

/** True in SQL where one of these readers has handed the request on; the only one that can is a person's own id. */
export const isHandedOnBy = (requestId: Sql, readers: readonly string[]): Sql =>
  sql`EXISTS (SELECT 1 FROM request_hand_ons h WHERE h.ask_id = ${requestId} AND h.person IN (${join([...readers])}))`;

/** True in SQL where the request was handed to one of these readers. */
export const isHandedTo = (requestId: Sql, readers: readonly string[]): Sql =>
  sql`${requestId} IN (SELECT h.ask_id FROM request_hand_ons h WHERE h.receiver IN (${join([...readers])}))`;

/** In SQL, a number that is another one once the request was handed on, or was given back. */
export const handOnMark = (requestId: Sql): Sql =>
  sql`(SELECT count(*) + coalesce(sum(h.at), 0) FROM request_hand_ons h WHERE h.ask_id = ${requestId})`;

/** The request, which this transaction has locked, is handed on to these people, in place of a hand-on by the same person. */
export async function insertHandOn(tx: Tx, requestId: RequestId, one: HandOn): Promise<void> {
  const { person, receivers, group, note, at } = one;
  await tx.all(sql`DELETE FROM request_hand_ons WHERE ask_id = ${requestId} AND person = ${person}`);
  for (const receiver of receivers) {
    await tx.all(
      sql`INSERT INTO request_hand_ons (ask_id, person, receiver, group_name, note, at)
        VALUES (${requestId}, ${person}, ${receiver}, ${group}, ${note}, ${at})`,
    );
  }
}

/** The hand-ons of the request by these people end, by anybody where none is named. Returns whether there were any. */
export async function deleteHandOnsBy(tx: Tx, requestId: RequestId, people?: readonly string[]): Promise<boolean> {
  const by = people === undefined ? empty : sql`AND person IN (${join(["", ...people])})`;
  const rows = await tx.all(sql`DELETE FROM request_hand_ons WHERE ask_id = ${requestId} ${by} RETURNING ask_id`);
  return rows.length > 0;
}

/** The hand-ons of the request end, and so do their notes in the messages about it, which begin at this step. */
export async function deleteHandOnsWithNotes(tx: Tx, requestId: RequestId, fromStep: number): Promise<void> {
  await deleteHandOnsBy(tx, requestId);
  await tx.all(sql`UPDATE deliveries SET words = NULL
    WHERE ask_id = ${requestId} AND kind = 'ask' AND step >= ${fromStep} AND words IS NOT NULL`);
}

/** The person neither has the request handed on nor was handed it; one who handed it to them alone has it again. */
export async function deleteHandOnsWith(tx: Tx, requestId: RequestId, person: string): Promise<void> {
  await tx.all(
    sql`DELETE FROM request_hand_ons WHERE ask_id = ${requestId} AND (person = ${person} OR receiver = ${person})`,
  );
}

/** The request is in the person's hands no longer. */
export async function deleteHandOnsTo(tx: Tx, requestId: RequestId, receiver: string): Promise<void> {
  await tx.all(sql`DELETE FROM request_hand_ons WHERE ask_id = ${requestId} AND receiver = ${receiver}`);
}

/** Returns the requests that somebody has handed on. */
export async function listHandedOn(on: Queryable): Promise<RequestId[]> {
  const rows = await on.all<{ ask_id: string }>(sql`SELECT DISTINCT ask_id FROM request_hand_ons ORDER BY ask_id`);
  return rows.map(({ ask_id: id }) => id);
}

export async function listReceiversOf(on: Queryable, requestId: RequestId): Promise<string[]> {
  const rows = await on.all<{ receiver: string }>(
    sql`SELECT DISTINCT receiver FROM request_hand_ons WHERE ask_id = ${requestId} ORDER BY receiver`,
  );
  return rows.map(({ receiver }) => receiver);
}

/** Nobody has handed a request on to the person, nor the person to anybody. */
export async function deleteAllHandOnsWith(tx: Tx, person: string): Promise<void> {
  await tx.all(sql`DELETE FROM request_hand_ons WHERE person = ${person} OR receiver = ${person}`);
}

/**
 * Returns the hand-ons of these requests by the person or to them, the newest first, a row for each receiver; and the
 * absences in which they stand in. One statement reads both: most people have neither.
 */
export async function listHandOnsWith(
  on: Queryable,
  person: string,
  requestIds: readonly RequestId[],
): Promise<{ handOns: HandOnRow[]; absences: Absence[] }> {
  if (requestIds.length === 0) return { handOns: [], absences: [] };
  const rows = await rowsWith.all(
    on,
    sql`SELECT ask_id, person, receiver, group_name, note, at, NULL AS until FROM request_hand_ons
        WHERE ask_id IN (${join([...requestIds])}) AND (person = ${person} OR receiver = ${person})
      UNION ALL ${stoodInForAsHandOns(person)} ORDER BY at DESC, person, receiver`,
  );
  const handOns = rows.filter(({ until }) => until === null);
  const absences = rows.flatMap(({ person: absent, at: from, until }) =>
    until === null ? [] : [{ person: absent, standIn: person, from, until }],
  );
  return { handOns, absences };
}

/** Returns the person's hand-on of a request; undefined where they have not handed it on. */
export async function findHandOnBy(on: Queryable, requestId: RequestId, person: string): Promise<HandOn | undefined> {
  const rows = await handOnRows.all(
    on,
    sql`SELECT * FROM request_hand_ons WHERE ask_id = ${requestId} AND person = ${person} ORDER BY receiver`,
  );
  const [first] = rows;
  if (!first) return undefined;
  const { group, note, at } = first;
  return { person, group, note, at, receivers: rows.map(({ receiver }) => receiver) };
}
