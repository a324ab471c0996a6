/** The words of questions to an agent, loaded with them. */
import { translated } from "../language.ts";
import { text as english, type AskBackTexts } from "./ask-back-text.en.ts";

export const text: AskBackTexts = translated(english, {
  de: () => import("./ask-back-text.de.ts"),
  ar: () => import("./ask-back-text.ar.ts"),
});
