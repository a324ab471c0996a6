import { first, one, type Queryable, type Tx } from "../../core/store/db.ts";
import { flag, rowsOf } from "../../core/store/rows.ts";
import { lockedRows } from "../../core/store/locked-rows.ts";
import { sql } from "../../core/store/sql.ts";
import { deleteKeysUnder } from "../../core/store/idempotency.ts";
import { dropLeaderboardName } from "./leaderboard-names.ts";
import { lockTotals } from "./totals.ts";

export interface Participant {
  id: string;
  /** The person with a name whose row this is: then it is their id, and no credential stands for it. */
  person: string | null;
  /** Whether its credential has ever been shown; from then on a fingerprint cannot stand for it. */
  presented: boolean;
  timeZone: string | null;
  timeZoneAt: number | null;
  /** Keyed hash of the fingerprint last shown beside its credential. */
  lastFingerprint: string | null;
  seenAt: number;
  now: number;
}

const participantRows = rowsOf<Participant>()({
  id: "participant_id",
  person: "person",
  presented: flag("presented"),
  timeZone: "time_zone",
  timeZoneAt: "time_zone_at",
  lastFingerprint: "last_fingerprint",
  seenAt: "seen_at",
  now: "now",
});

/** Returns the participant, or nothing. */
export async function findParticipant(on: Queryable, id: string): Promise<Participant | undefined> {
  return participantRows.first(
    on,
    sql`SELECT participant_id, person, presented, time_zone, time_zone_at, last_fingerprint, seen_at,
        parley_now() AS now FROM participants WHERE participant_id = ${id}`,
  );
}

/** Returns the participant a fingerprint stands for, unless that one has shown its credential. */
export async function findByFingerprint(on: Queryable, fingerprint: string): Promise<Participant | undefined> {
  return participantRows.first(
    on,
    sql`SELECT p.participant_id, p.person, p.presented, p.time_zone, p.time_zone_at, p.last_fingerprint, p.seen_at,
        parley_now() AS now
      FROM fingerprints f JOIN participants p ON p.participant_id = f.participant_id
      WHERE f.fingerprint = ${fingerprint} AND p.presented = 0`,
  );
}

/**
 * Returns the participant the fingerprint stands for from now on: the one it was bound to, as long as that one has
 * never shown its credential, else `candidate`. Two first requests at once get the same one.
 */
export async function bindFingerprint(tx: Tx, fingerprint: string, candidate: string): Promise<string> {
  const row = await one<{ participant_id: string }>(
    tx,
    sql`INSERT INTO fingerprints (fingerprint, participant_id) VALUES (${fingerprint}, ${candidate})
      ON CONFLICT (fingerprint) DO UPDATE SET participant_id = CASE
        WHEN coalesce((SELECT p.presented FROM participants p WHERE p.participant_id = fingerprints.participant_id), 0) = 1
        THEN excluded.participant_id ELSE fingerprints.participant_id END
      RETURNING participant_id`,
  );
  return row.participant_id;
}

/** Makes sure the participant has a row, and returns it; `person` names whose it is. */
export async function ensureParticipant(
  tx: Tx,
  id: string,
  person: string | null,
): Promise<{ participant: Participant; created: boolean }> {
  const known = await findParticipant(tx, id);
  if (known) return { participant: known, created: false };
  const inserted = await participantRows.first(
    tx,
    sql`INSERT INTO participants (participant_id, person, presented, created_at, seen_at)
      VALUES (${id}, ${person}, 0, parley_now(), parley_now()) ON CONFLICT (participant_id) DO NOTHING
      RETURNING participant_id, person, presented, time_zone, time_zone_at, last_fingerprint, seen_at,
        parley_now() AS now`,
  );
  if (inserted) return { participant: inserted, created: true };
  const found = await findParticipant(tx, id);
  if (!found) throw new Error("a participant is neither new nor there");
  return { participant: found, created: false };
}

/**
 * Notes that the participant was seen with its credential. A fingerprint shown beside it is kept, hashed, as a sign of
 * risk and stands for nobody.
 */
export async function touchParticipant(tx: Tx, id: string, fingerprint: string | null): Promise<void> {
  await tx.all(sql`UPDATE participants SET seen_at = parley_now(), presented = 1,
    last_fingerprint = coalesce(${fingerprint}, last_fingerprint) WHERE participant_id = ${id}`);
}

/** Notes that the participant was seen, by whatever sign. */
export async function sightParticipant(tx: Tx, id: string): Promise<void> {
  await tx.all(sql`UPDATE participants SET seen_at = parley_now() WHERE participant_id = ${id}`);
}

