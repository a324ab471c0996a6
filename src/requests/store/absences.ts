import type { RequestId } from "../../core/model/ids.ts";
import { first, type Queryable, type Tx } from "../../core/store/db.ts";
import { json, rowsOf } from "../../core/store/rows.ts";
import { empty, join, sql, type Sql } from "../../core/store/sql.ts";
import type { InboxKind } from "../model/inbox.ts";
import type { Audience } from "../model/request.ts";
import { hasTime } from "../../policy/store/freezes.ts";
import { hasReader } from "./tables.ts";

/** A person is away, from and until these times of the store's clock. */
export interface Absence {
  person: string;
  standIn: string | null;
  from: number;
  until: number;
}

/** The parts of an open request that tell who may decide it. */
export interface WaitingRequest {
  id: RequestId;
  kind: InboxKind;
  audience: Audience;
  createdAt: number;
}

const absenceRows = rowsOf<Absence>()({ person: "person", standIn: "stand_in", from: "from_at", until: "until" });
const waitingRows = rowsOf<WaitingRequest>()({
  id: "ask_id",
  kind: "kind",
  audience: json("audience"),
  createdAt: "created_at",
});

/** So many requests of somebody who is away stand first in the stand-in's list. */
const MOST_WAITING = 2000;

/** True in SQL of an absence `w` that lasts, and whose stand-in is here. */
const hasStandIn: Sql = sql`w.until > (SELECT parley_now())
  AND NOT EXISTS (SELECT 1 FROM absences x WHERE x.person = w.stand_in AND x.until > (SELECT parley_now()))`;

/** In SQL, the absences in which this person stands in, as rows of hand-ons without a request. */
export const stoodInForAsHandOns = (standIn: string): Sql =>
  sql`SELECT '' AS ask_id, w.person, w.stand_in AS receiver, NULL AS group_name, NULL AS note, w.from_at AS at, w.until
    FROM absences w WHERE w.stand_in = ${standIn} AND ${hasStandIn}`;

/** In SQL, when the absences of a person end, of those for whom they stand in, and of their stand-ins, with a mark of each. */
export const absencesAround = (person: string): Sql =>
  sql`SELECT w.until, w.from_at + w.until AS mark FROM absences w WHERE w.person = ${person} OR w.stand_in = ${person}`;

/** The person, who was not away or until another time, is away from now on. */
export async function upsertAbsence(tx: Tx, { person, standIn, until }: Omit<Absence, "from">): Promise<Absence> {
  return absenceRows.one(
    tx,
    sql`INSERT INTO absences (person, stand_in, from_at, until)
      VALUES (${person}, ${standIn}, (SELECT parley_now()), ${until})
      ON CONFLICT (person) DO UPDATE SET stand_in = excluded.stand_in, until = excluded.until,
        from_at = CASE WHEN absences.until > excluded.from_at THEN absences.from_at ELSE excluded.from_at END
      RETURNING *`,
  );
}

/** The person is away no longer. Returns whether they were. */
export async function deleteAbsence(tx: Tx, person: string): Promise<boolean> {
  const rows = await tx.all<{ lasts: number }>(
    sql`DELETE FROM absences WHERE person = ${person}
      RETURNING CASE WHEN until > (SELECT parley_now()) THEN 1 ELSE 0 END AS lasts`,
  );
  return rows[0]?.lasts === 1;
}

/** Every absence ends that is this person's, or in which they stand in. */
export async function deleteAbsencesWith(tx: Tx, person: string): Promise<void> {
  await tx.all(sql`DELETE FROM absences WHERE person = ${person} OR stand_in = ${person}`);
}

/** Returns the absence of a person who is away now. */
export async function findAbsence(on: Queryable, person: string): Promise<Absence | undefined> {
  return absenceRows.first(on, sql`SELECT * FROM absences WHERE person = ${person} AND until > (SELECT parley_now())`);
}

/** Returns until when each of these people is away; those who are here are left out. */
export async function listAbsent(on: Queryable, people: readonly string[]): Promise<Map<string, number>> {
  const absent = await absenceRows.all(
    on,
    sql`SELECT * FROM absences WHERE person IN (${join(["", ...people])}) AND until > (SELECT parley_now())`,
  );
  return new Map(absent.map(({ person, until }) => [person, until]));
}

/** Returns those of these people who are away now, and for whom nobody stands in who is here. */
export async function listAwayAlone(on: Queryable, people: readonly string[]): Promise<Set<string>> {
  const rows = await on.all<{ person: string }>(
    sql`SELECT w.person FROM absences w WHERE w.person IN (${join(["", ...people])})
      AND w.until > (SELECT parley_now()) AND NOT (w.stand_in IS NOT NULL AND ${hasStandIn})`,
  );
  return new Set(rows.map(({ person }) => person));
}

/** Returns who stands in for a person who is away; undefined where nobody does, or the stand-in is away too. */
export async function findStandIn(on: Queryable, person: string): Promise<string | undefined> {
  const row = await first<{ stand_in: string | null }>(
    on,
    sql`SELECT w.stand_in FROM absences w WHERE w.person = ${person} AND ${hasStandIn}`,
  );
  return row?.stand_in ?? undefined;
}

/** Returns the absences in which somebody who is here stands in, the newest first. */
export async function listStoodInFor(on: Queryable, standIn: string): Promise<Absence[]> {
  return absenceRows.all(
    on,
    sql`SELECT w.* FROM absences w WHERE w.stand_in = ${standIn} AND ${hasStandIn} ORDER BY w.from_at DESC, w.person`,
  );
}

/**
 * Returns the open requests, of these alone where some are named, that are addressed to one of these readers and that
 * neither of the people has decided, soonest deadline first.
 */
export async function listWaitingFor(
  on: Queryable,
  readers: readonly string[],
  { undecidedBy, among }: { undecidedBy: readonly string[]; among: readonly RequestId[] | undefined },
): Promise<WaitingRequest[]> {
  const named = among === undefined ? empty : sql`AND a.ask_id IN (${join(["", ...among])})`;
  return waitingRows.all(
    on,
    sql`SELECT a.ask_id, a.kind, a.audience, a.created_at FROM requests a
      WHERE a.state = 'open' AND a.plan IS NULL AND ${hasTime(sql`a.expires_at`, sql`a.asker`)} ${named}
        AND ${hasReader(sql`a.ask_id`, readers)}
        AND NOT EXISTS (SELECT 1 FROM decisions d WHERE d.ask_id = a.ask_id AND d.by_id IN (${join([...undecidedBy])}))
      ORDER BY a.expires_at, a.ask_id LIMIT ${MOST_WAITING}`,
  );
}
