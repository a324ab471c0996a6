/** The words of decisions by time, loaded with them. */
import { translated } from "../../language.ts";
import { text as english, type TodayTexts } from "./text.en.ts";

export const text: TodayTexts = translated(english, {
  de: () => import("./text.de.ts"),
  ar: () => import("./text.ar.ts"),
});
