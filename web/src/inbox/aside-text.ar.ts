/** The words of the inbox that wait for somebody to need them: of its search, and of nobody being signed in; in Arabic. */
import { isolated } from "../format.ts";
import type { AsideTexts } from "./aside-text.en.ts";

export const text: AsideTexts = {
  search: "البحث",
  searchOver: "البحث فيما تقرّر",
  searchOverHint: "من، ماذا، كلمات، يوم (2026-11-23)",
  order: "الترتيب",
  orders: { deadline: "حسب الموعد النهائي", asked: "الأطول انتظارًا أولًا", risk: "الأعلى خطرًا أولًا" },
  signedOut: "يلزم تسجيل الدخول لعرض الوارد",
  signedOutHint: `الموافقات والأسئلة هنا موجهة إلى أشخاص بأسمائهم. ينشئ لك من يدير هذا الخادم رابطًا بالأمر ${isolated("parley link --person YOUR-ID")}، ويعمل مرة واحدة.`,
  codeFailed: "لم يعد هذا الرابط صالحًا",
  codeFailedHint: "رابط تسجيل الدخول يعمل مرة واحدة، ولمدة 30 دقيقة. يمكن طلب رابط آخر.",
  toQuestions: "فتح الأسئلة الموجهة إلى الجميع",
};
