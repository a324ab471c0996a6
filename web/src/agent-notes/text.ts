/** The words of notes to an agent at work, loaded with them. */
import { translated } from "../language.ts";
import { text as english, type AgentNoteTexts } from "./text.en.ts";

export const text: AgentNoteTexts = translated(english, {
  de: () => import("./text.de.ts"),
  ar: () => import("./text.ar.ts"),
});
