/** The words of the Console in Arabic. Names, commands and settings keep their own direction. */
import { isolated, number, pluralsOf } from "../format.ts";
import { deedIn } from "./deeds.ts";
import type { ConsoleTexts, PersonChannel } from "./text.en.ts";

const counted = pluralsOf("ar");

const CHANNELS: Record<PersonChannel | "push", string> = {
  inbox: "الوارد",
  email: "البريد الإلكتروني",
  slack: "Slack",
  sms: "SMS",
  whatsapp: "WhatsApp",
  webhook: "وجهة Webhook",
  push: "الإشعارات",
};

const DEEDS = {
  function_call: "استدعاء دالة",
  human_contact: "سؤال",
  message: "رسالة",
  task: "مهمة",
  job: "عمل",
  human: "شخص",
  key: "مفتاح",
  webhook_endpoint: "وجهة Webhook",
  policy_grant: "إذن",
  policy_proposal: "اقتراح قاعدة",
  relay: "طلب برنامج",
  tool: "أداة",
  gate_call: "تنفيذ",
  decision: "قرار",
  leaderboard_name: "اسم في لوحة الصدارة",
  store: "قاعدة البيانات",
  conversation: "محادثة",
  installation_key: "مفتاح التثبيت",
  agent_email: "بريد إلكتروني",
  agent_slack: "رسالة في Slack",
  created: "إنشاء",
  updated: "تعديل",
  deleted: "حذف",
  erased: "حذف نهائي",
  approved: "موافقة",
  rejected: "رفض",
  answered: "إجابة",
  completed: "اكتمال",
  cancelled: "إلغاء",
  canceled: "إلغاء",
  expired: "انتهاء المهلة",
  escalated: "تصعيد",
  rerouted: "إعادة توجيه",
  delivered: "تسليم",
  delivery_failed: "تعذّر التسليم",
  fell_back: "إرسال بالوسيلة التالية",
  approval_counted: "احتساب موافقة",
  pressed: "ضغط في التطبيق",
  asked_back: "سأل الوكيل قبل القرار",
  inquiry_answered: "أجاب الوكيل عن السؤال",
  press_undone: "تراجع قبل السريان",
  press_voided: "ضغط لم يُحتسب",
  claimed: "استلام القرار",
  answer_refused: "إجابة غير مقبولة",
  message_exposed: "رسالة يمكن لبرنامج قراءتها",
  sign_in_link_created: "إنشاء رابط دخول",
  signed_out: "تسجيل خروج",
  revoked: "سحب",
  accepted: "قبول",
  dismissed: "صرف النظر",
  closed: "إغلاق",
  asked_public: "سؤال الجمهور",
  write_allowed: "السماح بالكتابة",
  write_refused: "رفض الكتابة",
  ended: "انتهاء",
  unknown: "نتيجة غير معروفة",
  run_again: "تنفيذ من جديد",
  forgotten: "نسيان",
  removed: "إزالة",
  put_back: "إعادة البيانات",
  restored: "استعادة",
  opened: "فتح",
  received: "استلام",
  rotated: "تبديل",
  blocked: "محجوبة",
  queued: "في الانتظار",
  conflict: "تعارض",
  preparing: "تحضير",
  running: "قيد التنفيذ",
  awaiting_answer: "بانتظار إجابة",
  waiting_on_answer: "بانتظار إجابة",
  interrupted: "انقطاع",
  committing: "حفظ العمل",
  review: "مراجعة",
  succeeded: "نجاح",
  failed: "فشل",
};

