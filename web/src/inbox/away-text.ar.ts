import type { AwayTexts } from "./away-text.en.ts";

export const text: AwayTexts = {
  title: "الغياب",
  lead: "يُبلَّغ من ينوب عنك بما يحق له القرار فيه أصلًا، ويتصدر ذلك قائمته.",
  until: "تاريخ العودة",
  standIn: "من ينوب عنك",
  nobody: "لا أحد",
  awayUntil: (name, day) => `${name} (غياب حتى ${day})`,
  save: "حفظ",
  back: "لقد عدت",
  away: (day) => `أنت في غياب حتى ${day}`,
  standsIn: (name) => `ينوب عنك ${name}.`,
  saved: "حُفظ.",
  failed: "لم ينجح ذلك. أعد المحاولة.",
  isBack: "انتهى غيابك.",
};
