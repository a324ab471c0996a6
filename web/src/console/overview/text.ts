/** The words of the console's sections, and of the state beside each of their pages. */
import { translated } from "../../language.ts";
import { text as english, type OverviewTexts } from "./text.en.ts";

export type { Group } from "./text.en.ts";

export const text: OverviewTexts = translated(english, {
  de: () => import("./text.de.ts"),
  ar: () => import("./text.ar.ts"),
});
