import type { Sandbox } from "../../core/model/sandbox.ts";
import type { AddressedAsk } from "./request.ts";

/** What an ask about a task keeps of it. */
export interface TaskAskWire {
  repo: string;
  id: string;
  /** Which attempt at it. */
  attempt: number;
  about: "review" | "conflict";
}

/** The task that people are asked about, and what of it; `wish` is what an agent at work on it wants to do or know. */
export interface TaskOfAsk {
  repo: string;
  id: string;
  attempt: number;
  about: TaskAskWire["about"] | "wish";
  /** Whose wish it is, and how they are kept apart from the machine; null where no agent wishes anything. */
  agent: string | null;
  sandbox: Sandbox | null;
}

/** Returns which task an ask is about, and what of it; null for any other ask. No other door keeps `about`. */
export function taskAskOf({ wire }: Pick<AddressedAsk, "wire">): TaskAskWire | null {
  const { repo, id, attempt, about } = wire as Partial<TaskAskWire>;
  if (repo === undefined || id === undefined || attempt === undefined || about === undefined) return null;
  return { repo, id, attempt, about };
}

/** Of which task an ask to people is, where a coding agent asked them by the key of its attempt. */
export interface OwnTask {
  repo: string;
  id: string;
  attempt: number;
  agent: string;
  sandbox: Sandbox | null;
  /** What its log and its asks show, where the ask itself holds a secret. */
  safe?: { title: string; words: string };
}

/** Where a request keeps its `OwnTask`. */
export const OWN_TASK = "own_task";

/** Returns the task whose agent asks; null for any other ask. */
export function ownTaskOf({ wire }: Pick<AddressedAsk, "wire">): OwnTask | null {
  return (wire[OWN_TASK] as OwnTask | undefined) ?? null;
}
