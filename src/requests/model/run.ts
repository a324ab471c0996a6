import type { CallOutcomeState } from "./call-outcome.ts";
import type { Request } from "./request.ts";
import { ownTaskOf, taskAskOf } from "./task-of-request.ts";

/** Where a request that stands for the ask of an attempt keeps its task. */
export const TASK_OF_JOB = "task_of_job";

/** Names that programs give to every request, and so to no run: the MCP door, `parley ask` and the SDKs. */
const NAMES_OF_ALL: ReadonlySet<unknown> = new Set(["mcp", "parley ask", "sdk"]);

/**
 * Returns the key of the run that a request is part of; null where it names none. All requests about a task are one run,
 * whoever asks. So are those of a job. Else a run is what one asker names so (spec/a2h 25).
 */
export function runOf({ asker, wire }: Pick<Request, "asker" | "wire">): string | null {
  const task =
    taskAskOf({ wire }) ?? ownTaskOf({ wire }) ?? (wire[TASK_OF_JOB] as { repo: string; id: string } | undefined);
  if (task) return JSON.stringify(["task", task.repo, task.id]);
  const { job_id: job, run_id: run } = wire;
  if (typeof job === "string") return JSON.stringify(["job", job]);
  return typeof run !== "string" || run === "" || NAMES_OF_ALL.has(run) ? null : JSON.stringify(["run", asker, run]);
}

/** The kinds of entries in the timeline of a run. */
export const RUN_EVENTS = [
  "asked",
  "pressed",
  "undone",
  "counted",
  "approved",
  "rejected",
  "answered",
  "expired",
  "cancelled",
  "asked_back",
  "inquiry_answered",
  "noted",
  "note_given",
  "started",
  "outcome",
  "frozen",
  "thawed",
] as const;
export type RunEvent = (typeof RUN_EVENTS)[number];

/** The parts of a note in the record by which its kind is known. */
interface Note {
  action: string;
  data: Readonly<Record<string, unknown>>;
}

const NOUNS = ["function_call", "human_contact", "message"] as const;

/** The notes of the record about a request, behind the noun. */
const EVENTS: Readonly<Record<string, RunEvent>> = {
  created: "asked",
  pressed: "pressed",
  press_undone: "undone",
  approval_counted: "counted",
  approved: "approved",
  rejected: "rejected",
  answered: "answered",
  expired: "expired",
  cancelled: "cancelled",
  asked_back: "asked_back",
  inquiry_answered: "inquiry_answered",
};

/** The notes of the record about a call after its approval; a call of a plan has no other entries. */
const LATER_EVENTS: Readonly<Record<string, RunEvent>> = {
  "function_call.claimed": "started",
  "function_call.used": "started",
  "function_call.outcome": "outcome",
  "gate_call.started": "started",
  "gate_call.ended": "outcome",
  "gate_call.unknown": "outcome",
  "gate_call.dropped": "outcome",
};

/** The notes of the record about words of people to the agent at work. */
const NOTE_EVENTS: Readonly<Record<string, RunEvent>> = {
  "agent_note.sent": "noted",
  "agent_note.given": "note_given",
};

const ALL_EVENTS: Readonly<Record<string, RunEvent>> = {
  ...Object.fromEntries(
    NOUNS.flatMap((noun) => Object.entries(EVENTS).map(([action, event]) => [`${noun}.${action}`, event] as const)),
  ),
  ...LATER_EVENTS,
};

/** The actions of the record that are entries of a run, of any request and of the calls of a plan. */
export const RUN_ACTIONS = {
  ofRequest: Object.keys(ALL_EVENTS),
  ofPlannedCall: Object.keys(LATER_EVENTS),
  ofNote: Object.keys(NOTE_EVENTS),
} as const;

/** Returns the task whose run this key is; null for another run. */
export function taskOfRun(run: string): { repo: string; id: string } | null {
  const [kind, repo, id] = JSON.parse(run) as string[];
  return kind === "task" && repo !== undefined && id !== undefined ? { repo, id } : null;
}

/** Returns the kind of entry that a note of the record is. */
export function runEventOf({ action }: Pick<Note, "action">): RunEvent {
  const event = ALL_EVENTS[action] ?? NOTE_EVENTS[action];
  if (!event) throw new Error(`no entry of a run is ${action}`);
  return event;
}

/** Returns the state that a note about the end of a call tells; null where its details are forgotten. */
export function stateOfNote({ action, data }: Note): CallOutcomeState | null {
  if (action === "gate_call.unknown") return "unknown";
  if (action === "gate_call.dropped") return "not_run";
  if (action === "gate_call.ended") return data["outcome"] === "error" ? "failed" : "done";
  return (data["state"] as CallOutcomeState | undefined) ?? null;
}
