/** The words of the Inbox in Arabic. Names of agents, calls and arguments keep their own direction. */
import { day, duration, isolated, number, pluralsOf } from "../format.ts";
import { moment, money } from "./exact.ts";
import type { InboxTexts } from "./text.en.ts";

const counted = pluralsOf("ar");
const characters = (n: number): string =>
  counted(n, { zero: "لا أحرف", one: "حرف واحد", two: "حرفان", few: "# أحرف", many: "# حرفًا", other: "# حرف" });
const lines = (n: number): string =>
  counted(n, { zero: "لا أسطر", one: "سطر واحد", two: "سطران", few: "# أسطر", many: "# سطرًا", other: "# سطر" });
const rows = (n: number): string =>
  counted(n, { zero: "لا صفوف", one: "صف واحد", two: "صفان", few: "# صفوف", many: "# صفًا", other: "# صف" });
const items = (n: number): string =>
  counted(n, { zero: "لا عناصر", one: "عنصر واحد", two: "عنصران", few: "# عناصر", many: "# عنصرًا", other: "# عنصر" });

const CHANNELS: Record<string, string> = {
  inbox: "الوارد",
  web: "هذه الصفحة",
  slack: "Slack",
  email: "البريد الإلكتروني",
  sms: "SMS",
  whatsapp: "WhatsApp",
  webhook: "نظام آخر",
  push: "إشعار",
  api: "برنامج",
  policy: "قاعدة",
};
const channelOf = (channel: string): string => CHANNELS[channel] ?? isolated(channel);

const STATES: Record<string, string> = {
  queued: "لم يُرسل بعد",
  sending: "جارٍ الإرسال",
  sent: "أُرسل",
  closing: "أُرسل",
  closed: "أُرسل",
  failed: "تعذّر الإرسال",
  skipped: "غير لازم",
};

