/** The words of what is stuck, in Arabic. */
import { isolated, number, pluralsOf } from "../../format.ts";
import type { StuckTexts } from "./text.en.ts";

const counted = pluralsOf("ar");

export const text: StuckTexts = {
  failed: "تعذّرت قراءة ما هو عالق",
  total: (n) =>
    counted(n, {
      zero: "لا شيء عالق.",
      one: "أمر واحد عالق.",
      two: "أمران عالقان.",
      few: "# أمور عالقة.",
      many: "# أمرًا عالقًا.",
      other: "# أمر عالق.",
    }),
  running: (n) =>
    counted(n, {
      zero: "لا استدعاءات موافق عليها تعمل الآن.",
      one: "استدعاء واحد موافق عليه يعمل الآن.",
      two: "استدعاءان موافق عليهما يعملان الآن.",
      few: "# استدعاءات موافق عليها تعمل الآن.",
      many: "# استدعاءً موافقًا عليه تعمل الآن.",
      other: "# استدعاء موافق عليه تعمل الآن.",
    }),
  moreOpen: "أكثر من 500 طلب مفتوح. لم يُنظر في الباقي.",
  more: (n) => `${number(n)} أخرى`,
  causes: {
    frozen: "مجمّد",
    policy_stale: "في ملف القواعد خطأ",
    channel_failing: "قناة متعطلة",
    message_failed: "لم تصل الرسالة",
    nobody_reached: "لا أحد يستطيع رؤيته",
    away: "كل من سُئلوا غائبون",
    outcome_unknown: "استدعاء لا تُعرف نهايته",
    webhook_failing: "خطاف ويب متعطل",
    unanswered: "لا جواب بعد",
    question_unanswered: "سؤال بلا أجوبة",
    job_unclaimed: "مهمة بلا منفّذ",
  },
  remedies: {
    frozen: "لا يُوافَق على شيء حتى يرفع أحدٌ التجميد عن الوكيل.",
    policy_stale: "تبقى القواعد السابقة سارية. أصلح الملف.",
    channel_failing: "انظر إلى الخطأ، وأصلح الإعدادات، وأرسل اختبارًا.",
    message_failed: "أصلح العنوان أو القناة، ثم ذكّر الشخص.",
    nobody_reached: "لم يسجّلوا الدخول في أي مكان، ولا جهاز أو قناة تصل إليهم. أرسل إليهم رابط دخول.",
    away: "لا أحد ينوب عنهم. افتحه لتقرر أو لتسلّمه إلى غيرك.",
    outcome_unknown: "بدأ ولم يُبلَّغ عن نهايته. لا يشغّله Parley مرة أخرى: تحقّق هل تم.",
    webhook_failing: "لا تصل النتائج إلى الوكيل. انظر إلى الخطأ وأرسل الحدث مرة أخرى.",
    unanswered: "أُبلغوا به، ومضى نصف الوقت أو ساعة. ذكّرهم.",
    question_unanswered: "مضى نصف الوقت أو ساعة بلا جواب.",
    job_unclaimed: "تنتظر منذ عشر دقائق. شغّل منفّذًا أو ألغها.",
  },
  since: (time) => `منذ ${time}`,
  asked: (names) => `سُئل: ${names}`,
  agent: (name) => `من ${isolated(name)}`,
  via: (channel, error) => `${channel}${error === null ? "" : `: ${isolated(error)}`}`,
  policyFile: "ملف القواعد",
  webhookOf: (agent) => `خطاف الويب الخاص بـ ${isolated(agent)}`,
  open: "فتح",
  thaw: "ما هو مجمّد",
  remind: "تذكير",
  channel: (name) => `القناة ${name}`,
  person: (name) => `رابط دخول لـ ${isolated(name)}`,
  reminded: (n) =>
    counted(n, {
      zero: "ذُكّروا قبل لحظة.",
      one: "ذُكّر شخص واحد.",
      two: "ذُكّر شخصان.",
      few: "ذُكّر # أشخاص.",
      many: "ذُكّر # شخصًا.",
      other: "ذُكّر # شخص.",
    }),
};
