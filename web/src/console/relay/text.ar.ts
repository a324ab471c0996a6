/** The words of the pages about what executors do, in Arabic. */
import { isolated, number, percent, pluralsOf } from "../../format.ts";
import { shortTime } from "./short-time.ts";
import type { RelayTexts } from "./text.en.ts";
import type { AnsweredBy, AskStatus, AskType, Decision, JobState, Source, Stage } from "./wire.ts";

const counted = pluralsOf("ar");
const waitingAsks = (n: number): string =>
  counted(n, {
    zero: "لا استفسارات تنتظر",
    one: "استفسار واحد ينتظر",
    two: "استفساران ينتظران",
    few: "# استفسارات تنتظر",
    many: "# استفسارًا تنتظر",
    other: "# استفسار تنتظر",
  });
const times = (n: number): string => counted(n, { one: "مرة واحدة", two: "مرتين", few: "# مرات", other: "# مرة" });

const STAGES: Record<Stage, string> = {
  intake: "الاستلام",
  policy: "السياسة",
  cache: "قرارات سابقة",
  runner: "النموذج",
  people: "الأشخاص",
};
const BY: Record<AnsweredBy, string> = {
  policy: "السياسة",
  cache: "قرارات سابقة",
  runner: "النموذج",
  people: "الأشخاص",
  nobody: "لا أحد",
};
const STATUSES: Record<AskStatus, string> = {
  PENDING: "قيد الانتظار",
  ANSWERED: "أُجيب",
  REJECTED: "رُفض",
  TIMEOUT: "انتهى الوقت",
  ERROR: "فشل",
};
const SOURCES: Record<Source, string> = {
  policy: "السياسة",
  cache: "قرار سابق",
  runner: "النموذج",
  person: "شخص",
  service: "خدمة",
  server: "الخادم",
};
const TYPES: Record<AskType, string> = {
  CLARIFICATION: "توضيح",
  RESOURCE_FETCH: "مورد",
  POLICY_DECISION: "قرار وفق السياسة",
  APPROVAL: "موافقة",
  CHOICE: "اختيار",
};
const JOB_STATES: Record<JobState, string> = {
  QUEUED: "في الصف",
  RUNNING: "قيد التشغيل",
  WAITING_ON_ANSWER: "ينتظر إجابة",
  SUCCEEDED: "نجح",
  FAILED: "فشل",
  CANCELED: "أُلغي",
  EXPIRED: "انتهى وقته",
};
const DELIVERIES: Record<string, string> = {
  queued: "لم تُرسل بعد",
  sending: "جارٍ الإرسال",
  sent: "أُرسلت",
  closing: "أُرسلت",
  closed: "أُرسلت",
  failed: "تعذّر الإرسال",
  skipped: "غير لازمة",
};
const DECISIONS: Record<Decision, string> = { ALLOW: "السماح", DENY: "المنع", ESCALATE: "سؤال الأشخاص" };
const SAYS: Record<Decision, string> = { ALLOW: "مسموح", DENY: "ممنوع", ESCALATE: "يُعرض على الأشخاص" };

