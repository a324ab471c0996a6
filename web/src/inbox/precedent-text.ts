/** The words of earlier decisions on a function, loaded with them. */
import { translated } from "../language.ts";
import { text as english, type PrecedentTexts } from "./precedent-text.en.ts";

export const text: PrecedentTexts = translated(english, {
  de: () => import("./precedent-text.de.ts"),
  ar: () => import("./precedent-text.ar.ts"),
});
