/** The words of the console's sections in Arabic, and of the state beside each of their pages. */
import { duration, isolated, number, percent, pluralsOf } from "../../format.ts";
import { text as consoleText } from "../text.ar.ts";
import type { OverviewTexts } from "./text.en.ts";

const counted = pluralsOf("ar");
const rulesOf = (n: number): string =>
  counted(n, { zero: "لا قواعد", one: "قاعدة واحدة", two: "قاعدتان", few: "# قواعد", other: "# قاعدة" });
const addresses = (n: number): string =>
  counted(n, {
    zero: "لا عناوين",
    one: "عنوان واحد",
    two: "عنوانان",
    few: "# عناوين",
    many: "# عنوانًا",
    other: "# عنوان",
  });
const personsOf = (n: number): string =>
  counted(n, {
    zero: "لا أشخاص",
    one: "شخص واحد",
    two: "شخصان",
    few: "# أشخاص",
    many: "# شخصًا",
    other: "# شخص",
  });
const waitingRequests = (n: number): string =>
  counted(n, {
    zero: "لا طلبات تنتظر",
    one: "طلب واحد ينتظر",
    two: "طلبان ينتظران",
    few: "# طلبات تنتظر",
    many: "# طلبًا تنتظر",
    other: "# طلب تنتظر",
  });
const listed = (names: readonly string[]): string => names.map(isolated).join("، ");

const channelFails = "متعطلة";
const channelWorks = "تعمل";

const outcomes = {
  waiting: "ينتظر",
  approved: "تمت الموافقة",
  rejected: "رُفض",
  answered: "أُجيب عنه",
  expired: "لم يُبتّ فيه في الوقت المحدد",
  withdrawn: "سُحب",
};

