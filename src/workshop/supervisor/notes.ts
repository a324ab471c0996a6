import type { ReadableNote } from "../../requests/model/agent-note.ts";
import type { AgentCallbacks } from "../agents/agent.ts";
import type { SupervisorFact } from "./lines.ts";

/** The notes of people on their way to an agent. */
export interface AgentNotes extends Pick<AgentCallbacks, "onNote" | "noted"> {
  /** Passes a note on, once however often it is sent; it waits until the adapter listens. */
  pass(note: ReadableNote): void;
}

/** Returns the way of notes from a client of the supervisor to the agent, which each travel once. */
export function openAgentNotes(append: (fact: SupervisorFact) => void): AgentNotes {
  const passed = new Set<string>();
  const early: ReadableNote[] = [];
  let take: ((note: ReadableNote) => void) | undefined;
  return {
    pass(note) {
      if (passed.has(note.id)) return;
      passed.add(note.id);
      if (take) take(note);
      else early.push(note);
    },
    onNote(listener) {
      take = listener;
      for (const note of early.splice(0)) listener(note);
    },
    noted: (id) => append({ type: "noted", id }),
  };
}
