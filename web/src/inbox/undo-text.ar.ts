import { pluralsOf } from "../format.ts";
import type { UndoTexts } from "./undo-text.en.ts";

const counted = pluralsOf("ar");
const decisions = (n: number): string =>
  counted(n, {
    zero: "لا قرارات",
    one: "قرار واحد",
    two: "قراران",
    few: "# قرارات",
    many: "# قرارًا",
    other: "# قرار",
  });

export const text: UndoTexts = {
  undo: "تراجع",
  hint: "يمكن التراجع عنه خلال لحظات.",
  soon: "يسري بعد لحظة.",
  undone: (n) => `تم التراجع: ${decisions(n)}.`,
  nothing: "لم يعد هناك ما يمكن التراجع عنه.",
  failed: (why) => `لم يتم التراجع. ${why}`,
};
