/** The words for each key and for the palette, loaded with the list of keys. */
import { translated } from "../language.ts";
import { text as english, type KeyTexts } from "./text.en.ts";

export const text: KeyTexts = translated(english, {
  de: () => import("./text.de.ts"),
  ar: () => import("./text.ar.ts"),
});
