import type { Context } from "../../context.ts";
import { refuseFields, textProblem } from "../../core/model/field-problem.ts";
import type { RequestId } from "../../core/model/ids.ts";
import { appendAudit } from "../../core/store/audit.ts";
import type { Queryable, Tx } from "../../core/store/db.ts";
import { transact } from "../../core/store/transact.ts";
import { INBOX_TOPIC, notesTopic } from "../../core/store/wake.ts";
import { withoutSecrets } from "../../core/without-secrets.ts";
import { Refusal } from "../../refusals.ts";
import { cleanWords, exposeIn, type CleanWords } from "../create/clean-words.ts";
import { responderOf } from "../decide/decider.ts";
import { lockOpen } from "../inbox/hand-on.ts";
import {
  LONGEST_AGENT_NOTE,
  MOST_WAITING_NOTES,
  notedRunOf,
  type AgentNote,
  type NotedRun,
} from "../model/agent-note.ts";
import type { Request } from "../model/request.ts";
import { insertAgentNote, listWaitingNotes } from "../store/agent-notes.ts";

type Sending = Pick<Context, "db" | "wake" | "secrets" | "keyring" | "newId">;

/**
 * Returns the run whose agent reads notes that are written on the card of a request; null where it reads none.
 * Command agents take no input once they run.
 */
export async function readNotedRun(
  ctx: Pick<Context, "requesters" | "assignment">,
  on: Queryable,
  request: Request,
): Promise<NotedRun | null> {
  const task = await ctx.requesters.ofRequest(request).taskOf(on, request);
  return readsNotes(ctx, task?.agent ?? null) ? notedRunOf(request, task) : null;
}

/** Returns whether an agent of tasks can be told anything while it works; true for what is no agent of tasks. */
export function readsNotes({ assignment }: Pick<Context, "assignment">, agent: string | null): boolean {
  return assignment.agents.find(({ name }) => name === agent)?.type !== "command";
}

/**
 * Sends a note from the card of an open request to its agent, which reads it at its next turn. Nothing else changes: the
 * note decides nothing (spec/a2h 26).
 *
 * @throws {Refusal} `request_not_found`, `not_asked`; `already_decided`, `request_expired` or `request_cancelled` once the
 *   request is over; `reads_no_notes`, `note_limit`, `invalid_input`
 */
export async function sendNote(
  ctx: Context,
  { requestId, person }: { requestId: RequestId; person: string },
  text: string,
): Promise<void> {
  const words = await cleanNoteOf(ctx, { requestId, person }, text);
  const refused = await transact(ctx, async (tx) => {
    const open = await lockOpen(ctx, tx, { requestId, person });
    if (open instanceof Refusal) return open;
    // The work that comes after the one that asked is not what the person saw.
    const isWanted = await ctx.requesters.ofRequest(open.request).isWanted(tx, open.request);
    const run = isWanted ? await readNotedRun(ctx, tx, open.request) : null;
    if (!run) return new Refusal("reads_no_notes");
    return sendNoteIn(ctx, tx, { ...run, requestId, person }, words);
  });
  if (refused) throw refused;
}

/** Returns the words of a note without secrets and without anything that answers a request. @throws {Refusal} `invalid_input` */
export async function cleanNoteOf(
  ctx: Sending,
  { requestId, person }: { requestId: RequestId | null; person: string },
  text: string,
): Promise<CleanWords<string>> {
  const problem = textProblem("text", text.trim(), 1, LONGEST_AGENT_NOTE);
  if (problem) throw refuseFields([problem]);
  const { identities } = await responderOf(ctx.db, person, "web");
  return cleanWords(ctx, await withoutSecrets(ctx, text.trim()), { person, identities, requestId });
}

/** Sends a note in the transaction under way. Returns the refusal of one too many, with nothing written. */
export async function sendNoteIn(
  ctx: Sending,
  tx: Tx,
  to: Pick<AgentNote, "agent" | "run" | "requestId" | "person">,
  words: CleanWords<string>,
): Promise<Refusal | undefined> {
  const waiting = await listWaitingNotes(tx, to, MOST_WAITING_NOTES);
  if (waiting.length >= MOST_WAITING_NOTES) return new Refusal("note_limit");
  const { agent, run, requestId, person } = to;
  const id = ctx.newId("note");
  await insertAgentNote(tx, { id, agent, run, requestId, person, words: words.words });
  await exposeIn(ctx, tx, words);
  await appendAudit(tx, {
    actor: { kind: "human", id: person },
    action: "agent_note.sent",
    agent,
    subjectId: requestId ?? id,
    data: { note: id, run },
  });
  tx.wake(notesTopic(agent, run));
  tx.wake(INBOX_TOPIC);
  return undefined;
}
