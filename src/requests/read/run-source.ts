import type { Context } from "../../context.ts";
import type { Noted } from "../../core/store/noted.ts";
import type { CallOutcomeState } from "../model/call-outcome.ts";
import type { Request } from "../model/request.ts";
import type { RunEvent } from "../model/run.ts";
import type { PlaceBefore, ReadRun } from "../store/runs.ts";

/** A place in a timeline: behind it come the entries that are older. */
export interface RunPlace extends PlaceBefore {
  /** The place of its source among the sources, which orders the entries of one time. */
  source: number;
}

/** One thing that happened in a run. */
export interface RunEntry {
  /** Orders the entries of one source and time. */
  id: number;
  at: number;
  event: RunEvent;
  actor: Noted["actor"];
  via: string | undefined;
  /** Null for what is about no request. */
  request: Request | null;
  /** The state of a call from then on, where the entry tells it. */
  state: CallOutcomeState | null;
  /** The words of whoever did it. */
  words: string | null;
}

/** A run as a person reads it. */
export interface RunReader extends ReadRun {
  person: string;
}

/** Reads up to `limit` entries before a place, the newest first: of those that the reader may see. */
export type RunSource = (
  ctx: Context,
  reader: RunReader,
  page: { before: PlaceBefore | undefined; limit: number },
) => Promise<RunEntry[]>;
