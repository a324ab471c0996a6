import type { SnoozeTexts } from "./snooze-text.en.ts";

export const text: SnoozeTexts = {
  title: "تأجيل حتى",
  lead: "يغيب عن قائمتك وحدها حتى ذلك الوقت، ويبقى موعده النهائي كما هو.",
  times: {
    hour: "بعد ساعة",
    evening: "هذا المساء",
    tomorrow: "غدًا",
    latest: "قبل الموعد النهائي",
  },
  done: "تم التأجيل.",
  wake: "الإعادة الآن",
  awake: "عاد إلى قائمتك.",
};
