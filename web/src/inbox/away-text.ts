/** The words of absences, loaded with them. */
import { translated } from "../language.ts";
import { text as english, type AwayTexts } from "./away-text.en.ts";

export const text: AwayTexts = translated(english, {
  de: () => import("./away-text.de.ts"),
  ar: () => import("./away-text.ar.ts"),
});
