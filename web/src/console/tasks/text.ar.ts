/** The words of the pages about the work of coding agents, in Arabic. Names, paths and commands keep their direction. */
import type { Task, TaskReview } from "@parley/sdk/tasks";
import { duration, isolated, number, pluralsOf } from "../../format.ts";
import { usd } from "./money.ts";
import type { TaskTexts } from "./text.en.ts";

type TaskState = Task["state"];

const counted = pluralsOf("ar");
const files = (n: number): string =>
  counted(n, { zero: "لا ملفات", one: "ملف واحد", two: "ملفان", few: "# ملفات", many: "# ملفًا", other: "# ملف" });
const changed = (insertions: number, deletions: number): string =>
  isolated(`+${number(insertions)} −${number(deletions)}`);

const STATES: Record<TaskState, string> = {
  blocked: "محجوبة",
  queued: "في الصف",
  conflict: "لا تُدمج",
  preparing: "قيد التحضير",
  running: "قيد التشغيل",
  awaiting_answer: "تنتظر إجابة",
  interrupted: "متوقفة",
  committing: "قيد التثبيت",
  review: "للمراجعة",
  approved: "تمت الموافقة عليها",
  rejected: "مرفوضة",
  failed: "فشلت",
  canceled: "أُلغيت",
};
const DECISIONS: Record<TaskReview["verdict"], string> = {
  approve: "وافق",
  request_changes: "طلب تغييرات",
  reject: "رفض",
};
const EVENTS: Record<string, string> = {
  state: "الحالة",
  message: "الوكيل",
  tool: "أداة",
  diff: "تغيير",
  permission: "إذن",
  question: "سؤال",
  answer: "إجابة",
  usage: "الاستهلاك",
  git: "Git",
  setup: "التحضير",
  note: "ملاحظة",
  error: "خطأ",
};

