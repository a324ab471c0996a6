import type { AskBackTexts } from "./ask-back-text.en.ts";

export const text: AskBackTexts = {
  open: "استفسار",
  title: (agent) => `استفسار من ${agent}`,
  lead: "يبقى الطلب مفتوحًا، ويصلك الجواب هنا وعلى قنواتك.",
  question: "سؤالك",
  send: "إرسال السؤال",
  cannot: (agent) => `لا يمكن سؤال ${agent}، فهو ينتظر القرار وحده، لكنه يقرأ التعليق المرفق بالرفض.`,
  done: "أُرسل السؤال.",
  thread: "أسئلة إلى الوكيل",
  asked: (name) => (name === null ? "سؤالك" : `سؤال ${name}`),
  answered: (agent) => `جواب ${agent}`,
  sent: "لم يقرأه الوكيل بعد.",
  told: "وصل إلى الوكيل ولم يجب بعد.",
};
