import { pluralsOf } from "../format.ts";
import type { SignOutTexts } from "./sign-out-text.en.ts";

const counted = pluralsOf("ar");

export const text: SignOutTexts = {
  title: "قبل تسجيل الخروج",
  left: (answers, drafts) =>
    [
      answers > 0 &&
        counted(answers, {
          one: "لم تُرسل إجابة واحدة.",
          two: "لم تُرسل إجابتان.",
          few: "لم تُرسل # إجابات.",
          other: "لم تُرسل # إجابة.",
        }),
      drafts > 0 &&
        counted(drafts, {
          one: "توجد مسودة واحدة غير مكتملة، وستُحذف.",
          two: "توجد مسودتان غير مكتملتين، وستُحذفان.",
          few: "توجد # مسودات غير مكتملة، وستُحذف.",
          other: "توجد # مسودة غير مكتملة، وستُحذف.",
        }),
    ]
      .filter(Boolean)
      .join(" "),
  send: "إرسال ثم تسجيل الخروج",
  discard: "حذف وتسجيل الخروج",
  notSent: "لم يمكن إرسال كل شيء. ما زلت مسجّل الدخول.",
  failed: "لا يمكن الوصول إلى الخادم. ما زلت مسجّل الدخول.",
};
