import { number } from "../format.ts";
import type { PrecedentTexts } from "./precedent-text.en.ts";

export const text: PrecedentTexts = {
  title: "من قبل",
  said: ({ approved, edited }, who) => (approved ? `${edited ? "وافق مع تعديلات" : "وافق"}: ${who}` : `رفض: ${who}`),
  same: "بالوسائط نفسها",
  changes: "ما يختلف الآن",
  kinds: { added: "جديد", removed: "لم يعد موجودًا" },
  secret: "يختلف، ويحتوي على سر",
  long: "يختلف، وهو أطول من أن يقارن هنا",
  more: (n) => `وسائط أخرى مختلفة: ${number(n)}`,
  earlier: (n) => `قرارات أخرى سابقة: ${number(n)}`,
  failed: "تعذّر تحميل القرارات السابقة.",
};
