import type { QuestionId } from "../model/ids.ts";
import { first, type Queryable, type Tx } from "./db.ts";
import { lockedRows } from "./locked-rows.ts";
import { join, sql } from "./sql.ts";
import { streamTopic } from "./wake.ts";

export type EventKind = "ask.created" | "ask.response" | "ask.answered" | "ask.expired" | "ask.cancelled";

/** One change of one ask, numbered in commit order within its stream. */
export interface StreamEvent {
  seq: number;
  kind: EventKind;
  questionId: QuestionId;
  /** The ask's version after the change. */
  version: number;
  at: number;
}

/** The stream of everything that happens to the asks of one principal. */
export const streamOfAsker = (principal: string): string => `asker:${principal}`;

/**
 * Appends an event under the next number of its stream. The stream's row is held to the end of the transaction, so that
 * numbers follow commit order and a resuming reader never misses one (spec/invariants Q7).
 */
export async function appendEvent(tx: Tx, stream: string, event: Omit<StreamEvent, "seq">): Promise<void> {
  await Promise.all([
    tx.all(sql`INSERT INTO streams (id, seq, kept_from) VALUES (${stream}, 1, 1)
      ON CONFLICT (id) DO UPDATE SET seq = streams.seq + 1`),
    tx.all(sql`INSERT INTO events (stream, seq, kind, ask_id, version, at)
      VALUES (${stream}, (SELECT seq FROM streams WHERE id = ${stream}), ${event.kind}, ${event.questionId},
        ${event.version}, ${event.at})`),
  ]);
  tx.wake(streamTopic(stream));
}

/** Returns the stream's last number and the oldest that is kept; zeros for a stream nothing was ever written to. */
export async function findStream(on: Queryable, stream: string): Promise<{ seq: number; keptFrom: number }> {
  const row = await first<{ seq: number; kept_from: number }>(
    on,
    sql`SELECT seq, kept_from FROM streams WHERE id = ${stream}`,
  );
  return row ? { seq: row.seq, keptFrom: row.kept_from } : { seq: 0, keptFrom: 1 };
}

/** Returns up to `limit` events that follow number `after`, in order. */
export async function listEvents(on: Queryable, stream: string, after: number, limit: number): Promise<StreamEvent[]> {
  const rows = await on.all<{ seq: number; kind: EventKind; ask_id: string; version: number; at: number }>(
    sql`SELECT seq, kind, ask_id, version, at FROM events WHERE stream = ${stream} AND seq > ${after} ORDER BY seq LIMIT ${limit}`,
  );
  return rows.map((row) => ({
    seq: row.seq,
    kind: row.kind,
    questionId: row.ask_id,
    version: row.version,
    at: row.at,
  }));
}

/** Returns the last numbers of those streams that exist, for the polling fallback of wake-ups. */
export async function findStreamNumbers(on: Queryable, streams: readonly string[]): Promise<Map<string, number>> {
  const rows = await on.all<{ id: string; seq: number }>(
    sql`SELECT id, seq FROM streams WHERE id IN (${join([...streams])})`,
  );
  return new Map(rows.map((row) => [row.id, row.seq]));
}

/**
 * Deletes events older than `keptMs` of one stream that has some, and moves its retention mark, so that a reader that
 * resumes before the mark is asked to start again. Returns true when it found any.
 */
export async function trimOneStream(tx: Tx, keptMs: number, limit: number): Promise<boolean> {
  const old = await first<{ stream: string }>(
    tx,
    sql`SELECT stream FROM events WHERE at <= (SELECT parley_now()) - ${keptMs} ORDER BY at LIMIT 1`,
  );
  if (!old) return false;
  await tx.all(lockedRows(tx, "streams", sql`id = ${old.stream}`));
  const gone = await tx.all<{ seq: number }>(
    sql`DELETE FROM events WHERE stream = ${old.stream} AND seq IN
      (SELECT seq FROM events WHERE stream = ${old.stream} AND at <= (SELECT parley_now()) - ${keptMs}
        AND seq <= (SELECT coalesce(min(seq), 9007199254740991) FROM events
          WHERE stream = ${old.stream} AND at > (SELECT parley_now()) - ${keptMs})
        ORDER BY seq LIMIT ${limit})
      RETURNING seq`,
  );
  if (gone.length === 0) return false;
  // point: trim-before-mark
  const newest = Math.max(...gone.map(({ seq }) => seq));
  await tx.all(sql`UPDATE streams SET kept_from = ${newest + 1} WHERE id = ${old.stream} AND kept_from <= ${newest}`);
  return true;
}
