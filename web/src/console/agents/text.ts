/** The words of the programs that ask, loaded with them. */
import { translated } from "../../language.ts";
import { text as english, type AgentsTexts } from "./text.en.ts";

export const text: AgentsTexts = translated(english, {
  de: () => import("./text.de.ts"),
  ar: () => import("./text.ar.ts"),
});
