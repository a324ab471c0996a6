import type { HandOnTexts } from "./hand-on-text.en.ts";

export const text: HandOnTexts = {
  title: "تسليم الطلب",
  lead: "يغيب عن قائمتك ويتصدر قائمتهم، ولا يتغير من يحق له القرار.",
  to: "إلى",
  search: "البحث عن اسم",
  people: "الأشخاص",
  group: (name) => `${name} (مجموعة)`,
  nobody: "لا يحق لغيرك أن يقرر في هذا الطلب.",
  away: (day) => `غياب حتى ${day}`,
  note: "ملاحظة",
  noteHint: "يرونها مع الطلب.",
  send: "تسليم",
  back: "إعادته إلى صاحبه",
  takeBack: "استرداد",
  done: "سُلّم الطلب.",
  isBack: "عاد إلى قائمتك.",
};
