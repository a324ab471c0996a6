import type { SandboxKind } from "../../core/model/sandbox.ts";
import type { Request } from "./request.ts";

/** The task that a request is about, as the request stores it. */
export interface TaskAskWire {
  repo: string;
  id: string;
  /** Which attempt at it. */
  attempt: number;
  about: "review" | "conflict";
}

/** The task that people are asked about. */
export interface TaskOfRequest {
  repo: string;
  id: string;
  attempt: number;
  about: TaskAskWire["about"] | "wish";
  /** The agent whose request it is, with its sandbox; null for a request that no agent made. */
  agent: string | null;
  sandbox: SandboxKind | null;
}

/** Returns which task a request is about, and what of it; null for any other request. No other door keeps `about`. */
export function taskAskOf({ wire }: Pick<Request, "wire">): TaskAskWire | null {
  const { repo, id, attempt, about } = wire as Partial<TaskAskWire>;
  if (repo === undefined || id === undefined || attempt === undefined || about === undefined) return null;
  return { repo, id, attempt, about };
}

/** The task of a coding agent that made a request to people with the key of its attempt. */
export interface OwnTask {
  repo: string;
  id: string;
  attempt: number;
  agent: string;
  sandbox: SandboxKind | null;
  /** The texts that the log and the list of requests show if the request itself holds a secret. */
  safe?: { title: string; words: string };
}

/** Where a request keeps its `OwnTask`. */
export const OWN_TASK = "own_task";

/** Returns the task whose agent asks; null for any other request. */
export function ownTaskOf({ wire }: Pick<Request, "wire">): OwnTask | null {
  return (wire[OWN_TASK] as OwnTask | undefined) ?? null;
}