export const text: OverviewTexts = {
  nav: "نظرة عامة",
  all: "كل الصفحات",
  groups: { now: "الآن", work: "العمل", rules: "القواعد", setup: "الإعداد" },
  pages: (group) => `صفحات «${group}»`,
  loading: "…",
  unknown: "غير معروف الآن",

  waits: (n, oldestMs) => {
    if (n === 0) return "لا شيء ينتظر";
    const oldest = oldestMs === null ? "" : `، أطول انتظار ${duration(oldestMs)}`;
    return `قيد الانتظار: ${number(n)}${oldest}`;
  },
  health: (broken, failing) => {
    const parts = [
      ...(broken > 0 ? [`ضمانات مختلّة: ${number(broken)}`] : []),
      ...(failing > 0 ? [`طرق توصيل متعطلة: ${number(failing)}`] : []),
    ];
    return parts.length === 0 ? "كل شيء سليم" : parts.join("، ");
  },
  today: { title: "القرارات", state: (n) => `${number(n)} في 24 ساعة` },
  activity: "النشاط",
  stuck: {
    title: "العالق",
    state: (n, oldestMs) =>
      n === 0 ? "لا شيء" : `${number(n)} عالق${oldestMs === null ? "" : `، الأقدم منذ ${duration(oldestMs)}`}`,
  },
  tasks: ({ waiting, review, working, queued }) => {
    const parts = [
      ...(waiting > 0 ? [`تنتظر شخصًا: ${number(waiting)}`] : []),
      ...(review > 0 ? [`للمراجعة: ${number(review)}`] : []),
      ...(working > 0 ? [`قيد التنفيذ: ${number(working)}`] : []),
      ...(queued > 0 ? [`في الصف: ${number(queued)}`] : []),
    ];
    return parts.length === 0 ? "لا شيء قيد التنفيذ" : parts.join("، ");
  },
  notSetUp: "غير مُعدّ",
  jobs: (n) => (n === 0 ? "لا شيء مفتوح" : `المفتوح: ${number(n)}`),
  record: (ago) => `أحدث قيد ${ago}`,
  noRecord: "فارغ",
  policy: (rules, proposed) => [rulesOf(rules), ...(proposed > 0 ? [`المقترح: ${number(proposed)}`] : [])].join("، "),
  policyMissing: "لا ملف، تسري الإعدادات المبدئية",
  policyStale: "في الملف خطأ",
  cache: (n) => (n === 0 ? "لا شيء محفوظ" : `القرارات المحفوظة: ${number(n)}`),
  done: (n, of) => `اكتمل ${number(n)} من ${number(of)}`,
  people: (n, admins) => `${personsOf(n)}، المديرون: ${number(admins)}`,
  keys: (n) => (n === 0 ? "لا شيء" : `قيد الاستخدام: ${number(n)}`),
  channels: (states) => {
    const set = states.filter(({ channel, configured }) => configured && channel !== "push");
    const ways = set.map((one) => `${isolated(consoleText.channel(one.channel))} ${text.channel(one)}`);
    return ways.length === 0 ? "لا قناة مُعدّة" : ways.join("، ");
  },
  channelFails,
  channelWorks,
  channel: ({ configured, sent_at, failed, retrying }) => {
    if (!configured) return "غير مُعدّة";
    if (failed > 0 || retrying > 0) return channelFails;
    return sent_at === null ? "لم تُجرَّب" : channelWorks;
  },
  webhooks: (n, { disabled, failing }) =>
    [
      addresses(n),
      ...(failing > 0 ? [`المتعطّل: ${number(failing)}`] : []),
      ...(disabled > 0 ? [`المعطّل: ${number(disabled)}`] : []),
    ].join("، "),

  waiting: {
    title: "ما ينتظر",
    failed: "تعذّر تحميل الطلبات",
    at: (time) => `حتى الساعة ${isolated(time)}.`,
    none: "لا طلب ينتظر أحدًا.",
    total: (n, oldestMs) => `${waitingRequests(n)}${oldestMs === null ? "" : `، وأطول انتظار ${duration(oldestMs)}`}.`,
    narrowed: "ترى ما هو موجه إليك؛ ويمكنك في «الأشخاص» أن تسمح لنفسك برؤية الكل.",
    whom: (names) => (names.length === 0 ? "لكل من يرى الوارد كاملًا" : `إلى ${listed(names)}`),
    andMore: (n) => `غيرهم: ${number(n)}`,
    waits: (ms) => `مدة الانتظار: ${duration(ms)}`,
    left: (ms) => (ms <= 0 ? "انتهى الوقت" : `المتبقي: ${duration(ms)}`),
    noDeadline: "بلا موعد نهائي",
    high: "خطر مرتفع",
    unjudged: "لم يُقيَّم",
    all: (n) => `عرض الكل في الوارد (${number(n)})`,
    executors: "البرامج المنفّذة في الساعة الأخيرة",
    ended: "انتهى",
    rules: "بالقواعد",
    models: "بالنماذج اللغوية",
    people: "بالأشخاص",
    nobody: "بلا أحد",
    share: (share) => percent(share),
  },

  agents: {
    title: "الوكلاء",
    failed: "تعذّر تحميل الوكلاء",
    state: (n, { isMore, frozen }) =>
      [
        isMore
          ? `أكثر من ${number(n)} وكيل`
          : counted(n, {
              zero: "لا وكلاء",
              one: "وكيل واحد",
              two: "وكيلان",
              few: "# وكلاء",
              many: "# وكيلًا",
              other: "# وكيل",
            }),
        ...(frozen > 0 ? [`المجمّد: ${number(frozen)}`] : []),
      ].join("، "),
    here: "وكلاء البرمجة على هذا الحاسوب",
    says: (agents) => {
      const here = agents.filter((one) => one.here);
      if (here.length === 0) return "لم يُعثر على أي وكيل على هذا الحاسوب.";
      const through = number(here.filter(({ hook }) => hook).length);
      return `وكلاء هذا الحاسوب الذين يسألون عبر ${isolated("Parley")}: ${through} من ${number(here.length)}.`;
    },
    whose:
      "هذا الحاسوب هو الذي يعمل عليه الخادم، والوكلاء هم وكلاء مستخدمه: لا ترى لوحة التحكم غيرهم. وقد تأتي الأسئلة من أي حاسوب.",
    hook: (hook) => (hook === null ? "تعذّرت قراءة إعداداته" : hook ? `يسأل عبر ${isolated("Parley")}` : "غير متصل"),
    outcomes,
    prompt: ({ tool, outcome, by, asked_by }, ago) => {
      const ended = `${outcomes[outcome]}${by === null ? "" : ` (${isolated(by)})`}`;
      return `آخر طلب ${ago}: ${tool === null ? "سؤال" : isolated(tool)}، ${ended}. من ${isolated(asked_by)}:`;
    },
    noPrompt: "لا طلب بعد.",
    connect: "ربط الوكلاء",
    connectHere: "شغّل هذا على الحاسوب الذي يعمل عليه الخادم:",
    connectThere: "شغّل هذا على كل حاسوب يعمل عليه وكلاء:",
    command: "الأمر",
    elsewhere: "طلبات من حواسيب أخرى",
  },

  checklist: {
    title: "قائمة التحقق",
    done: "تم",
    open: "لم يتم بعد",
    people: "أشخاص يقررون",
    peopleSays: (others) =>
      counted(others, {
        zero: "أنت وحدك. أضف من ينبغي سؤاله.",
        one: "أنت وشخص آخر.",
        two: "أنت وشخصان آخران.",
        few: "أنت و# أشخاص آخرين.",
        many: "أنت و# شخصًا آخر.",
        other: "أنت و# شخص آخر.",
      }),
    messages: "رسائل إليهم",
    messagesOpen: "لا يصل شيء إلى الأشخاص خارج التطبيق إلى أن تعمل إحدى هذه القنوات.",
    push: "إشعارات على أجهزتهم",
    pushOpen: "يشغّلها كل شخص في «صفحتي».",
    pushSays: "أُرسلت.",
    keys: "مفاتيح للبرامج",
    keysOpen: "البرامج على هذا الحاسوب لا تحتاج إلى مفتاح؛ أما التي على غيره فتحتاج.",
    policy: "سياسة",
    policyOpen: "من دون ملف يقرر الأشخاص كل شيء عدا القراءة.",
    prompts: "طلبات الوكلاء",
    promptsElsewhere: "تصل طلبات من حواسيب أخرى.",
    agents: "وكلاء البرمجة",
    agentsOpen: `يلزم ذكر مستودع تحت ${isolated("repos")} في ${isolated("parley.yaml")} لإعطائهم مهام.`,
    agentsSays: (ready, missing) =>
      [
        ...(ready.length > 0 ? [`الجاهز: ${listed(ready)}.`] : ["لا أحد جاهز."]),
        ...(missing.length > 0 ? [`غير الجاهز: ${listed(missing)}.`] : []),
      ].join(" "),
  },
};
