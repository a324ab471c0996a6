/** The words of requests that are handed on, loaded with them. */
import { translated } from "../language.ts";
import { text as english, type HandOnTexts } from "./hand-on-text.en.ts";

export const text: HandOnTexts = translated(english, {
  de: () => import("./hand-on-text.de.ts"),
  ar: () => import("./hand-on-text.ar.ts"),
});
