/** The words of decisions by time, in Arabic. */
import { duration, number, pluralsOf } from "../../format.ts";
import type { TodayTexts } from "./text.en.ts";

const counted = pluralsOf("ar");

export const text: TodayTexts = {
  failed: "تعذّر تحميل الأرقام",
  listFailed: "تعذّر تحميل القائمة",
  span: "المدة",
  spans: { day: "24 ساعة", week: "7 أيام", month: "30 يومًا" },
  by: { people: "أشخاص", rule: "قواعد", model: "نماذج", nobody: "لا أحد في الوقت المحدد", withdrawn: "سُحب" },
  kinds: { question: "سؤال للجميع", request: "طلب", ask: "سؤال من منفّذ" },
  results: {
    approved: "ووفق عليه",
    rejected: "رُفض",
    answered: "أُجيب عنه",
    expired: "فات وقته",
    cancelled: "سُحب",
    ANSWERED: "أُجيب عنه",
    REJECTED: "رُفض",
    TIMEOUT: "فات وقته",
    ERROR: "فشل",
  },
  before: (n) => `${number(n)} في المدة السابقة`,
  total: (n) =>
    counted(n, {
      zero: "لا قرارات.",
      one: "قرار واحد.",
      two: "قراران.",
      few: "# قرارات.",
      many: "# قرارًا.",
      other: "# قرار.",
    }),
  waits: (medianMs, p95Ms) =>
    `نصف قرارات الأشخاص استغرق ${duration(medianMs)} على الأكثر، و95 % منها ${duration(p95Ms)} على الأكثر.`,
  waiting: (n) =>
    counted(n, {
      zero: "لا شيء ينتظر الآن.",
      one: "أمر واحد ينتظر الآن",
      two: "أمران ينتظران الآن",
      few: "# أمور تنتظر الآن",
      many: "# أمرًا تنتظر الآن",
      other: "# أمر تنتظر الآن",
    }),
  chart: "القرارات حسب الوقت",
  table: "في جدول",
  from: "من",
  activity: "النشاط",
  all: "الكل",
  filterBy: "من قرّر",
  filterKind: "النوع",
  filterState: "الحالة",
  states: { ended: "انتهى", waiting: "ينتظر" },
  agentOnly: (agent) => `من ${agent}`,
  between: (from, until) => `من ${from} حتى ${until}`,
  anyTime: "في أي وقت",
  rows: (n) =>
    counted(n, {
      zero: "لا صفوف.",
      one: "صف واحد.",
      two: "صفّان.",
      few: "# صفوف.",
      many: "# صفًا.",
      other: "# صف.",
    }),
  none: "لا شيء من هذا النوع.",
  took: (ms) => `بعد ${duration(ms)}`,
  waitsSince: (ms) => `ينتظر منذ ${duration(ms)}`,
};
