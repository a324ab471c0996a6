/** The words of the timeline of a run, loaded with it. */
import { translated } from "../language.ts";
import { text as english, type RunTexts } from "./run-text.en.ts";

export const text: RunTexts = translated(english, {
  de: () => import("./run-text.de.ts"),
  ar: () => import("./run-text.ar.ts"),
});
