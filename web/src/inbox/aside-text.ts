/** The words of the inbox that are loaded when somebody needs them. */
import { translated } from "../language.ts";
import { type AsideTexts, text as english } from "./aside-text.en.ts";

export const text: AsideTexts = translated(english, {
  de: () => import("./aside-text.de.ts"),
  ar: () => import("./aside-text.ar.ts"),
});
