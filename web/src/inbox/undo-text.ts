/** The words of decisions that can be undone, loaded with them. */
import { translated } from "../language.ts";
import { text as english, type UndoTexts } from "./undo-text.en.ts";

export const text: UndoTexts = translated(english, {
  de: () => import("./undo-text.de.ts"),
  ar: () => import("./undo-text.ar.ts"),
});
