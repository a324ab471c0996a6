import { isolated, number } from "../format.ts";
import { countCalls } from "./count-calls.ar.ts";
import type { BatchTexts } from "./batch-text.en.ts";

const beside = (words: string, says: string): string => (says === "" ? words : `${words}: ${isolated(says)}`);

export const text: BatchTexts = {
  title: (n, fn) => `${isolated(fn)}: ${countCalls(n)}`,
  same: "المشترك بينها جميعًا",
  differing: "الاستدعاءات",
  call: "الاستدعاء",
  tickAll: "الكل ما عدا عالية الخطورة",
  tick: (sentence) => `القرار مع البقية: ${isolated(sentence)}`,
  ticked: (n, of) => `المحدد: ${number(n)} من ${number(of)}`,
  left: (n) => `غير محدد لأنه لافت أو عالي الخطورة: ${countCalls(n)}.`,
  more: "ينتظر المزيد منها، ويظهر بعد البت في هذه.",
  gone: "بُتّ فيه في مكان آخر أو انتهى",
  empty: "لم يعد أي من هذه الاستدعاءات ينتظر",
  failed: "تعذّر تحميل هذه الاستدعاءات",
  alone: {
    secret: "يحتوي على سر: افتحه لتقرر.",
    long: "أطول من أن يعرض في جدول: افتحه لتقرر.",
    decided: "لقد قررت؛ وعلى آخرين أن يقرروا أيضًا.",
    not_asked: "يقرره شخص آخر.",
  },
  mark: ({ kind, says }) => {
    switch (kind) {
      case "risk":
        return "خطورة أعلى من البقية";
      case "amount":
        return "بعيد عن البقية";
      case "highest":
        return "الأعلى";
      case "receiver":
        return beside("ليس حيث تذهب البقية", says);
      case "place":
        return beside("خارج مجلد البقية", says);
      case "missing":
        return "موجود في البقية";
      case "added":
        return "غير موجود في البقية";
      case "unlike":
        return beside("مختلف عن البقية", says);
    }
  },
  approve: (n) => `موافقة (${number(n)})`,
  reject: (n) => `رفض (${number(n)})`,
  approveTitle: (n, fn) => `الموافقة على ${isolated(fn)} (${countCalls(n)})؟`,
  rejectTitle: (n, fn) => `رفض ${isolated(fn)} (${countCalls(n)})؟`,
  approveLead: (agent) => `يجوز لـ ${isolated(agent)} تنفيذ كل منها مرة واحدة بالوسائط المعروضة.`,
  rejectLead: "لن يُنفَّذ أي منها.",
  odd: (n) => `اللافت منها: ${number(n)}`,
  tickFirst: "حدد استدعاءً أولًا.",
  done: (n, approved) => `${approved ? "تمت الموافقة" : "تم الرفض"}: ${countCalls(n)}.`,
  noneDecided: (sentence) => `لم يُبتّ في شيء، لأن هذا تعذّر البت فيه: ${isolated(sentence)}`,
};
