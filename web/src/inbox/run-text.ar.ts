import { isolated, number } from "../format.ts";
import type { RunTexts } from "./run-text.en.ts";

const by = (what: string, who: string | null): string => (who === null ? what : `${what}: ${who}`);

export const text: RunTexts = {
  title: "كل ما في هذا التشغيل",
  lead: "ما طلبه الوكيل منك، وما تقرر، وما نتج عنه. الأحدث في الأعلى.",
  none: "لا يوجد سجل زمني لهذا",
  noneHint: "لا يذكر الطلب تشغيلًا، أو هو أقدم من السجلات الزمنية.",
  toCard: "العودة إلى الطلب",
  failed: "تعذر تحميل السجل الزمني",
  older: "عرض الأقدم",
  new: (n) => `${number(n)} جديد`,
  said: {
    asked: (_who, agent) => `طلب من ${isolated(agent)}`,
    pressed: (who) => by("ضغط قرار", who),
    undone: (who) => by("تراجع عن قرار", who),
    counted: (who) => by("موافقة محسوبة، ويلزم غيرها", who),
    approved: (who) => by("موافقة", who),
    rejected: (who) => by("رفض", who),
    answered: (who) => by("جواب", who),
    expired: () => "انتهت المهلة",
    cancelled: () => "سُحب الطلب",
    asked_back: (who) => by("استفسار", who),
    inquiry_answered: (_who, agent) => `جواب ${isolated(agent)} عن الاستفسار`,
    noted: (who) => by("ملاحظة إلى الوكيل", who),
    note_given: (_who, agent) => (agent === "" ? "وصلت الملاحظة إلى الوكيل" : `وصلت الملاحظة إلى ${isolated(agent)}`),
    started: (_who, agent) => `بدأ ${isolated(agent)} التنفيذ`,
    outcome: () => "",
    frozen: (who) => by("تجميد", who),
    thawed: (who) => by("إلغاء التجميد", who),
  },
};
