import { findHuman, findHumans } from "../../access/store/humans.ts";
import type { Context } from "../../context.ts";
import { appendAudit } from "../../core/store/audit.ts";
import type { Queryable, Tx } from "../../core/store/db.ts";
import { transact } from "../../core/store/transact.ts";
import { INBOX_TOPIC, notesTopic, watch } from "../../core/store/wake.ts";
import {
  MOST_WAITING_NOTES,
  readableNote,
  type AgentNote,
  type NotedRun,
  type ReadableNote,
} from "../model/agent-note.ts";
import { listNotesOfRun, listWaitingNotes, markNotesGiven } from "../store/agent-notes.ts";

/** A note with the name of the person who wrote it. */
export interface NamedNote extends AgentNote {
  name: string;
}

const MOST_SHOWN = 50;

/**
 * Returns the notes that wait for the agent of a run, oldest first, as it reads them. They wait until it says that it has
 * them. One that was on its way while its author was removed is left out.
 */
export async function readWaitingNotes(ctx: Pick<Context, "db">, run: NotedRun): Promise<ReadableNote[]> {
  const notes = await listWaitingNotes(ctx.db, run, MOST_WAITING_NOTES);
  const names = new Map<string, string>();
  for (const person of new Set(notes.map((note) => note.person))) {
    const author = await findHuman(ctx.db, person);
    if (author) names.set(person, author.name);
  }
  return notes.flatMap((note) => {
    const name = names.get(note.person);
    return name === undefined ? [] : [readableNote(note, name)];
  });
}

/** Returns the waiting notes of a run that are not known yet, as soon as there are any; none once `waitMs` has passed. */
export async function waitForNotes(
  ctx: Pick<Context, "db" | "wake" | "clock" | "stopping">,
  run: NotedRun,
  { known, waitMs, signal }: { known: readonly string[]; waitMs: number; signal: AbortSignal },
): Promise<ReadableNote[]> {
  const until = ctx.clock.monotonic() + waitMs;
  using changes = watch(ctx, [notesTopic(run.agent, run.run)], [ctx.stopping, signal]);
  for (;;) {
    const fresh = (await readWaitingNotes(ctx, run)).filter(({ id }) => !known.includes(id));
    const leftMs = until - ctx.clock.monotonic();
    if (fresh.length > 0 || leftMs <= 0 || signal.aborted || ctx.stopping.aborted) return fresh;
    await changes.next(leftMs);
  }
}

/** Returns the newest notes of a run as people see them, oldest first. Of those of requests it has what `readers` may open. */
export async function readNotesOfRun(
  ctx: Pick<Context, "db">,
  run: NotedRun,
  readers?: readonly string[],
): Promise<NamedNote[]> {
  return withNames(ctx.db, await listNotesOfRun(ctx.db, run, { readers, limit: MOST_SHOWN }));
}

/** The agent of a run has these notes. Those of other runs, and those that it had before, stay as they are. */
export async function noteGiven(
  ctx: Pick<Context, "db" | "wake">,
  run: NotedRun,
  ids: readonly string[],
): Promise<void> {
  await transact(ctx, (tx) => noteGivenIn(tx, run, ids));
}

/** The same in the transaction under way. Returns the notes that the agent had not got before. */
export async function noteGivenIn(tx: Tx, run: NotedRun, ids: readonly string[]): Promise<NamedNote[]> {
  const given = await withNames(tx, await markNotesGiven(tx, run, ids));
  for (const { id, agent, requestId, person } of given) {
    await appendAudit(tx, {
      actor: { kind: "agent", id: agent },
      action: "agent_note.given",
      agent,
      subjectId: requestId ?? id,
      data: { note: id, run: run.run, person },
    });
  }
  if (given.length > 0) tx.wake(INBOX_TOPIC);
  return given;
}

async function withNames(on: Queryable, notes: readonly AgentNote[]): Promise<NamedNote[]> {
  if (notes.length === 0) return [];
  const people = await findHumans(on, [...new Set(notes.map(({ person }) => person))]);
  return notes.map((note) => ({ ...note, name: people.get(note.person)?.name ?? "somebody" }));
}
