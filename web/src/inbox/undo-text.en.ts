/** The words of the inbox for a decision that can be undone. */
import { count } from "../format.ts";

export const text = {
  undo: "Undo",
  hint: "You can undo it for a moment.",
  soon: "It takes effect in a moment.",
  undone: (n: number) => `${count(n, "decision", "decisions")} undone.`,
  nothing: "There is nothing to undo any more.",
  failed: (why: string) => `Not undone. ${why}`,
};

export type UndoTexts = typeof text;
