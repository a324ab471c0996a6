/** The words of requests that are put aside, loaded with them. */
import { translated } from "../language.ts";
import { text as english, type SnoozeTexts } from "./snooze-text.en.ts";

export const text: SnoozeTexts = translated(english, {
  de: () => import("./snooze-text.de.ts"),
  ar: () => import("./snooze-text.ar.ts"),
});