/** Keeps the zone in which the participant's days are counted. */
export async function setTimeZone(tx: Tx, id: string, timeZone: string): Promise<void> {
  await tx.all(
    sql`UPDATE participants SET time_zone = ${timeZone}, time_zone_at = parley_now() WHERE participant_id = ${id}`,
  );
}

/** Makes `hash` the only recovery code of the participant, for `forMs`; returns when it ends. */
export async function setRecovery(tx: Tx, id: string, hash: string, forMs: number): Promise<number> {
  const row = await one<{ recovery_expires_at: number }>(
    tx,
    sql`UPDATE participants SET recovery_hash = ${hash}, recovery_expires_at = parley_now() + ${forMs}
      WHERE participant_id = ${id} RETURNING recovery_expires_at`,
  );
  return row.recovery_expires_at;
}

/** Spends a recovery code: returns whose it was if it was good, and nothing ever after. */
export async function spendRecovery(tx: Tx, hash: string): Promise<string | undefined> {
  const row = await first<{ participant_id: string }>(
    tx,
    sql`UPDATE participants SET recovery_hash = NULL, recovery_expires_at = NULL
      WHERE recovery_hash = ${hash} AND recovery_expires_at > parley_now() AND person IS NULL RETURNING participant_id`,
  );
  return row?.participant_id;
}

/** Counts those who are known by nothing but the cookie that the installation key signed. */
export async function countAnonymous(on: Queryable): Promise<number> {
  return (await one<{ count: number }>(on, sql`SELECT count(*) AS count FROM participants WHERE person IS NULL`)).count;
}

/** Deletes every means to recognise the participant. */
export async function forgetMeans(tx: Tx, id: string): Promise<void> {
  await dropLeaderboardName(tx, id);
  await tx.all(
    sql`UPDATE participants SET last_fingerprint = NULL, recovery_hash = NULL, recovery_expires_at = NULL,
        time_zone = NULL, time_zone_at = NULL WHERE participant_id = ${id}`,
  );
}

/** Erases a person: participants, subscriptions, statistics. Answers that were given stay, under no one's name. */
export async function eraseParticipant(
  tx: Tx,
  names: readonly string[],
  strangerOf: (name: string) => string,
): Promise<void> {
  for (const name of names) {
    // Answers take these before the totals (spec/invariants C3).
    await deleteMeans(tx, name);
    // An answer of theirs that is just committing holds this row, and all that it stored goes with the others.
    await lockTotals(tx, name);
    await tx.all(sql`UPDATE responses SET person = ${strangerOf(name)} WHERE person = ${name}`);
    await tx.all(sql`DELETE FROM scores WHERE person = ${name}`);
    await tx.all(sql`DELETE FROM ledger WHERE person = ${name}`);
    // point: erase-between-tables
    await tx.all(sql`DELETE FROM badges WHERE person = ${name}`);
    await tx.all(sql`DELETE FROM views WHERE person = ${name}`);
    await tx.all(sql`DELETE FROM skips WHERE person = ${name}`);
    await tx.all(sql`UPDATE reports SET person = ${strangerOf(name)}, comment = NULL WHERE person = ${name}`);
    await tx.all(sql`DELETE FROM push_subscriptions WHERE person = ${name}`);
    await tx.all(sql`DELETE FROM notices WHERE person = ${name}`);
    await tx.all(sql`DELETE FROM person_totals WHERE person = ${name}`);
    // Once more, for those of the answer that was waited for.
    await deleteMeans(tx, name);
  }
}

/** Deletes the rows by which a participant is recognised, and the replies to their calls. */
async function deleteMeans(tx: Tx, name: string): Promise<void> {
  await tx.all(sql`DELETE FROM fingerprints WHERE participant_id = ${name}`);
  await tx.all(sql`DELETE FROM participants WHERE participant_id = ${name}`);
  await dropLeaderboardName(tx, name);
  await deleteKeysUnder(tx, `person:${name}`);
}

/** Holds an anonymous participant that was last seen more than `unseenMs` ago; false for one that has come back since. */
export async function lockIfForgotten(tx: Tx, id: string, unseenMs: number): Promise<boolean> {
  const row = await first(
    tx,
    lockedRows(
      tx,
      "participants",
      sql`participant_id = ${id} AND person IS NULL AND seen_at <= (SELECT parley_now()) - ${unseenMs}`,
    ),
  );
  return row !== undefined;
}

/** Returns up to `limit` anonymous participants that were last seen more than `unseenMs` ago. */
export async function findForgotten(on: Queryable, unseenMs: number, limit: number): Promise<string[]> {
  const rows = await on.all<{ participant_id: string }>(
    sql`SELECT participant_id FROM participants WHERE seen_at <= (SELECT parley_now()) - ${unseenMs} AND person IS NULL
      ORDER BY seen_at LIMIT ${limit}`,
  );
  return rows.map((row) => row.participant_id);
}
