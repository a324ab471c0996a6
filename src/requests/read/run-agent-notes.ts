import type { Context } from "../../context.ts";
import { runEventOf } from "../model/run.ts";
import { findNoteWords } from "../store/agent-notes.ts";
import { findRequests, listNotesToAgent } from "../store/runs.ts";
import type { RunEntry, RunReader, RunSource } from "./run-source.ts";

/**
 * Returns the notes of people to the agent of the run, as they were sent, and as the agent got them: of those from cards
 * what the reader may open, and all that were written at its task. The words of a note are gone with it.
 */
export async function readRunAgentNotes(
  ctx: Context,
  reader: RunReader,
  page: Parameters<RunSource>[2],
): Promise<RunEntry[]> {
  const found = await listNotesToAgent(ctx.db, reader, page);
  const noteOf = ({ data }: (typeof found)[number]): string => String(data["note"] ?? "");
  const requests = await findRequests(ctx.db, [...new Set(found.flatMap(({ subjectId }) => subjectId ?? []))]);
  const words = await findNoteWords(ctx.db, [...new Set(found.map(noteOf))]);
  return found.map((entry) => {
    const { id, at, actor, via, subjectId } = entry;
    const event = runEventOf(entry);
    const request = requests.get(subjectId ?? "") ?? null;
    const said = event === "noted" ? (words.get(noteOf(entry)) ?? null) : null;
    return { id, at, event, actor, via, request, state: null, words: said };
  });
}
