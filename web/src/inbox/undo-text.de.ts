import { count } from "../format.ts";
import type { UndoTexts } from "./undo-text.en.ts";

export const text: UndoTexts = {
  undo: "Zurücknehmen",
  hint: "Es lässt sich noch kurz zurücknehmen.",
  soon: "Es wirkt gleich.",
  undone: (n) => `${count(n, "Entscheidung", "Entscheidungen")} zurückgenommen.`,
  nothing: "Es gibt nichts mehr zurückzunehmen.",
  failed: (why) => `Nicht zurückgenommen. ${why}`,
};
