/** The words of the Console, loaded with it. */
import { translated } from "../language.ts";
import { text as english, type ConsoleTexts } from "./text.en.ts";

export type { PersonChannel, Scope } from "./text.en.ts";

export const text: ConsoleTexts = translated(english, {
  de: () => import("./text.de.ts"),
  ar: () => import("./text.ar.ts"),
});
