import { findPrincipalNamed, speaksFor } from "../../access/store/keys.ts";
import { first, one, type Queryable, type Tx } from "../../core/store/db.ts";
import { lockedRows } from "../../core/store/locked-rows.ts";
import { rowsOf } from "../../core/store/rows.ts";
import { raw, type Sql, sql } from "../../core/store/sql.ts";

/** Nothing is allowed to whom it covers, and their deadlines stand still. */
export interface Freeze {
  id: string;
  scope: "all" | "person" | "agent";
  /** The person whose agents it covers, or the agent; empty where it covers all. */
  subject: string;
  madeBy: string;
  madeByKind: "human" | "admin" | "server";
  via: string;
  reason: string | null;
  madeAt: number;
  /** Up to this moment the deadlines of whom it covers have been moved. */
  settledAt: number;
}

const freezeRows = rowsOf<Freeze>()({
  id: "freeze_id",
  scope: "scope",
  subject: "subject",
  madeBy: "made_by",
  madeByKind: "made_by_kind",
  via: "via",
  reason: "reason",
  madeAt: "made_at",
  settledAt: "settled_at",
});

const covers = (principal: Sql): Sql => sql`(f.scope = 'all' OR f.scope = 'agent' AND f.subject = ${principal}
  OR f.scope = 'person' AND ${speaksFor(raw("f.subject"), principal)})`;

/** True in SQL while the principal is frozen. Without a freeze it reads an empty table. */
export const isFrozen = (principal: Sql): Sql => sql`EXISTS (SELECT 1 FROM freezes f WHERE ${covers(principal)})`;

/**
 * True in SQL where something happened more than a second after a freeze that is in force began: a transaction under way
 * then may have ended since.
 */
export const wasFrozen = (principal: Sql, at: Sql): Sql =>
  sql`EXISTS (SELECT 1 FROM freezes f WHERE f.made_at + 1000 < ${at} AND ${covers(principal)})`;

/** The beginning of the oldest freeze in force; null in SQL without any. */
export const FROZEN_SINCE = sql`(SELECT min(made_at) FROM freezes)`;

/** The same as the column `frozen` of 1 and 0. */
export const frozenFlag = (principal: Sql): Sql => sql`CASE WHEN ${isFrozen(principal)} THEN 1 ELSE 0 END AS frozen`;

/**
 * True in SQL where a deadline has not come, or stands still. Without a freeze the first comparison alone decides, so that
 * an index of deadlines is used.
 */
export const hasTime = (expiresAt: Sql, principal: Sql): Sql =>
  sql`${expiresAt} > (SELECT CASE WHEN EXISTS (SELECT 1 FROM freezes) THEN 0 ELSE parley_now() END)
    AND (${expiresAt} > (SELECT parley_now()) OR ${isFrozen(principal)})`;

/** The number in SQL of milliseconds by which a deadline moves that has stood still, of something made at `createdAt`. */
export const stoodFor = (createdAt: Sql, { sinceMs, nowMs }: { sinceMs: number; nowMs: number }): Sql =>
  sql`CASE WHEN ${createdAt} > ${nowMs} THEN 0 WHEN ${createdAt} > ${sinceMs} THEN ${nowMs} - ${createdAt}
    ELSE ${nowMs - sinceMs} END`;

/** Returns the freeze that covers the principal, the oldest where several do. */
export async function findFreeze(on: Queryable, principal: string): Promise<Freeze | undefined> {
  return freezeRows.first(
    on,
    sql`SELECT f.* FROM freezes f WHERE ${covers(sql`${principal}`)} ORDER BY f.made_at, f.freeze_id LIMIT 1`,
  );
}

/** Returns the principal that a name means: of a key of a program, or as it is where it has the form of one. */
export async function findPrincipal(on: Queryable, name: string): Promise<string | undefined> {
  if (/^(?:agent|executor|assign|open|attempt):./.test(name)) return name;
  return findPrincipalNamed(on, name);
}

export async function listFreezes(on: Queryable): Promise<Freeze[]> {
  return freezeRows.all(on, sql`SELECT * FROM freezes ORDER BY made_at, freeze_id`);
}

/** Holds the set of freezes to the end of the transaction. Returns it with the store's clock. */
export async function lockFreezes(tx: Tx): Promise<{ freezes: Freeze[]; now: number }> {
  // A set has no row of its own: the row that all servers read the policy again by stands for it.
  const { now } = await one<{ now: number }>(tx, lockedRows(tx, "policy_reloads", sql`id = 1`));
  return { freezes: await listFreezes(tx), now };
}

/** The deadlines of whom freezes cover have been moved up to this moment. */
export async function markSettled(tx: Tx, atMs: number): Promise<void> {
  await tx.all(sql`UPDATE freezes SET settled_at = ${atMs}`);
}

export async function insertFreeze(tx: Tx, freeze: Freeze): Promise<void> {
  const { id, scope, subject, madeBy, madeByKind, via, reason, madeAt, settledAt } = freeze;
  await tx.all(
    sql`INSERT INTO freezes (freeze_id, scope, subject, made_by, made_by_kind, via, reason, made_at, settled_at)
      VALUES (${id}, ${scope}, ${subject}, ${madeBy}, ${madeByKind}, ${via}, ${reason}, ${madeAt}, ${settledAt})`,
  );
}

export async function deleteFreeze(tx: Tx, id: string): Promise<boolean> {
  return (await first(tx, sql`DELETE FROM freezes WHERE freeze_id = ${id} RETURNING freeze_id`)) !== undefined;
}

/** The freezes and thaws `u` from a time on, as `listNoted` finds them; the condition is that of the index of freezes. */
export const freezeNotesSince = (at: number): Sql =>
  sql`WHERE u.action IN ('freeze.made', 'freeze.ended') AND u.at >= ${at}`;
