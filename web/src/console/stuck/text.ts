/** The words of what is stuck, loaded with it. */
import { translated } from "../../language.ts";
import { text as english, type StuckTexts } from "./text.en.ts";

export const text: StuckTexts = translated(english, {
  de: () => import("./text.de.ts"),
  ar: () => import("./text.ar.ts"),
});
