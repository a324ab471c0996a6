/** The words of the pages about what executors do. */
import { translated } from "../../language.ts";
import { text as english, type RelayTexts } from "./text.en.ts";

export const text: RelayTexts = translated(english, {
  de: () => import("./text.de.ts"),
  ar: () => import("./text.ar.ts"),
});