export const text: RelayTexts = {
  stage: (stage) => STAGES[stage],
  by: (by) => BY[by],
  type: (type) => TYPES[type],
  jobState: (state) => JOB_STATES[state],
  askState: (one) => {
    if (one.status === "PENDING") return `قيد الانتظار: ${STAGES[one.stage]}`;
    if (!one.source || one.source === "server") return STATUSES[one.status];
    return `${STATUSES[one.status]}، من ${one.answered_by ? isolated(one.answered_by) : SOURCES[one.source]}`;
  },
  status: (status) => STATUSES[status],
  which: "أيها",

  live: {
    waiting: "في انتظار الأرقام الأولى…",
    pending: (total, people) =>
      total === 0 ? "لا شيء ينتظر." : `${waitingAsks(total)}، ومنها لدى الأشخاص: ${number(people)}.`,
    ended: "الاستفسارات المنتهية في كل دقيقة",
    endedSays: (total, most) => `المجموع ${number(total)}، والأكثر في دقيقة واحدة ${number(most)}`,
    byStage: (stage, n) => `${STAGES[stage]} ${number(n)}`,
    shares: "مصدر الإجابة",
    share: (by, share, n) => `${BY[by]} ${percent(share)} (${number(n)})`,
    noShares: "لم ينتهِ شيء في الساعة الأخيرة.",
    p95: "إجابات الآلات: مدة وصول 95 من كل 100",
    p95Says: (last, worst) =>
      last === null || worst === null
        ? "لم تُجب أي آلة"
        : `الأخيرة ${isolated(shortTime(last))}، والأطول ${isolated(shortTime(worst))}`,
    chart: (title, says) => `${title}: ${says}`,
    newestAsks: "أحدث الاستفسارات",
    newestJobs: "أحدث الأعمال",
    noAsks: "لم يُسأل شيء بعد",
    noAsksHint: `تسأل البرامج المنفّذة بالطلب ${isolated("POST /asks")}؛ ويظهر ما تسأله هنا فورًا.`,
    noJobs: "لا يوجد عمل بعد",
  },

  asks: {
    title: "الاستفسارات",
    failed: "تعذّر تحميل الاستفسارات",
    all: "الكل",
    open: "قيد الانتظار",
    empty: "لا شيء كهذا",
    emptyHint: `تسأل البرامج المنفّذة بالطلب ${isolated("POST /asks")}.`,
    who: "السائل",
    job: "العمل",
    step: "الخطوة",
    kind: "النوع",
    asked: "وقت السؤال",
    deadline: "الموعد النهائي",
    id: "المعرّف",
    role: "الدور",
    joined: "يشارك إجابة",
    sharedBy: "استفسارات تشارك هذه الإجابة",
    digest: "البصمة التي عُرضت على الأشخاص",
    public: "طُرح على الجمهور",
    context: "ما جاء معه",
    stages: "المراحل",
    noStages: "لم تنتهِ منه أي مرحلة بعد.",
    took: (ms) => isolated(shortTime(ms)),
    answer: "الإجابة",
    noAnswer: "لا إجابة بعد.",
    late: "بعد فوات الأوان",
    trace: "لماذا تقرر السياسة هذا",
    attestation: "الأساس الذي أجاب عليه النموذج",
    json: "بصيغة JSON",
    askBack: "سؤال مقابل",
    truncated: "اختُصر إلى الحد المسموح.",
    artifacts: "الملفات",
    people: "الأشخاص",
    inbox: "فتحه في الوارد",
    receipt: "إيصال موقّع",
    asksWhom: "يحق له الرد",
    deliveries: "الرسائل",
    decisions: "القرارات",
    delivery: (state) => DELIVERIES[state] ?? state,
    decided: (name, approved) => `${approved === null ? "أجاب" : approved ? "وافق" : "رفض"}: ${isolated(name)}`,
    somebody: "شخص ما",
    byChannel: (name, channel) => (name === null ? channel : `${isolated(name)}، ${isolated(channel)}`),
    record: "السجل",
    more: "المزيد",
  },

  jobs: {
    title: "الأعمال",
    failed: "تعذّر تحميل الأعمال",
    all: "الكل",
    open: "مفتوح",
    over: "منتهٍ",
    empty: "لا شيء كهذا",
    emptyHint: `تضع برامج التخطيط الأعمال في الصف بالطلب ${isolated("POST /jobs")}؛ وللبرامج المنفّذة التي تسأل عمل أيضًا.`,
    pending: waitingAsks,
    id: "المعرّف",
    state: "الحالة",
    reason: "السبب",
    kind: "النوع",
    owner: "أنشأه",
    holder: "لدى",
    nobody: "لا أحد",
    external: "يعمل في مكان آخر، بلا مدة حجز",
    epoch: "الدورة",
    attempts: "المحاولات",
    attemptsOf: (n, most) => `${number(n)} من ${number(most)}`,
    lease: "محجوز حتى",
    ttl: "باقٍ حتى",
    made: "أُنشئ",
    changed: "تغيّر",
    place: "المكان",
    labels: "الوسوم",
    spec: "ما المطلوب",
    result: "النتيجة",
    artifacts: "الملفات",
    asks: "الاستفسارات",
    noAsks: "لم يُسأل فيه شيء.",
    events: "الأحداث",
    noEvents: "لم يُحفظ شيء من أحدث الأحداث.",
  },

  policy: {
    title: "السياسة",
    failed: "تعذّر تحميل السياسة",
    state: {
      ok: "سارية كما في الملف.",
      stale: "في الملف خطأ؛ آخر نسخة صحيحة هي السارية.",
      missing: "لا يوجد ملف للسياسة؛ تسري الإعدادات المبدئية.",
    },
    neverRead: "في الملف خطأ، لذلك يقرر الأشخاص كل شيء إلى أن يُصحَّح.",
    version: "النسخة",
    reload: "قراءة الملف من جديد",
    reloaded: "يقرؤه كل خادم من جديد خلال ثانية.",
    rules: "القواعد",
    noRules: "لا توجد قواعد؛ الإعدادات المبدئية هي التي تقرر.",
    defaults: (read, other) => `ما لا تتناوله قاعدة: القراءة ${SAYS[read]}، وكل ما عداها ${SAYS[other]}.`,
    decision: (decision) => DECISIONS[decision],
    would: (decision) => `للمراقبة فقط، كان سيُقرَّر: ${SAYS[decision]}`,
    observed: (n) => `عدد الطلبات المطابقة: ${number(n)}`,
    spared: (n) => (n === 0 ? "لم توفّر أي سؤال بعد" : `عدد الأسئلة التي وفّرتها: ${number(n)}`),
    needs: (n) => `عدد الموافقات اللازمة: ${number(n)}`,
    asks: (to) => `تسأل ${isolated(to)}`,
    learned: "متعلَّمة",
    revoke: (what) => `إلغاء ${isolated(what)}`,
    revoking: (what) => `إلغاء ${isolated(what)}؟`,
    revokeRuleHint: "لن تسري على أي خادم؛ ويُسأل الأشخاص من جديد ابتداءً من الطلب التالي.",
    confirm: "إلغاء السريان",
    revoked: "تم الإلغاء.",
    proposals: "القواعد المقترحة",
    noProposals: "لا شيء مقترح. عندما يوافق الأشخاص على الشيء نفسه مرارًا تُقترح قاعدة.",
    proposed: (approvals) =>
      counted(approvals, {
        zero: "بلا موافقات",
        one: "بعد موافقة واحدة",
        two: "بعد موافقتين على الشيء نفسه",
        few: "بعد # موافقات على الشيء نفسه",
        other: "بعد # موافقة على الشيء نفسه",
      }),
    accept: "تفعيلها",
    accepted: "تسري خلال ثانية.",
    dismiss: "تجاهل",
    dismissed: "تم التجاهل؛ لن تُقترح القاعدة نفسها ثانية.",
    diff: (rule) => `القاعدة التي ستسري: ${isolated(rule)}`,
    grants: "التصاريح",
    noGrants: "لا شيء. يمكن للمدير الذي يوافق على استدعاء أن يسمح بما يشبهه.",
    grantedBy: (name) => `من ${isolated(name)}`,
    until: "حتى",
    test: "تجربة السياسة",
    testHint: "ما الذي سيتقرر، ولماذا. لا يُسأل أحد.",
    fields: {
      action: "الإجراء",
      resource: "المورد",
      env: "البيئة",
      tool: "الأداة",
      repo: "المستودع",
      agent: "البرنامج",
      ask_type: "نوع الاستفسار",
      fn: "الدالة",
      digest: "البصمة",
    },
    any: "غير محدد",
    run: "تجربة",
    result: "النتيجة",
    file: "الملف",
  },

  suggest: {
    title: "قواعد تغنيك عن أسئلة",
    hint: "لما وافق عليه الأشخاص مرارًا في آخر 30 يومًا، ولا شيء مما رفضوه أو يبدو عالي الخطورة. لا شيء يسري قبل أن تضعه في الملف.",
    run: "البحث عن قواعد",
    counts: ({ calls, approved, rules }) =>
      `الاستدعاءات: ${number(calls)}؛ وافق عليها أشخاص ولم تقررها قاعدة: ${number(approved)}؛ القواعد المقترحة: ${number(rules.length)}.`,
    off: "الإعداد policy.learn_after هو 0، فلا تُقترح أي قاعدة.",
    approved: (n) => `استدعاءات وافق عليها أشخاص: ${number(n)}`,
    such: "مثل:",
    notCovered: "غير مشمول:",
    take: "وضع الملف مع القواعد المحددة في الأسفل",
    taken: (path) => `الملف في الأسفل. جرّبه على استدعاءات مسجلة، ثم ضعه في ${isolated(path)}.`,
  },

  replay: {
    title: "التجربة على استدعاءات مسجلة",
    hint: "كيف كان ملف القواعد ليقرر استدعاءات الأيام الماضية. لا شيء يسري ولا شيء يُحفظ؛ ضع في الملف ما تريد أن يسري.",
    file: "ملف قواعد",
    since: "استدعاءات آخر",
    days: (n) => `عدد الأيام: ${number(n)}`,
    run: "التجربة على هذه الاستدعاءات",
    looking: "يجري النظر في الاستدعاءات…",
    counts: ({ calls, allowed, refused, asked }) =>
      `الاستدعاءات: ${number(calls)}؛ مسموح: ${number(allowed)}، مرفوض: ${number(refused)}، للأشخاص: ${number(asked)}.`,
    more: (calls) => `هذه أحدث ${number(calls)}؛ ولم تُجرَّب الأقدم.`,
    contradictions: (allowed, refused) =>
      allowed + refused === 0
        ? "لا شيء يخالف قرار شخص."
        : `ما رفضه شخص وكان سيُسمح به: ${number(allowed)}؛ وما وافق عليه شخص وكان سيُرفض: ${number(refused)}.`,
    rules: "الاستدعاءات حسب القاعدة",
    matches: (n) => `الاستدعاءات: ${number(n)}`,
    changes: (n) => `كان سيغيّر ${number(n)}`,
    newest: "أحدث الاستدعاءات",
  },

  cache: {
    title: "الإجابات المحفوظة",
    failed: "تعذّر تحميل الإجابات المحفوظة",
    empty: "لا شيء يُعاد بعد",
    emptyHint: "الإجابات التي يمكن إعادتها تُحفظ المدة التي يحددها دورها.",
    about: (n) => `القرارات السابقة التي تُعاد بدلًا من السؤال مجددًا: ${number(n)}، الأحدث أولًا.`,
    hits: (n) => (n === 0 ? "لم تُعَد بعد" : `أُعيدت ${times(n)}`),
    decided: (source, name) => `من ${name === null ? SOURCES[source] : isolated(name)}`,
    until: "حتى",
    last: "آخر مرة",
    noRole: "بلا دور",
    forget: "نسيان",
    forgotten: "نُسيت؛ ويُسأل عن الشيء نفسه من جديد.",
    forgetAll: "نسيان الكل",
    forgettingAll: "نسيان كل القرارات؟",
    forgettingAllHint: "يُسأل عن كل شيء من جديد، النموذج أو الأشخاص. الإجابات السابقة تبقى كما هي.",
    confirmAll: "نسيان الكل",
    forgottenAll: (n) => `عدد القرارات المنسية: ${number(n)}.`,
  },
};
