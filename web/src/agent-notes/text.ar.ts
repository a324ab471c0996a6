import type { AgentNoteTexts } from "./text.en.ts";

export const text: AgentNoteTexts = {
  open: "ملاحظة",
  title: (agent) => `ملاحظة إلى ${agent}`,
  lead: "يقرؤها الوكيل في خطوته التالية، ولا توافق على شيء.",
  words: "ملاحظتك",
  send: "إرسال",
  done: "أُرسلت.",
  thread: "ملاحظات إلى الوكيل",
  wrote: (name) => (name === null ? "ملاحظتك" : `ملاحظة من ${name}`),
  waits: "لم يقرأها الوكيل بعد.",
  given: (time) => `وصلت إلى الوكيل: ${time}`,
};
