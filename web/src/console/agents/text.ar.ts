/** The words of the programs that ask, in Arabic. */
import { duration, percent, pluralsOf } from "../../format.ts";
import type { AgentsTexts } from "./text.en.ts";

const counted = pluralsOf("ar");

export const text: AgentsTexts = {
  title: "كل من يسأل",
  failed: "تعذّر تحميل الوكلاء",
  none: "لم يسأل أي برنامج بعد.",
  more: "عرض المزيد من الوكلاء",
  lastAsked: (ago) => `سأل ${ago}`,
  never: "لم يسأل قط",
  waiting: (n) =>
    counted(n, {
      one: "طلب واحد ينتظر",
      two: "طلبان ينتظران",
      few: "# طلبات تنتظر",
      many: "# طلبًا تنتظر",
      other: "# طلب تنتظر",
    }),
  questions: (n) =>
    counted(n, {
      one: "سؤال واحد مفتوح للجميع",
      two: "سؤالان مفتوحان للجميع",
      few: "# أسئلة مفتوحة للجميع",
      many: "# سؤالًا مفتوحًا للجميع",
      other: "# سؤال مفتوح للجميع",
    }),
  approved: (share, of) =>
    `ووفق على ${percent(share)} من ${counted(of, {
      one: "أحدث قرار",
      two: "أحدث قرارين",
      few: "أحدث # قرارات",
      many: "أحدث # قرارًا",
      other: "أحدث # قرار",
    })}`,
  wait: (ms) => `وسيط الانتظار ${duration(ms)}`,
  keys: (n) =>
    counted(n, {
      zero: "بلا مفاتيح",
      one: "مفتاح واحد",
      two: "مفتاحان",
      few: "# مفاتيح",
      many: "# مفتاحًا",
      other: "# مفتاح",
    }),
  grants: (n) =>
    counted(n, {
      one: "إذن دائم واحد",
      two: "إذنان دائمان",
      few: "# أذون دائمة",
      many: "# إذنًا دائمًا",
      other: "# إذن دائم",
    }),
  frozen: "مجمّد",
};
