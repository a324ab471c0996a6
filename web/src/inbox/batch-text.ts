/** The words of calls that are decided together, loaded with them. */
import { translated } from "../language.ts";
import { text as english, type BatchTexts } from "./batch-text.en.ts";

export const text: BatchTexts = translated(english, {
  de: () => import("./batch-text.de.ts"),
  ar: () => import("./batch-text.ar.ts"),
});
