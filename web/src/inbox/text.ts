/** The words of the Inbox, loaded with it. */
import { translated } from "../language.ts";
import { text as english, type InboxTexts } from "./text.en.ts";

export const text: InboxTexts = translated(english, {
  de: () => import("./text.de.ts"),
  ar: () => import("./text.ar.ts"),
});
