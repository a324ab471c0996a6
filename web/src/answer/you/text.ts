/** Every word of the pages about the person in front of the screen. */
import { translated } from "../../language.ts";
import { text as english, type YouTexts } from "./text.en.ts";

export const text: YouTexts = translated(english, {
  de: () => import("./text.de.ts"),
  ar: () => import("./text.ar.ts"),
});
