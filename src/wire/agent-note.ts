/** Notes of people to an agent at work (spec/a2h 26). */
import { z } from "zod";
import { text } from "./fields.ts";

export const WireAgentNote = z
  .object({
    id: z.string(),
    name: z.string().describe("Who wrote it"),
    mine: z.boolean(),
    text: z.string(),
    at: z.string(),
    given_at: z.string().nullable().describe("When its agent got it; null before"),
  })
  .meta({ id: "AgentNote", description: "A person's words to an agent at work. They approve nothing." });
export type WireAgentNote = z.output<typeof WireAgentNote>;

export const WireAgentNotes = z
  .object({ notes: z.array(WireAgentNote).describe("The newest 50, oldest first") })
  .meta({ id: "AgentNotes", description: "The notes to the agent of one run." });
export type WireAgentNotes = z.output<typeof WireAgentNotes>;

export const WireReadableNote = z
  .object({ id: z.string(), text: z.string() })
  .meta({ id: "ReadableNote", description: "A note in the words that its agent reads." });

export const WireReadableNotes = z
  .object({ notes: z.array(WireReadableNote) })
  .meta({ id: "ReadableNotes", description: "Notes as an agent reads them, oldest first." });
export type WireReadableNotes = z.output<typeof WireReadableNotes>;

export const AgentNoteBody = z
  .object({ text: text(1, 1000).describe("What the agent is to know at its next turn.") })
  .meta({ id: "NewAgentNote", description: "A note to an agent at work." });
export type AgentNoteBody = z.output<typeof AgentNoteBody>;
