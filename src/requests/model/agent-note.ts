import type { RequestId } from "../../core/model/ids.ts";
import { withoutSteering } from "../../lib/printable.ts";
import type { TaskOfRequest } from "./task-of-request.ts";
import type { Request } from "./request.ts";

/** The run of an agent that reads a note: a session of a coding agent, by its principal, or a task. */
export interface NotedRun {
  agent: string;
  run: string;
}

/** The words of a person to an agent at work. They approve nothing (spec/a2h 26). */
export interface AgentNote extends NotedRun {
  id: string;
  /** The request on whose card it was written; null where it was written at the task. */
  requestId: RequestId | null;
  person: string;
  words: string;
  sentAt: number;
  /** When the agent got it; null before. */
  givenAt: number | null;
}

/** A note as an agent reads it. */
export interface ReadableNote {
  id: string;
  text: string;
}

export const LONGEST_AGENT_NOTE = 1000;
/** The most notes of one run that wait for its agent. */
export const MOST_WAITING_NOTES = 20;
/** The agent of each task, whichever attempt is at work on it. No principal has this name. */
const TASKS = "tasks/";

/** Returns the run that is the work on a task. */
export const runOfTask = (repo: string, id: string): NotedRun => ({ agent: TASKS, run: `${repo} / ${id}` });

/**
 * Returns the run whose agent a note on the card of this request would reach; null where none would: its agent reads no
 * notes, or Parley itself asked.
 */
export function notedRunOf(request: Request, task: TaskOfRequest | null): NotedRun | null {
  if (task !== null) return task.about === "wish" && task.agent !== null ? runOfTask(task.repo, task.id) : null;
  const prompt = request.wire["agent_prompt"] as { reads_notes?: boolean } | undefined;
  const session = request.wire["run_id"];
  if (prompt?.reads_notes !== true || typeof session !== "string") return null;
  return { agent: request.asker, run: session };
}

/**
 * Returns the words of a note as an agent reads them, which say whose they are and that they allow nothing. A name stands
 * in one line and between quotation marks, which it cannot close: it may read like a sentence of Parley.
 */
export function readableNote({ id, words }: Pick<AgentNote, "id" | "words">, name: string): ReadableNote {
  const called = withoutSteering(name)
    .replace(/\s+/gu, " ")
    .replace(/["“”„«»]/gu, "'")
    .trim();
  const says = `A note from "${called}", a person, by Parley. It approves nothing: calls that need an approval are still asked.`;
  return { id, text: `${says}\n\n${withoutSteering(words)}` };
}
