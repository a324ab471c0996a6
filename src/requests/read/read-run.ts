import type { Context } from "../../context.ts";
import type { RequestId } from "../../core/model/ids.ts";
import type { Noted } from "../../core/store/noted.ts";
import { type CallOutcome, outcomeOf as callOutcomeOf } from "../model/call-outcome.ts";
import type { Request } from "../model/request.ts";
import { type RunEvent, runEventOf, stateOfNote } from "../model/run.ts";
import { readCallOutcomes } from "../outcome/read-outcomes.ts";
import { findRequests, listRunNotes, type PlaceBefore } from "../store/runs.ts";
import { readInInbox, readersFor } from "./read-request.ts";
import { readRunAgentNotes } from "./run-agent-notes.ts";
import { readRunFreezes } from "./run-freezes.ts";
import type { RunEntry, RunPlace, RunReader, RunSource } from "./run-source.ts";

/** Where the entries of a run come from. A source keeps its place: cursors name it. */
const SOURCES: readonly RunSource[] = [readRunNotes, readRunFreezes, readRunAgentNotes];

export interface RunPage {
  entries: readonly (RunEntry & { place: RunPlace })[];
  /** Where the next page goes on; null after the last. */
  next: RunPlace | null;
}

/**
 * Returns one page of the run that a request is part of, the newest entry first: what concerns the requests that the
 * person may open, and nothing of others. It is empty for a request that is part of no run.
 *
 * @throws {Refusal} `request_not_found` for a request that the person may not open
 */
export async function readRun(
  ctx: Context,
  { person, requestId }: { person: string; requestId: RequestId },
  { before, limit }: { before?: RunPlace | undefined; limit: number },
): Promise<RunPage> {
  const { run } = await readInInbox(ctx, person, requestId);
  if (run === undefined) return { entries: [], next: null };
  const reader = { run, person, readers: await readersFor(ctx.db, person) };
  // One more than requested shows whether there is another page.
  const read = await Promise.all(
    SOURCES.map(async (source, i) => {
      const found = await source(ctx, reader, { before: before && placeIn(i, before), limit: limit + 1 });
      return found.map((entry) => ({ ...entry, place: { at: entry.at, source: i, id: entry.id } }));
    }),
  );
  const all = read.flat().sort(({ place: one }, { place: other }) => compared(other, one));
  const entries = all.slice(0, limit);
  return { entries, next: all.length > limit ? (entries.at(-1)?.place ?? null) : null };
}

const compared = (one: RunPlace, other: RunPlace): number =>
  one.at - other.at || one.source - other.source || one.id - other.id;

/** Returns the place within one source that a place in the whole timeline is. */
function placeIn(source: number, before: RunPlace): PlaceBefore {
  if (source === before.source) return before;
  return { at: source < before.source ? before.at + 1 : before.at, id: 0 };
}

/** Reads the notes of the record about the requests of a run. */
async function readRunNotes(ctx: Context, run: RunReader, page: Parameters<RunSource>[2]): Promise<RunEntry[]> {
  const notes = await listRunNotes(ctx.db, run, page);
  const ids = [...new Set(notes.flatMap(({ subjectId }) => subjectId ?? []))];
  const requests = await findRequests(ctx.db, ids);
  const outcomes = await readCallOutcomes(ctx, [...requests.values()]);
  return notes.flatMap((note) => {
    const request = requests.get(note.subjectId ?? "");
    return request ? [entryOf(note, request, outcomes.get(request.id))] : [];
  });
}

function entryOf(note: Noted, request: Request, stored: CallOutcome | undefined): RunEntry {
  const { id, at, actor, via } = note;
  const event = runEventOf(note);
  const now = callOutcomeOf(request, stored)?.state ?? null;
  const isUnreported = event === "approved" && now === "not_reported";
  const state = event === "outcome" ? (stateOfNote(note) ?? now) : isUnreported ? now : null;
  const words = event === "outcome" && state === now ? (stored?.words ?? null) : wordsOf(event, note, request);
  return { id, at, event, actor, via, request, state, words };
}

/** Returns the words of whoever did it, as the card shows them. */
function wordsOf(event: RunEvent, { data }: Noted, { outcome, form, inquiries = [] }: Request): string | null {
  const inquiry = inquiries[Number(data["inquiry"]) - 1];
  if (event === "asked_back") return inquiry?.text ?? null;
  if (event === "inquiry_answered") return inquiry?.answer ?? null;
  if (event === "answered") {
    const options = form.kind === "reply" ? form.options : [];
    const option = options.find(({ name }) => name === outcome?.option);
    return option?.title ?? outcome?.option ?? outcome?.text ?? outcome?.comment ?? null;
  }
  return event === "approved" || event === "rejected" ? (outcome?.comment ?? null) : null;
}
