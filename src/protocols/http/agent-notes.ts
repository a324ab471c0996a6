import type { Context } from "../../context.ts";
import type { NotedRun } from "../../requests/model/agent-note.ts";
import { readNotesOfRun } from "../../requests/notes/give-notes.ts";
import type { WireAgentNote } from "../../wire/agent-note.ts";
import { wireTime } from "./question.ts";

/** Returns the notes of a run as a person sees them; with `readers`, those that they may open. */
export async function agentNotesBody(
  ctx: Pick<Context, "db">,
  run: NotedRun,
  person: string | null,
  readers?: readonly string[],
): Promise<WireAgentNote[]> {
  const notes = await readNotesOfRun(ctx, run, readers);
  return notes.map(({ id, name, person: author, words, sentAt, givenAt }) => ({
    id,
    name,
    mine: author === person,
    text: words,
    at: wireTime(sentAt),
    given_at: givenAt === null ? null : wireTime(givenAt),
  }));
}