export const text: ConsoleTexts = {
  deed: (action) => deedIn(DEEDS, action),
  title: "الإدارة",
  sections: "الأقسام",
  signingIn: "جارٍ تسجيل الدخول",
  signedInAs: (name, role) =>
    `مسجّل الدخول باسم ${isolated(name)}${role === "admin" ? " (مدير)" : role === "member" ? "" : ` (${isolated(role)})`}`,
  signOut: "تسجيل الخروج",
  signedOut: "لم يسجّل أحد الدخول",
  signedOutHint: `يمكن طلب رابط جديد من الخادم: شغّل الأمر ${isolated("parley link")} حيث يعمل، ثم افتح العنوان الذي يطبعه.`,
  codeFailed: "لم يعد هذا الرابط صالحًا",
  codeFailedHint: `الرابط يعمل مرة واحدة، ولمدة 30 دقيقة. الأمر ${isolated("parley link")} على الخادم ينشئ رابطًا آخر.`,
  adminsOnly: "الإدارة للمديرين فقط",
  adminsOnlyHint: (name) =>
    `أنت مسجّل الدخول باسم ${isolated(name)}، وهذا الحساب يجيب عما تسأله البرامج ولا يدير هذا الخادم. يمكن لأحد المديرين تغيير ذلك في «الأشخاص».`,
  openInbox: "فتح الوارد",
  open: "فتح الأسئلة",
  nothingHere: "لا شيء هنا",
  nothingHereHint: "إما أنه أُزيل، أو لم يوجد قط.",
  choose: "اختر عنصرًا من القائمة.",
  save: "حفظ",
  saved: "تم الحفظ.",
  cancel: "إلغاء",
  never: "أبدًا",
  optional: "اختياري",
  unreachableNow: "لا يمكن الوصول إلى الخادم. يمكن إعادة المحاولة بعد لحظة.",
  older: "عرض الأقدم",

  start: {
    inbox: "الوارد",
    inboxHint: "ما تطلبه البرامج منك بالاسم: موافقات وأسئلة ونماذج.",
    connect: "ربط برنامج",
    connectHint: "كل برنامج يستطيع إرسال HTTP يمكنه أن يسأل. على هذا الحاسوب لا يحتاج إلى مفتاح.",
    remoteHint: `من حاسوب آخر يحتاج إلى مفتاح نطاقه ${isolated("agent")}. يمكن إنشاؤه في`,
    ask: "طرح سؤال",
    read: "قراءة الإجابات",
    readHint: `باستخدام ${isolated("question_id")} من رد الخادم؛ وينتظر الطلب إلى أن يوجد ما يُقال.`,
    environment: "للبرامج التي تستخدم SDK أو سطر الأوامر",
    answer: "الإجابة",
    answerHint: "افتح هذا العنوان على أي جهاز يصل إلى الخادم.",
  },

  channelNames: CHANNELS,
  channel: (channel) => CHANNELS[channel],

  people: {
    title: "الأشخاص",
    add: "إضافة شخص",
    adding: "شخص جديد",
    failed: "تعذّر تحميل الأشخاص",
    admin: "مدير",
    noChannels: "الوارد فقط",
    name: "الاسم",
    job: "الوظيفة",
    jobHint: "ما يعمله الشخص، مثل مدير المالية.",
    about: "ما تعرفه البرامج عنه",
    aboutHint: "تقرأ البرامج هذا لتختار من تسأل. يُرجى عدم ذكر أي أمر خاص.",
    role: "يحق له إدارة هذا الخادم",
    roleHint: "يرى المديرون هذه الإدارة، وكل طلب في الوارد ما لم يُضيَّق ذلك أدناه.",
    operator: "هذا الشخص يشغّل الخادم، ويبقى مديرًا.",
    scope: "يرى في الوارد",
    scopes: { addressed: "ما هو موجه إليه", all: "الكل" },
    channels: "طرق الوصول إليه",
    channelsHint: "من الأعلى إلى الأسفل: إذا تعذّرت طريقة أو لم يُجب أحد تُجرَّب التالية.",
    addChannel: "إضافة طريقة أخرى",
    place: (at) => `الطريقة ${number(at)}`,
    up: (name) => `نقل ${isolated(name)} إلى الأعلى`,
    down: (name) => `نقل ${isolated(name)} إلى الأسفل`,
    drop: (name) => `إزالة ${isolated(name)}`,
    address: {
      email: "عنوان البريد الإلكتروني",
      slack: `معرّف المستخدم في Slack، مثل ${isolated("U024BE91L")}`,
      sms: `رقم الهاتف، مثل ${isolated("+14155550123")}`,
      whatsapp: `رقم الهاتف، مثل ${isolated("+14155550123")}`,
      webhook: `اسم الوجهة في ${isolated("parley.yaml")}`,
    },
    signIn: "تسجيل الدخول",
    sessions: (n) =>
      counted(n, {
        zero: "غير مسجّل الدخول على أي جهاز.",
        one: "مسجّل الدخول على جهاز واحد.",
        two: "مسجّل الدخول على جهازين.",
        few: "مسجّل الدخول على # أجهزة.",
        many: "مسجّل الدخول على # جهازًا.",
        other: "مسجّل الدخول على # جهاز.",
      }),
    link: "إنشاء رابط لتسجيل الدخول",
    linkHint: "يعمل مرة واحدة، ولمدة 30 دقيقة، ومن يفتحه يصبح هنا هذا الشخص. لا تعطه لأحد غيره. لن يُعرض مرة أخرى.",
    linkLabel: "رابط تسجيل الدخول",
    end: "تسجيل الخروج من كل الأجهزة",
    ended: "تم تسجيل الخروج من كل الأجهزة.",
    remove: "إزالة",
    removing: (name) => `إزالة ${isolated(name)}؟`,
    removingHint:
      "لن يمكن بعد ذلك سؤال هذا الشخص، ولن يستطيع تسجيل الدخول أو الإجابة، وتنتهي مفاتيحه. ما سُئل عنه وحده ينتقل إلى كل من يرى الوارد كاملًا. وما قرره يحتفظ باسمه.",
    confirmRemove: "إزالة هذا الشخص",
    removed: "تمت الإزالة.",
    idLabel: "الرقم، في الإعدادات والمفاتيح والأوامر",
  },

  keys: {
    title: "المفاتيح",
    add: "مفتاح جديد",
    failed: "تعذّر تحميل المفاتيح",
    which: "أيها",
    live: "قيد الاستخدام",
    all: "الكل",
    empty: "لا يوجد مفتاح بعد",
    emptyHint: "البرامج على هذا الحاسوب لا تحتاج إلى مفتاح. أما غيرها فيحتاج إليه.",
    name: "الاسم",
    nameHint: `الغرض منه، بلا مسافات، مثل ${isolated("build-bot")}. المفاتيح ذات الاسم والنطاق نفسيهما تتشارك ما سألته.`,
    scope: "النطاق",
    scopes: {
      agent: `${isolated("agent")}: يسأل، ويقرأ ما آل إليه السؤال`,
      answer: `${isolated("answer")}: برنامج خاص بشخص يجيب عنه`,
      executor: `${isolated("executor")}: ينقل ما يفعله وكيل برمجة`,
      assign: `${isolated("assign")}: يعطي وكلاء البرمجة مهام`,
      admin: `${isolated("admin")}: يدير هذا الخادم`,
    },
    person: "صاحبه",
    nobody: "لا أحد: لخدمة",
    expires: "مدة الصلاحية",
    terms: { ever: "إلى أن يُلغى", day: "يوم واحد", month: "30 يومًا", quarter: "90 يومًا", year: "سنة واحدة" },
    selfRespond: "يحق له الإجابة عما سأله بنفسه",
    selfRespondHint: "للاختبارات والبرامج النصية. تُميَّز إجاباته هذه في السجل.",
    create: "إنشاء المفتاح",
    made: "مفتاحك الجديد",
    madeHint: "انسخه الآن. لا تُحفظ إلا بصمته، ولن يُعرض مرة أخرى.",
    done: "لقد نسخته",
    state: (state, until) => {
      if (state !== "good") return state === "revoked" ? "ملغى" : "منتهي الصلاحية";
      return until === null ? "صالح إلى أن يُلغى" : `صالح حتى ${isolated(until)}`;
    },
    created: "أُنشئ",
    used: "آخر استخدام",
    unused: "لم يُستخدم بعد",
    usedHint: "بدقة ساعة",
    expiry: "صالح حتى",
    revoked: "أُلغي",
    revokedNever: "إلغائه",
    revoke: "إلغاء المفتاح",
    revoking: (name) => `إلغاء المفتاح ${isolated(name)}؟`,
    revokingHint: "يُرفض كل طلب لاحق به. لا يمكن التراجع عن ذلك.",
    confirmRevoke: "إلغاؤه",
    isRevoked: "تم الإلغاء.",
    self: "يجيب عن أسئلته",
    yes: "نعم",
  },

  channels: {
    title: "القنوات",
    failed: "تعذّر تحميل القنوات",
    on: "مُعدّة",
    off: "غير مُعدّة",
    state: ({ configured, sent_at, failed_at, retrying }) => {
      if (!configured) return "غير مُعدّة";
      if (retrying > 0) {
        return counted(retrying, {
          one: "تُعاد محاولة إرسال رسالة واحدة",
          two: "تُعاد محاولة إرسال رسالتين",
          few: "تُعاد محاولة إرسال # رسائل",
          other: "تُعاد محاولة إرسال # رسالة",
        });
      }
      if (failed_at !== null && (sent_at === null || failed_at > sent_at)) return "تعذّر إرسال آخر رسالة";
      return sent_at === null ? "لم يُرسل شيء بعد" : "تعمل";
    },
    lastSent: "آخر رسالة قُبلت",
    lastFailed: "آخر رسالة تُركت",
    failing: ({ failed, retrying, error }, since) =>
      [
        ...(failed > 0 ? [`الرسائل المتروكة منذ ${isolated(since ?? "")}: ${number(failed)}`] : []),
        ...(retrying > 0 ? [`الرسائل قيد إعادة المحاولة: ${number(retrying)}`] : []),
        `آخر خطأ: ${isolated(error ?? "غير معروف")}`,
      ].join("؛ "),
    reason: (error) => `(${isolated(error)})`,
    retrying: "قيد إعادة المحاولة",
    setUp: {
      push: "تُشغَّل الأجهزة من «صفحتي» في تطبيق الويب. لا تحتاج خدمات الإشعارات إلى حساب.",
      slack: `يلزم ضبط ${isolated("slack.bot_token")} و${isolated("slack.app_token")} في ${isolated("parley.yaml")}؛ والأمر ${isolated("parley slack manifest")} يطبع التطبيق.`,
      email: `يلزم ضبط ${isolated("email.smtp_url")} و${isolated("email.from")} في ${isolated("parley.yaml")}.`,
      sms: `يلزم ضبط ${isolated("twilio.account_sid")} و${isolated("twilio.auth_token")} و${isolated("twilio.sms_from")} و${isolated("twilio.countries")} في ${isolated("parley.yaml")}.`,
      whatsapp: `يلزم ضبط ${isolated("twilio.account_sid")} و${isolated("twilio.auth_token")} و${isolated("twilio.whatsapp_from")} و${isolated("twilio.countries")} في ${isolated("parley.yaml")}.`,
      webhook: `تُذكر الوجهات تحت ${isolated("webhook_targets")} في ${isolated("parley.yaml")}.`,
    },
    test: "إرسال اختبار",
    testHint: "رسالة حقيقية، بالطريق الذي تسلكه الطلبات، فيها زر يبيّن هل تعود الإجابات.",
    to: "إلى",
    send: "إرسال رسالة اختبار",
    again: "إرسال رسالة أخرى",
    nobody: "ليس لأحد عنوان لهذه القناة بعد. يمكن تدوينه في «الأشخاص».",
    result: ({ state, attempts, error, via }) => {
      const wrong = isolated(error ?? "تعذّر الوصول");
      switch (state) {
        case "sending":
          return "في الطريق…";
        case "retrying":
          return `لم تُقبل بعد: ${wrong}. عدد المحاولات ${number(attempts)}، وتُعاد المحاولة.`;
        case "failed":
          return `لم تُرسل: ${wrong}.`;
        case "sent":
          return "أُرسلت: قبلها مقدّم الخدمة. أجب عنها لتجربة طريق العودة؛ وهي تنتظر عشر دقائق.";
        case "answered":
          return `أُرسلت، وجاءت الإجابة (${isolated(via ?? "web")}). تعمل القناة ذهابًا وإيابًا.`;
        case "over":
          return "أُرسلت، ولم يُجب أحد خلال عشر دقائق.";
      }
    },
  },

  webhooks: {
    title: "خطافات الويب",
    failed: "تعذّر تحميل خطافات الويب",
    empty: "ليس لأي برنامج خطاف ويب بعد",
    emptyHint: `البرامج التي تريد معرفة نتائج طلباتها تنشئ خطافًا بالطلب ${isolated("POST /webhook_endpoints")}.`,
    enabled: "مفعّل",
    disabled: "معطّل",
    fails: "التوصيل متعطّل",
    failing: (since, error) => `لم يُقبل شيء هناك منذ ${isolated(since)}؛ آخر خطأ: ${isolated(error ?? "غير معروف")}.`,
    of: (agent) => `خطاف ${isolated(agent)}`,
    disabledHint: "لا يُبلَّغ هذا العنوان بشيء: إما أنه لم يقبل شيئًا مدة خمسة أيام، أو أعلن أنه لم يعد موجودًا، أو عُطّل.",
    agent: "البرنامج",
    format: "الصيغة",
    events: "الأحداث",
    allEvents: "كل أحداث الصيغة",
    made: "أُنشئ",
    about: "الوصف",
    enable: "تفعيل",
    disable: "تعطيل",
    test: "إرسال حدث اختبار",
    testing: "حدث الاختبار في الطريق.",
    deliveries: "عمليات التسليم",
    noDeliveries: "لم يُبلَّغ هذا العنوان بشيء بعد",
    deliveriesFailed: "تعذّر تحميل عمليات التسليم",
    state: { pending: "قيد الانتظار", delivered: "سُلّم", dead: "تُرك" },
    attempts: (n) =>
      counted(n, {
        zero: "لا محاولات",
        one: "محاولة واحدة",
        two: "محاولتان",
        few: "# محاولات",
        other: "# محاولة",
      }),
    status: (status) => `الحالة ${number(status)}`,
    next: "المحاولة التالية",
    retry: "إعادة الإبلاغ",
    retrying: "يُعاد الإبلاغ.",
  },

  audit: {
    title: "السجل",
    failed: "تعذّر تحميل السجل",
    filter: "تصفية السجل",
    ask: "الطلب",
    askHint: "ask_…",
    agent: "البرنامج",
    action: "الإجراء",
    actionHint: "function_call.approved",
    apply: "تصفية",
    clear: "عرض الكل",
    empty: "لا شيء كهذا في السجل",
    checking: "جارٍ التحقق من أن كل قيد يتبع ما قبله…",
    holds: (entries, unsealed) =>
      `كامل: كل قيد يتبع ما قبله، وعدد القيود ${number(entries)}.` +
      (unsealed === 0 ? "" : ` قيود لم تدخل السلسلة بعد: ${number(unsealed)}.`),
    broken: (at) => `مُغيَّر: القيد ${number(at)} لا يتبع ما قبله.`,
    chainFailed: "تعذّر التحقق من السلسلة.",
    by: (kind, id, name) => {
      if (name !== undefined) return name;
      if (kind === "clock") return "الساعة";
      if (kind === "crowd") return "الجمهور";
      if (id === "parley" || id === "server:parley") return "الخادم";
      if (kind === "server" && id.startsWith("cli:")) return `${isolated(id.slice(4))}، من سطر الأوامر`;
      return kind === "server" ? id : id.replace(/^agent:/, "");
    },
    entry: (seq) => `القيد ${seq}`,
  },

  health: {
    title: "سلامة الخادم",
    failed: "تعذّر فحص قاعدة البيانات",
    checking: "جارٍ الفحص…",
    holds: "كل شيء سليم",
    broken: "يوجد خلل",
    failing: "لا يصل كل شيء",
    deliveries: "توصيلات متعطلة",
    deliveriesUnknown: "تعذّرت معرفة ما إذا كانت الرسائل تصل.",
    brokenHint: `لم يُغيَّر شيء. شغّل الأمر ${isolated("parley doctor")} حيث يعمل الخادم، وراجع ${isolated("docs/explanation/failures.md")}.`,
    quick: "فُحص المفتوح وأحدث الصفوف.",
    full: "فُحصت كل الصفوف.",
    all: "فحص كل الصفوف",
    works: "سليم",
    fails: "مختلّ",
    checks: "الضمانات",
    mayBeMore: (most) => `يُذكر منها ${number(most)} على الأكثر؛ وقد يوجد المزيد.`,
  },
};
