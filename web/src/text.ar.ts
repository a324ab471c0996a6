/** Every word that the app needs at once, in Arabic. */
import { ago, duration, number, pluralsOf } from "./format.ts";
import type { Catalogue } from "./text.en.ts";

const counted = pluralsOf("ar");

export const text: Catalogue = {
  app: "Parley",
  skipToContent: "الانتقال إلى المحتوى",
  welcome: "البرامج تسأل وأنت تجيب، من دون حساب.",
  nav: {
    label: "التنقل الرئيسي",
    answer: "الإجابة",
    inbox: "الوارد",
    run: "الإدارة",
    you: "صفحتي",
    back: "رجوع",
  },
  offline: "لا اتصال",
  loading: "جارٍ التحميل",
  tryAgain: "إعادة المحاولة",
  close: "إغلاق",
  cancel: "إلغاء",
  copy: "نسخ",
  copied: "تم النسخ",
  couldNotCopy: "لم يُنسخ النص. يمكن تحديده ونسخه يدويًا.",

  audience: {
    label: "الموضوع",
    all: "كل المواضيع",
    technical: "تقني",
    product: "منتجات",
    ethics: "أخلاقيات",
    creative: "إبداعي",
    general: "عام",
  },

  more: "عرض المزيد",
  moreFailed: "تعذّر تحميل البقية. يمكن إعادة المحاولة بعد لحظة.",

  feed: {
    title: "الأسئلة",
    count: (n, isMore) => `${number(n)}${isMore ? "+" : ""}`,
    needed: (n) =>
      counted(n, {
        zero: "لا تلزم إجابات أخرى",
        one: "تلزم إجابة واحدة",
        two: "تلزم إجابتان",
        few: "تلزم # إجابات",
        other: "تلزم # إجابة",
      }),
    points: (n) => `+${number(n)}`,
    pointsLong: (n) =>
      counted(n, { zero: "لا نقاط", one: "نقطة واحدة", two: "نقطتان", few: "# نقاط", other: "# نقطة" }),
    left: (ms) => (ms > 0 ? `المتبقي: ${duration(ms)}` : "انتهى الوقت"),
    gone: "أُغلق للتو",
    opened: "وصل سؤال جديد.",
    empty: "لا شيء للإجابة عنه الآن",
    emptyTopic: "لا شيء للإجابة عنه في هذا الموضوع",
    lastCame: (ms) => `وصل آخر سؤال ${ago(ms)}. تظهر الأسئلة الجديدة هنا تلقائيًا.`,
    neverCame: "لم يسأل أي برنامج بعد. تظهر الأسئلة الجديدة هنا تلقائيًا.",
    notify: "تنبيهي عند وصول سؤال",
    allTopics: "عرض كل المواضيع",
    failed: "تعذّر تحميل الأسئلة",
  },

  trouble: {
    offline: "لا اتصال بالخادم",
    offlineHint: "يبقى ما كتبته محفوظًا على هذا الجهاز إلى أن يعود الاتصال بالخادم.",
    signIn: "يلزم تسجيل الدخول أولًا",
    signInHint: "الإجابة هنا لمن سجّل الدخول. يمكن طلب رابط ممن يدير هذا الخادم.",
    limited: (ms) => `كانت هذه طلبات كثيرة دفعة واحدة. المدة المتبقية قبل المتابعة: ${duration(ms)}.`,
  },

  question: {
    machine: "كتب هذا السؤالَ برنامج. يُرجى عدم ذكر أسماء أو أي أمر خاص.",
    yourAnswer: "إجابتك",
    placeholder: "اكتب رأيك",
    options: "الخيارات",
    charactersLeft: (n) =>
      counted(n, {
        zero: "لم يبقَ أي حرف",
        one: "بقي حرف واحد",
        two: "بقي حرفان",
        few: "بقيت # أحرف",
        many: "بقي # حرفًا",
        other: "بقي # حرف",
      }),
    confidence: "ما مدى ثقتك؟",
    optional: "اختياري",
    confidences: ["تخمين", "غير واثق", "واثق إلى حدّ ما", "واثق", "متأكد تمامًا"],
    clear: "مسح",
    pressSends: "لمسة واحدة ترسل الإجابة، ويمكن التراجع عنها للحظة.",
    sendsSoon: "يُرسل بعد لحظة. مفتاح Escape يتراجع عنه.",
    undo: "تراجع",
    send: "إرسال",
    sending: "جارٍ الإرسال",
    skip: "تخطٍّ",
    report: "إبلاغ",
    enterHint: "مفتاح Enter يرسل، وShift مع Enter لسطر جديد.",
    chooseFirst: "يلزم اختيار إجابة أولًا.",
    writeFirst: "يلزم كتابة إجابة أولًا.",
    skipped: "تم التخطي. لن يعود هذا السؤال اليوم.",
    reported: "تم الإبلاغ. شكرًا لك.",
    next: "السؤال التالي",
    nextShort: "التالي",
    toAll: "كل الأسئلة",
    gone: "لم يعد هذا السؤال يقبل إجابات",
    goneFull: "حصل على كل الإجابات المطلوبة.",
    goneExpired: "انتهى وقته.",
    unknown: "لا يوجد سؤال كهذا",
    unknownHint: "ربما حُذف بعد انتهاء وقته، أو أن الرابط غير كامل.",
    kept: "ما كتبته ما زال هنا:",
    failed: "تعذّر تحميل السؤال",
  },

  keys: { title: "المفاتيح" },

  notFound: {
    title: "لا شيء هنا",
    hint: "ربما كُتب العنوان خطأً.",
    action: "الانتقال إلى الأسئلة",
  },
  broken: {
    title: "حدث خطأ في هذه الصفحة",
    hint: "ما كتبته محفوظ. غالبًا ما تفيد إعادة تحميل الصفحة.",
    action: "إعادة التحميل",
  },
};
