import type { Queryable, Tx } from "../../core/store/db.ts";
import { rowsOf } from "../../core/store/rows.ts";
import { empty, join, type Sql, sql } from "../../core/store/sql.ts";
import type { AgentNote, NotedRun } from "../model/agent-note.ts";
import { ALL_READERS } from "../model/audience.ts";
import { hasReader } from "./tables.ts";

const noteRows = rowsOf<AgentNote>()({
  id: "note_id",
  agent: "agent",
  run: "run",
  requestId: "ask_id",
  person: "person",
  words: "words",
  sentAt: "sent_at",
  givenAt: "given_at",
});

/** Stores a note, sent now. */
export async function insertAgentNote(tx: Tx, note: Omit<AgentNote, "sentAt" | "givenAt">): Promise<void> {
  const { id, agent, run, requestId, person, words } = note;
  await tx.all(
    sql`INSERT INTO agent_notes (note_id, agent, run, ask_id, person, words, sent_at)
      VALUES (${id}, ${agent}, ${run}, ${requestId}, ${person}, ${words}, parley_now())`,
  );
}

/** In SQL, a number that is another one once a note was sent from the card of the request, or was given to its agent. */
export const noteMark = (requestId: Sql): Sql =>
  sql`(SELECT count(*) + count(n.given_at) FROM agent_notes n WHERE n.ask_id = ${requestId})`;

/** Returns the notes of a run that its agent has not got yet, oldest first; at most `limit`. */
export function listWaitingNotes(on: Queryable, { agent, run }: NotedRun, limit: number): Promise<AgentNote[]> {
  return noteRows.all(
    on,
    sql`SELECT * FROM agent_notes WHERE agent = ${agent} AND run = ${run} AND given_at IS NULL
      ORDER BY sent_at, note_id LIMIT ${limit}`,
  );
}

/** Returns the newest notes of a run, oldest first; at most `limit`. With `readers`, those of requests that they may open, and those of none. */
export async function listNotesOfRun(
  on: Queryable,
  { agent, run }: NotedRun,
  { readers, limit }: { readers: readonly string[] | undefined; limit: number },
): Promise<AgentNote[]> {
  const isOpen =
    !readers || readers.includes(ALL_READERS)
      ? empty
      : sql`AND (n.ask_id IS NULL OR ${hasReader(sql`n.ask_id`, readers)})`;
  const newest = await noteRows.all(
    on,
    sql`SELECT n.* FROM agent_notes n WHERE n.agent = ${agent} AND n.run = ${run} ${isOpen}
      ORDER BY sent_at DESC, note_id DESC LIMIT ${limit}`,
  );
  return newest.toReversed();
}

/** Returns the words of these notes, by their ids; those that are gone are left out. */
export async function findNoteWords(on: Queryable, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map();
  const notes = await noteRows.all(on, sql`SELECT * FROM agent_notes WHERE note_id IN (${join([...ids])})`);
  return new Map(notes.map(({ id, words }) => [id, words]));
}

/** The agent of a run has got these notes; returns those that it had not got before. */
export async function markNotesGiven(tx: Tx, { agent, run }: NotedRun, ids: readonly string[]): Promise<AgentNote[]> {
  if (ids.length === 0) return [];
  return noteRows.all(
    tx,
    sql`UPDATE agent_notes SET given_at = parley_now()
      WHERE note_id IN (${join([...ids])}) AND agent = ${agent} AND run = ${run} AND given_at IS NULL RETURNING *`,
  );
}

/** The notes that wait for a run are gone: another work begins under its name. */
export async function deleteWaitingNotes(tx: Tx, { agent, run }: NotedRun): Promise<void> {
  await tx.all(sql`DELETE FROM agent_notes WHERE agent = ${agent} AND run = ${run} AND given_at IS NULL`);
}

/** Deletes up to `limit` notes that are older than this; returns whether there may be more. */
export async function deleteOldNotes(tx: Tx, keptMs: number, limit: number): Promise<boolean> {
  const rows = await tx.all(
    sql`DELETE FROM agent_notes WHERE note_id IN (SELECT note_id FROM agent_notes
      WHERE sent_at < parley_now() - ${keptMs} ORDER BY sent_at LIMIT ${limit}) RETURNING note_id`,
  );
  return rows.length === limit;
}

export async function deleteNotesOf(tx: Tx, person: string): Promise<void> {
  await tx.all(sql`DELETE FROM agent_notes WHERE person = ${person}`);
}