export const text: InboxTexts = {
  title: "الوارد",
  tabs: { label: "أيها", open: "قيد الانتظار", over: "منتهٍ" },
  counted: (name, n) => (n === undefined ? name : `${name} (${number(n)})`),
  byDue: "الموعد",
  due: { handed: "سُلّم إليك", soon: "خلال ساعة", today: "خلال يوم", later: "لاحقًا", none: "بلا موعد نهائي" },
  filter: "عرض",
  all: "الكل",
  byKind: "النوع",
  byAgent: "البرنامج",
  kinds: { approval: "الموافقات", reply: "الأسئلة", value: "النماذج" },
  kind: { approval: "موافقة", reply: "سؤال", value: "نموذج" },
  new: (n) => `الجديد: ${number(n)}`,
  alike: (n, sentence) => `متشابهة (${number(n)}): ${isolated(sentence)}`,
  arrived: "وصل شيء جديد.",
  left: (ms) => (ms > 0 ? `المتبقي: ${duration(ms)}` : "انتهى الوقت"),
  noDeadline: "بلا موعد نهائي",
  empty: "لا شيء ينتظرك",
  emptyHint: "ما تطلبه البرامج منك بالاسم يظهر هنا تلقائيًا.",
  emptyOver: "لم ينتهِ شيء بعد",
  emptyOverHint: "ما قررته أنت أو غيرك يبقى هنا مدة من الزمن.",
  emptySearch: "لا نتائج",
  emptySearchSoFar: "لا نتائج بين الأحدث",
  emptyFilter: "لا شيء من هذا النوع",
  showAll: "عرض الكل",
  snooze: "تأجيل",
  deciding: (name) => (name === null ? "يجري البت فيه" : `يبت فيه الآن: ${isolated(name)}`),
  snoozed: (time) => `مؤجل حتى ${time}`,
  snoozedOnly: "المؤجل أو المسلَّم",
  handedBy: (name, note) => `سلّمه إليك ${name}${note === null ? "" : `: ${note}`}`,
  awayUntil: (name, day) => `${name} في غياب حتى ${day}`,
  handedOn: (to, note) => `سُلّم إلى ${to}${note === null ? "" : `: ${note}`}`,
  notify: "الإشعارات",
  older: "عرض الأقدم",
  more: (n) => `عرض المزيد، المتبقي ${number(n)}`,
  failed: "تعذّر تحميل الوارد",
  signedInAs: (name) => `مسجّل الدخول باسم ${isolated(name)}`,
  signOut: "تسجيل الخروج",

  ask: {
    failed: "تعذّر تحميل هذا",
    unknown: "لا شيء هنا لك",
    unknownHint: "ربما كان موجهًا إلى شخص آخر، أو انتهى منذ زمن.",
    toList: "العودة إلى الوارد",
    next: "التالي",
    call: "يريد تشغيل",
    arguments: "الوسائط",
    noArguments: "بلا وسائط.",
    secret: (name) => `${isolated(name)} يحتوي على سر. عرضه`,
    argument: (name) => `قيمة ${isolated(name)}`,
    length: characters,
    raw: "النص الخام",
    rawLead: "ما تتم الموافقة عليه هو بصمة هذا بعينه.",
    kindOf: (typed) => {
      if (typed.kind === "text") return typed.lines.length > 1 ? `نص، ${lines(typed.lines.length)}` : "";
      if (typed.kind === "list") return `قائمة، ${items(typed.items.length)}`;
      if (typed.kind === "table") return `جدول، ${rows(typed.rows.length)}`;
      if (typed.kind !== "diff") return "";
      const of = (sign: string): string => number(typed.lines.filter((line) => line.sign === sign).length);
      return `تغييرات، المضاف ${of("+")}، المحذوف ${of("-")}`;
    },
    opens: (host) => `يفتح ${isolated(host)}`,
    moment,
    money,
    words: (agent) => `بكلمات ${isolated(agent)}. كتب هذا برنامج، ولم يتحقق منه أحد.`,
    facts: "تفاصيل",
    agent: "الطالب",
    run: "التشغيل",
    wholeRun: "كل ما في هذا التشغيل",
    asked: "سُئل في",
    deadline: "الموعد النهائي",
    silence: "عند عدم الرد",
    silences: {
      rejected: "إذا لم يُجب أحد في الوقت المحدد يُعدّ ذلك رفضًا.",
      unanswered: "إذا لم يُجب أحد في الوقت المحدد يتابع الوكيل دون إجابة.",
      failed: "إذا لم يُجب أحد في الوقت المحدد تفشل المهمة.",
      agent_waits: "لا يوجد موعد نهائي؛ الوكيل ينتظر.",
      work_waits: "لا يوجد موعد نهائي؛ العمل ينتظر.",
    },
    digest: "البصمة",
    others: "يحق له الرد",
    sent: "الإرسال عبر",
    refused: "لم يُقبل",
  },

  you: (channel) => (channel === "inbox" ? "أنت" : `أنت (${channelOf(channel)})`),
  mayAnswer: ({ name, channel, many }, isFirst) => {
    if (name !== null) return channel === "webhook" ? `${isolated(name)} (نظام آخر)` : isolated(name);
    if (channel === "inbox") return "كل من يرى الوارد كاملًا";
    return many && !isFirst ? `آخرون (${channelOf(channel)})` : `شخص ما (${channelOf(channel)})`;
  },
  ofGroup: (group) => `مجموعة ${isolated(group)}: `,
  moreOf: (n) => counted(n, { one: "شخص آخر", two: "شخصان آخران", few: "# آخرون", other: "# آخرون" }),
  from: (time) => `ابتداءً من ${isolated(time)}`,
  needs: (needs) => {
    if (needs.rule === "all") return `يجب أن يوافق الجميع (${number(needs.of)})؛ رفض واحد يعني الرفض.`;
    if (needs.rule === "some") {
      return `تلزم ${number(needs.least)} من ${number(needs.of)} من الموافقات؛ رفض واحد يعني الرفض.`;
    }
    return needs.rule === "several" ? "يجب أن يوافق عدة أشخاص؛ رفض واحد يعني الرفض." : null;
  },
  delivery: (channel, name, state) =>
    `${channelOf(channel)}${name === null ? "" : ` إلى ${isolated(name)}`}: ${STATES[state] ?? isolated(state)}`,
  refusals: {
    schema: "لا توافق الإجابة ما طُلب",
    unknown_option: "لم يكن الاختيار بين الخيارات المعروضة",
    unparseable: "لم تُفهم الإجابة",
    code_missing: "الرمز مفقود أو خاطئ",
    sender_unverified: "تعذّر التحقق من المرسل",
    responder_not_allowed: "لم يُسأل هذا الشخص",
    digest_mismatch: "ما عُرض ليس ما سيُشغَّل",
  },
  refusedBy: (name, via, why) => `${name === null ? "شخص ما" : isolated(name)}، عبر ${channelOf(via)}: ${why}`,

  who: (by, mine) => {
    if (by?.kind === "person" && by.via === "policy") {
      return `${by.name === null ? "شخص ما" : isolated(by.name)}، مسبقًا`;
    }
    if (mine) return "أنت";
    if (!by) return "لا أحد";
    if (by.kind === "policy") return by.name === null ? "قاعدة" : `القاعدة ${isolated(by.name)}`;
    if (by.kind === "agent") return by.name === null ? "البرنامج نفسه" : `${isolated(by.name)} نفسه`;
    return by.name === null ? `شخص ما عبر ${channelOf(by.via)}` : isolated(by.name);
  },
  outcome: ({ outcome, kind }, who) => {
    if (!outcome) return "";
    if (outcome.status === "cancelled") return "سحبه البرنامج";
    if (outcome.status === "expired") return kind === "approval" ? "انتهى وقته، وهذا يعني الرفض" : "انتهى وقته";
    if (kind !== "approval") return `أجاب: ${who}`;
    return outcome.approved ? `${outcome.edited ? "وافق مع تعديلات" : "وافق"}: ${who}` : `رفض: ${who}`;
  },
  callEndLabel: "ما آل إليه",
  callEnd: {
    awaited: "لم يقل البرنامج بعد إنه نُفِّذ",
    started: "قيد التنفيذ",
    done: "تمّ",
    failed: "فشل",
    withdrawn: "لم يُنفَّذ: سحبه البرنامج",
    unknown: "لا يُعرف كيف انتهى",
    not_run: "لم يُنفَّذ",
    not_reported: "لا يبلّغ البرنامج عمّا آلت إليه استدعاءاته",
  },
  theirEndWords: (agent) => `يقول ${isolated(agent)}`,

  approve: "موافقة",
  reject: "رفض",
  approveTitle: (fn) => `الموافقة على ${isolated(fn)}؟`,
  rejectTitle: (fn) => `رفض ${isolated(fn)}؟`,
  approveLead: (agent) => `يحق عندئذ لـ ${isolated(agent)} تشغيله مرة واحدة، بالوسائط المعروضة.`,
  approveEditedLead: (agent) => `يشغّله ${isolated(agent)} بوسائطك بدلًا من وسائطه.`,
  hold: (label) => `ضغط مطوّل: ${label}`,
  holdHint: "اضغط الزر مدة ثانية ثم ارفع يدك، أو اكتب الاسم أولًا. لا يمكن التراجع عنه.",
  letGo: "ارفع يدك الآن",
  nameIt: (fn) => `أو اكتب ${isolated(fn)}`,
  risk: {
    low: "خطر منخفض",
    reads: "خطر منخفض: قراءة فقط.",
    normal: "خطر عادي",
    high: "خطر مرتفع",
    unjudged: "لم يُقيَّم",
    because: {
      rule: "السياسة:",
      joint: "يحتاج إلى موافقة عدة أشخاص.",
      unseen: "يحتوي اسمه على رموز لا يمكن لأحد رؤيتها.",
      long: "وسائطه أطول من أن تُراجع.",
      secret: "تحتوي إحدى الوسائط على سر.",
      loses: "يُفقد:",
      forces: "بالإجبار:",
      money: "مبلغ كبير:",
      people: "إلى أشخاص كثيرين:",
      opens: "يمنح صلاحيات:",
      place: "المكان:",
      file: "ملف محمي:",
      data: "بيانات شخصية:",
      unread: "غير واضح مسبقًا:",
    },
  },
  unseen: (name) => `يلزم الاطلاع على ${isolated(name)} كاملًا أولًا: فهو يحتوي على سر.`,
  alwaysAllow: "السماح دائمًا بهذا تحديدًا",
  alwaysAllowLead: (agent, until) =>
    `يحق عندئذ لـ ${isolated(agent)} أن يفعل الشيء نفسه بالشيء نفسه من دون سؤال، حتى ${isolated(day(until))} أو إلى أن يلغيه أحد المديرين.`,
  allowLike: "السماح بما يشبه هذا…",
  looking: "يجري النظر في استدعاءات الأسبوع الماضي…",
  nothingAlike: "لا يمكن وصف ما يشبه هذا بنمط؛ وافق عليه وحده.",
  wouldHaveCovered: ({ calls, approved, rejected }) =>
    calls === 0
      ? "لا شيء من استدعاءات الأسبوع الماضي."
      : `${calls} من استدعاءات الأسبوع الماضي؛ وافق الأشخاص على ${approved} منها ورفضوا ${rejected}.`,
  forHowLong: "المدة",
  during: {
    session: "هذه الجلسة، يوم على الأكثر",
    hour: "ساعة واحدة",
    today: "اليوم",
    week: "7 أيام",
    month: "30 يومًا",
  },
  alikeLead: "ما يبدو عالي الخطورة يبقى موضع سؤال. يراه كل مدير ضمن القواعد ويمكنه إنهاؤه هناك.",
  nextTime: "الإجابة نفسها في المرة القادمة",
  nextTimeLead: (agent, until) =>
    `يتلقى ${isolated(agent)} عندئذ هذه الإجابة، مع اسمك، كلما سأل الأشخاص أنفسهم السؤال نفسه تمامًا، حتى ${isolated(day(until))}.`,
  rejectLead: "لن يُشغَّل.",
  comment: "تعليق (اختياري)",
  reason: "السبب (اختياري)",
  otherArguments: "اقتراح وسائط أخرى",
  rejectWays: "الرفض بسبب",
  edit: "تعديل الوسائط",
  editShort: "تعديل",
  editLead: "ما توافق عليه هو ما يُشغَّل. إن بقي كما هو فالموافقة على ما اقترحه البرنامج.",
  editAsJson: "الوسائط بصيغة JSON",
  restore: "التراجع عن التعديلات",
  edited: "معدَّل",
  changes: { label: "التغييرات", to: "تغيّر إلى", none: "غير محدد" },
  approveEdited: "موافقة مع التعديلات",

  ready: "الإجابات",
  yourAnswer: "إجابتك",
  orWrite: "أو اكتب إجابتك الخاصة",
  alsoWrite: "إضافة (اختياري)",
  placeholder: "اكتب رأيك",
  enterHint: "مفتاح Enter يرسل، وShift مع Enter لسطر جديد.",
  send: "إرسال",
  sending: "جارٍ الإرسال",
  answerFirst: "يلزم اختيار إجابة أو كتابتها أولًا.",
  chooseFirst: "يلزم اختيار إجابة أولًا.",

  task: {
    review: "مراجعة",
    about: "المهمة",
    of: (id, repo, agent) => `للمهمة ${isolated(id)} في ${isolated(repo)}، من ${isolated(agent)}.`,
    sandbox: {
      bubblewrap: "يعمل في بيئة معزولة (bubblewrap).",
      none: "بلا بيئة معزولة: يعمل بملفات وشبكة الحساب الذي يشغّل هذا الخادم.",
    },
    change: "ما الذي سيتغير",
  },

  talk: {
    new: "محادثة جديدة",
    begun: (n) =>
      counted(n, {
        zero: "لا محادثات",
        one: "محادثة واحدة",
        two: "محادثتان",
        few: "# محادثات",
        other: "# محادثة",
      }),
    with: "مع",
    first: "ما الموضوع؟",
    earlier: "عرض الأسبق",
    more: "قول المزيد",
    answerTo: (title) => `إجابتك: ${isolated(title)}`,
    title: (agent) => `محادثة مع ${isolated(agent)}`,
    log: "ما قيل",
    me: "أنت",
    you: "أنت",
    program: (agent) => `${isolated(agent)}، وهو برنامج`,
    wants: (sentence) => `يطلب قرارًا: ${isolated(sentence)}`,
    answer: "إجابة",
    decide: "اتخاذ القرار",
    taken: "استلمه البرنامج",
    decideFirst: "أمر هنا ينتظر قرارك. بعد اتخاذه يمكنك قول المزيد.",
    closed: "لم يعد هذا البرنامج يستقبل شيئًا هنا.",
    writeFirst: "يلزم كتابة شيء أولًا.",
    failed: "تعذّر تحميل المحادثة",
    nobody: "لا يجري أي برنامج محادثات هنا",
    nobodyHint: "يمكن لمن يدير هذا الخادم أن يفتح برنامجًا للوارد.",
    unknownHint: "ربما كانت لشخص آخر، أو انتهت منذ زمن.",
    unreachable: "لم يُرسل. لا يمكن الوصول إلى الخادم. ما كتبته محفوظ، ويمكن إعادة المحاولة.",
  },

  form: {
    yes: "نعم",
    no: "لا",
    none: "اختيار",
    optional: "اختياري",
    nothing: "تركه فارغًا",
    add: (name) => `إضافة إلى ${isolated(name)}`,
    remove: (name, at) => `إزالة ${isolated(name)} ${number(at)}`,
    item: (name, at) => `${isolated(name)} ${number(at)}`,
    asJson: "الكتابة بصيغة JSON",
    asForm: "استخدام النموذج",
    json: "JSON",
    value: "القيمة",
    required: "هذا الحقل مطلوب.",
    number: "يجب أن يكون هذا عددًا.",
    integer: "يجب أن يكون هذا عددًا صحيحًا.",
    digits: "عدد الأرقام هنا أكبر مما يمكن إرساله.",
    least: (n) => `${number(n)} على الأقل.`,
    most: (n) => `${number(n)} على الأكثر.`,
    shortest: (n) => `${characters(n)} على الأقل.`,
    longest: (n) => `${characters(n)} على الأكثر.`,
    fewest: (n) => `${number(n)} من هذه على الأقل.`,
    notJson: "هذا ليس JSON صالحًا.",
    between: (low, high) => {
      if (low !== undefined && high !== undefined) return `من ${number(low)} إلى ${number(high)}`;
      return low !== undefined ? `${number(low)} أو أكثر` : high !== undefined ? `${number(high)} أو أقل` : "";
    },
    check: (n) =>
      counted(n, {
        zero: "لا حقول تحتاج إلى مراجعة.",
        one: "حقل واحد يحتاج إلى مراجعة.",
        two: "حقلان يحتاجان إلى مراجعة.",
        few: "# حقول تحتاج إلى مراجعة.",
        many: "# حقلًا يحتاج إلى مراجعة.",
        other: "# حقل يحتاج إلى مراجعة.",
      }),
  },

  state: {
    counted: "لقد وافقت. يجب أن يوافق آخرون أيضًا.",
    notAsked: "يمكنك قراءة هذا. القرار لشخص آخر.",
    approvals: "حتى الآن",
    approvedBy: (who) => `وافق: ${who}`,
    sent: "أُرسل.",
    kept: "ما بدأته ما زال هنا:",
    unreachable: "لم يُرسل. لا يمكن الوصول إلى الخادم، ولم يُتخذ أي قرار. ما كتبته محفوظ، ويمكن إعادة المحاولة.",
    changed: "ما سيُشغَّل ليس ما عرضته هذه الصفحة. يلزم قراءته من جديد قبل اتخاذ القرار.",
    failed: (why) => `لم يُرسل. ${isolated(why)}`,
    yourWords: "إجابتك",
    theirWords: "الإجابة",
    comment: "تعليق",
    option: "الاختيار",
    ran: "الوسائط التي يعمل بها",
  },
};
