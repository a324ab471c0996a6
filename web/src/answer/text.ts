/** Every word of Answer that is needed only after a question is on screen. */
import { translated } from "../language.ts";
import { text as english, type AnswerTexts } from "./text.en.ts";

export const text: AnswerTexts = translated(english, {
  de: () => import("./text.de.ts"),
  ar: () => import("./text.ar.ts"),
});