export const text: TaskTexts = {
  state: (state) => STATES[state],
  title: "المهام",
  failed: "تعذّر تحميل المهام",
  new: "مهمة جديدة",
  off: "لا يحصل الوكلاء على عمل هنا",
  offHint: `يلزم ذكر مستودع تحت ${isolated("repos")} في ${isolated("parley.yaml")} ثم تشغيل الخادم من جديد.`,
  empty: "لم تُعطَ أي مهمة بعد",
  emptyHint: `يمكنك إعطاء وكيل مهمته الأولى هنا، أو بالأمر ${isolated("parley assign")}، أو من برنامج.`,
  repo: "المستودع",
  allRepos: "كل المستودعات",
  columns: {
    queued: "في الصف",
    working: "قيد التنفيذ",
    waiting: "تنتظر شخصًا",
    review: "للمراجعة",
    done: "مكتملة",
  },
  nothing: "لا شيء",
  more: (n) => `عرض المزيد (${number(n)})`,
  live: (name, state) => `${isolated(name)}: ${STATES[state]}`,
  after: "بعد",
  dependency: (id, state) => `${isolated(id)} (${state === undefined ? "غير معروفة بعد" : STATES[state]})`,
  stale: "قديمة: لمهمة تُبنى عليها إيداع أحدث",
  unchanged: "لم يتغير شيء",
  diffstat: (of) => `${files(of.files)}، ${changed(of.insertions, of.deletions)}`,
  attempt: (n) => `المحاولة ${number(n)}`,
  asked: "يسأل",

  why: (task) => {
    if (task.state === "awaiting_answer" || task.state === "conflict")
      return task.question?.summary ?? task.blockedReason;
    return task.error ?? task.blockedReason;
  },

  page: {
    failed: "تعذّر تحميل المهمة",
    stands: "الوضع الحالي",
    prompt: "نص المهمة",
    agent: "الوكيل",
    sandbox: "البيئة المعزولة",
    sandboxes: { bubblewrap: "bubblewrap", none: "لا شيء" },
    submitted: "قُدّمت",
    base: "تبدأ من",
    dependencies: "تُبنى على",
    commit: "الإيداع",
    branch: "الفرع",
    ref: "المرجع",
    change: "التغيير",
    answerInInbox: "الإجابة في الوارد",
    wholeTask: "كل ما في هذه المهمة",
    attempts: "المحاولات",
    noAttempts: "لم تبدأ أي محاولة.",
    ended: (outcome) => STATES[outcome as TaskState] ?? isolated(outcome.replaceAll("_", " ")),
    asks: "الأسئلة المطروحة",
    noAsks: "لم يُسأل أحد.",
    reviews: "المراجعات",
    reviewed: (by, decision) => `${DECISIONS[decision]}: ${by ? isolated(by) : "شخص ما"}`,
    onLine: (path, line) => `${isolated(path)}، السطر ${number(line)}`,
    cancel: "إلغاء المهمة",
    cancelTitle: "إلغاء هذه المهمة؟",
    cancelHint: "يُوقف الوكيل وكل ما شغّله. ما أنجزه حتى الآن يبقى محفوظًا تحت مرجع.",
    retry: "تنفيذها مرة أخرى",
    retryTitle: "تنفيذ هذه المهمة مرة أخرى؟",
    retryHint: "تُقدَّم من جديد كما كانت: تبدأ محاولة جديدة من البداية.",
    back: "العودة إلى اللوحة",
  },

  log: {
    title: "سجل الأحداث",
    empty: "لم يحدث شيء بعد.",
    pause: "إيقاف مؤقت",
    resume: (n) => (n === 0 ? "متابعة" : `متابعة (الجديد: ${number(n)})`),
    toEnd: "إلى النهاية",
    cut: (n) => `تُعرض أحدث القيود، حتى ${number(n)}؛ والأمر ${isolated("parley task log")} يطبعها كلها.`,
    kind: (type) => EVENTS[type] ?? isolated(type),
    given: "المُدخل",
    result: "النتيجة",
    failed: "فشل",
    wants: (tool, resource) => `يريد استخدام ${isolated(tool)}: ${isolated(resource)}`,
    allowed: "مسموح",
    denied: (why) => (why === "" ? "ممنوع" : `ممنوع: ${isolated(why)}`),
    unanswered: (why) => (why === "" ? "لا إجابة" : `لا إجابة: ${isolated(why)}`),
    answer: (by, words) => (by === "" ? words : `${isolated(by)}: ${isolated(words)}`),
  },

  usage: ({ turns, inputTokens, outputTokens, costUsd, workMs }) =>
    [
      turns === undefined ? "" : `الجولات: ${number(turns)}`,
      inputTokens === undefined ? "" : `الرموز الداخلة: ${number(inputTokens)}`,
      outputTokens === undefined ? "" : `الخارجة: ${number(outputTokens)}`,
      costUsd === undefined ? "" : isolated(usd(costUsd)),
      workMs === undefined ? "" : `مدة العمل: ${duration(workMs)}`,
    ]
      .filter((part) => part !== "")
      .join("، "),
  usageTitle: "الاستهلاك",

  diff: {
    title: "التغييرات",
    against: "مقارنةً بـ",
    start: "بدايتها",
    base: "الأساس",
    none: "لم يتغير شيء.",
    failed: "تعذّر تحميل التغييرات.",
    long: (n) => `تغيّر: ${files(n)}. يُفتح كل منها وحده.`,
    tooLong: "لا يمكن عرض هذه التغييرات هنا.",
    raw: "فتحها ملفَّ تصحيح",
    binary: "ملف ثنائي.",
    modeOnly: "لم يتغير أي سطر: الملف فارغ، أو لم يتغير إلا اسمه أو نمطه.",
    renamed: (from, to) => `${from} → ${to}`,
    counts: changed,
    kinds: { add: "جديد", delete: "محذوف", rename: "أُعيدت تسميته", copy: "منسوخ" },
    region: (path) => `تغييرات ${isolated(path)}`,
    comment: "تعليق على سطر",
    tap: "اضغط على سطر للتعليق عليه.",
    commentOn: (path) => `تعليق على ${isolated(path)}`,
    line: "السطر، بعد التغيير",
    words: "التعليق",
    add: "إضافة التعليق",
    remove: (path, line) => `إزالة التعليق على ${isolated(path)}، السطر ${number(line)}`,
    removeShort: "إزالة",
    commentLabel: (line) => `السطر ${number(line)}`,
  },

  review: {
    title: "مراجعة",
    approve: "موافقة",
    request_changes: "طلب تغييرات",
    reject: "رفض",
    titles: {
      approve: "الموافقة على هذا العمل؟",
      request_changes: "طلب تغييرات؟",
      reject: "رفض هذا العمل؟",
    },
    hints: {
      approve: "يبقى إيداعه كما هو. وتبدأ المهام التي تنتظر الموافقة عليه.",
      request_changes: "يتابع الوكيل مما أنجزه، وتصل إليه تعليقاتك.",
      reject: "يُحذف فرعه. والمهام التي تُبنى عليه تبقى محجوبة إلى أن يُنفَّذ من جديد.",
    },
    comment: "تعليق (اختياري)",
    wanted: "اذكر ما ينبغي تغييره، هنا أو على سطر.",
    remarks: (n) =>
      n === 0
        ? ""
        : counted(n, {
            one: "يُرسل معها تعليق واحد على سطر.",
            two: "يُرسل معها تعليقان على الأسطر.",
            few: "تُرسل معها # تعليقات على الأسطر.",
            many: "يُرسل معها # تعليقًا على الأسطر.",
            other: "يُرسل معها # تعليق على الأسطر.",
          }),
    keys: `المفتاح ${isolated("a")} يوافق، و${isolated("c")} يطلب تغييرات، و${isolated("r")} يرفض؛ وكلٌّ منها يُؤكَّد أولًا.`,
    failed: "تعذّر تحميل هذا.",
  },

  form: {
    id: "المعرّف",
    idHint: "اسم المهمة. تقديم المعرّف نفسه مرة أخرى يبدأ المهمة من جديد.",
    prompt: "ما المطلوب",
    promptHint: "يُعطى للوكيل كما هو، ويصبح جزءًا من رسالة الإيداع.",
    dependencies: "بعد",
    dependenciesHint: "معرّفات المهام التي تُبنى على إيداعاتها، تفصل بينها فواصل.",
    agent: "الوكيل",
    usual: (name) => `المعتاد في المستودع (${isolated(name)})`,
    notReady: (name, why) => (why === undefined ? name : `${isolated(name)} (${isolated(why)})`),
    submit: "إعطاؤها للوكيل",
    pad: `كتابتها في ${isolated("Prompt Pad")}`,
    cancel: "العودة إلى اللوحة",
  },

  pad: {
    title: "Prompt Pad",
    lead: `اكتب فيه نص المهمة ثم اضغط ${isolated("Submit")}: تصبح مهمة في المستودع المختار هنا.`,
    repo: "تذهب المهام إلى",
    frame: "Prompt Pad",
    sent: "أُرسلت من هنا",
    taken: (title) => `أُعطيت لوكيل: ${isolated(title)}`,
    asks: "أرسل Prompt Pad هذا مع أن أحدًا لم يضغط شيئًا. هل تُعطى لوكيل؟",
    give: "إعطاؤها لوكيل",
    drop: "تجاهلها",
  },
};
