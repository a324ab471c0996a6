import { count } from "../format.ts";
import type { UndoTexts } from "./undo-text.en.ts";

export const text: UndoTexts = {
  undo: "Zurücknehmen",
  hint: "Es lässt sich noch kurz zurücknehmen.",
  soon: "Es wirkt gleich.",
  undone: (n) => `${count(n, "Entscheidung", "Entscheidungen")} zurückgenommen.`,
  tooLate: (n) => `Zu spät: ${count(n, "Entscheidung wirkt", "Entscheidungen wirken")} schon.`,
  failed: (why) => `Nicht zurückgenommen. ${why}`,
};
