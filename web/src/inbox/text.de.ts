/** The words of the Inbox in German. */
import { count, day, duration, number } from "../format.ts";
import { moment, money } from "./exact.ts";
import type { InboxTexts } from "./text.en.ts";

const CHANNELS: Record<string, string> = {
  inbox: "den Eingang",
  web: "diese Seite",
  slack: "Slack",
  email: "E-Mail",
  sms: "SMS",
  whatsapp: "WhatsApp",
  webhook: "ein anderes System",
  push: "eine Benachrichtigung",
  api: "ein Programm",
  policy: "eine Regel",
};

const STATES: Record<string, string> = {
  queued: "noch nicht gesendet",
  sending: "wird gesendet",
  sent: "gesendet",
  closing: "gesendet",
  closed: "gesendet",
  failed: "konnte nicht gesendet werden",
  skipped: "nicht nötig",
};

export const text: InboxTexts = {
  title: "Eingang",
  tabs: { label: "Welche", open: "Offen", over: "Erledigt" },
  counted: (name, n) => (n === undefined ? name : `${name} (${number(n)})`),
  byDue: "Frist",
  due: {
    handed: "An Sie weitergegeben",
    soon: "Innerhalb einer Stunde",
    today: "Innerhalb eines Tages",
    later: "Später",
    none: "Ohne Frist",
  },
  filter: "Anzeigen",
  all: "Alles",
  byKind: "Art",
  byAgent: "Agent",
  kinds: { approval: "Freigaben", reply: "Fragen", value: "Formulare" },
  kind: { approval: "Freigabe", reply: "Frage", value: "Formular" },
  new: (n) => `${number(n)} neu`,
  alike: (n, sentence) => `${number(n)} gleichartige: ${sentence}`,
  arrived: "Etwas Neues ist da.",
  left: (ms) => (ms > 0 ? `noch ${duration(ms)}` : "Die Zeit ist um"),
  noDeadline: "Ohne Frist",
  empty: "Nichts wartet auf Sie",
  emptyHint: "Was Agenten namentlich von Ihnen wollen, erscheint hier von selbst.",
  emptyOver: "Noch ist nichts erledigt",
  emptyOverHint: "Was Sie oder andere entschieden haben, bleibt hier eine Weile.",
  emptySearch: "Nichts gefunden",
  emptySearchSoFar: "Unter den neuesten nichts gefunden",
  emptyFilter: "Nichts von dieser Art",
  showAll: "Alles anzeigen",
  snooze: "Zurückstellen",
  deciding: (name) => (name === null ? "Wird gerade entschieden" : `${name} entscheidet gerade`),
  snoozed: (time) => `Zurückgestellt bis ${time}`,
  snoozedOnly: "Zurückgestellt oder weitergegeben",
  handedBy: (name, note) => `${name} gibt Ihnen dies weiter${note === null ? "" : `: ${note}`}`,
  awayUntil: (name, day) => `${name} ist bis ${day} abwesend`,
  handedOn: (to, note) => `Weitergegeben an ${to}${note === null ? "" : `: ${note}`}`,
  notify: "Benachrichtigungen",
  older: "Ältere anzeigen",
  more: (n) => `Mehr anzeigen, noch ${number(n)}`,
  failed: "Der Eingang konnte nicht geladen werden",
  signedInAs: (name) => `Angemeldet als ${name}`,
  signOut: "Abmelden",

  ask: {
    failed: "Das konnte nicht geladen werden",
    unknown: "Hier ist nichts für Sie",
    unknownHint: "Vielleicht richtet es sich an jemand anderen, oder es ist lange vorbei.",
    toList: "Zurück zum Eingang",
    next: "Weiter",
    call: "Möchte ausführen",
    arguments: "Argumente",
    noArguments: "Ohne Argumente.",
    secret: (name) => `${name} enthält ein Geheimnis. Anzeigen`,
    argument: (name) => `Wert von ${name}`,
    length: (n) => count(n, "Zeichen", "Zeichen"),
    raw: "Rohform",
    rawLead: "Freigegeben wird die Prüfsumme von genau dem hier.",
    kindOf: (typed) => {
      if (typed.kind === "text")
        return typed.lines.length > 1 ? `Text, ${count(typed.lines.length, "Zeile", "Zeilen")}` : "";
      if (typed.kind === "list") return `Liste, ${count(typed.items.length, "Eintrag", "Einträge")}`;
      if (typed.kind === "table") return `Tabelle, ${count(typed.rows.length, "Zeile", "Zeilen")}`;
      if (typed.kind !== "diff") return "";
      const lines = (sign: string): string => number(typed.lines.filter((line) => line.sign === sign).length);
      return `Änderung, ${lines("+")} hinzugefügt, ${lines("-")} entfernt`;
    },
    opens: (host) => `Öffnet ${host}`,
    moment,
    money,
    words: (agent) => `In den Worten von ${agent}. Ein Programm hat das geschrieben; niemand hat es geprüft.`,
    facts: "Angaben",
    agent: "Gefragt von",
    run: "Lauf",
    wholeRun: "Alles aus diesem Lauf",
    asked: "Gefragt am",
    deadline: "Frist",
    silence: "Ohne Antwort",
    silences: {
      rejected: "Antwortet bis dahin niemand, gilt es als abgelehnt.",
      unanswered: "Antwortet bis dahin niemand, macht der Agent ohne Antwort weiter.",
      failed: "Antwortet bis dahin niemand, scheitert die Aufgabe.",
      agent_waits: "Es gibt keine Frist; der Agent wartet.",
      work_waits: "Es gibt keine Frist; die Arbeit wartet.",
    },
    digest: "Prüfsumme",
    others: "Antworten darf",
    sent: "Zustellung",
    refused: "Nicht angenommen",
  },

  you: (channel) => (channel === "inbox" ? "Sie" : `Sie (${CHANNELS[channel] ?? channel})`),
  mayAnswer: ({ name, channel, many }, isFirst) => {
    const where = CHANNELS[channel] ?? channel;
    if (name !== null) return channel === "webhook" ? `${name} (anderes System)` : name;
    if (channel === "inbox") return `${isFirst ? "A" : "a"}lle, die den ganzen Eingang sehen`;
    return many && !isFirst ? `andere (${where})` : `${isFirst ? "J" : "j"}emand (${where})`;
  },
  ofGroup: (group) => `Gruppe ${group}: `,
  moreOf: (n) => `${number(n)} weitere`,
  from: (time) => `ab ${time}`,
  needs: (needs) => {
    if (needs.rule === "all") return `Alle ${number(needs.of)} müssen freigeben; eine Ablehnung lehnt ab.`;
    if (needs.rule === "some") {
      return `${number(needs.least)} von ${number(needs.of)} müssen freigeben; eine Ablehnung lehnt ab.`;
    }
    return needs.rule === "several" ? "Mehrere müssen freigeben; eine Ablehnung lehnt ab." : null;
  },
  delivery: (channel, name, state) =>
    `Über ${CHANNELS[channel] ?? channel}${name === null ? "" : ` an ${name}`}: ${STATES[state] ?? state}`,
  refusals: {
    schema: "die Antwort passte nicht zu dem, was gefragt war",
    unknown_option: "die Wahl stand nicht zur Auswahl",
    unparseable: "die Antwort wurde nicht verstanden",
    code_missing: "der Code fehlte oder war falsch",
    sender_unverified: "der Absender konnte nicht überprüft werden",
    responder_not_allowed: "diese Person war nicht gefragt",
    digest_mismatch: "gezeigt wurde etwas anderes, als ausgeführt würde",
  },
  refusedBy: (name, via, why) => `${name ?? "Jemand"}, über ${CHANNELS[via] ?? via}: ${why}`,

  who: (by, mine) => {
    if (by?.kind === "person" && by.via === "policy") return `${by.name ?? "jemandem"}, im Voraus`;
    if (mine) return "Ihnen";
    if (!by) return "niemandem";
    if (by.kind === "policy") return by.name === null ? "einer Regel" : `der Regel ${by.name}`;
    if (by.kind === "agent") return by.name === null ? "dem Agenten selbst" : `${by.name} selbst`;
    return by.name ?? `jemandem über ${CHANNELS[by.via] ?? by.via}`;
  },
  outcome: ({ outcome, kind }, who) => {
    if (!outcome) return "";
    if (outcome.status === "cancelled") return "Vom Agenten zurückgezogen";
    if (outcome.status === "expired") {
      return kind === "approval" ? "Abgelaufen, und damit abgelehnt" : "Abgelaufen";
    }
    if (kind !== "approval") return `Beantwortet von ${who}`;
    return outcome.approved
      ? `${outcome.edited ? "Mit Änderungen freigegeben" : "Freigegeben"} von ${who}`
      : `Abgelehnt von ${who}`;
  },
  callEndLabel: "Was daraus wurde",
  callEnd: {
    awaited: "Der Agent hat noch nicht gemeldet, dass es lief",
    started: "Läuft",
    done: "Erledigt",
    failed: "Fehlgeschlagen",
    withdrawn: "Nicht ausgeführt: vom Agenten zurückgezogen",
    unknown: "Ausgang unbekannt",
    not_run: "Nicht ausgeführt",
    not_reported: "Der Agent meldet nicht, was aus seinen Aufrufen wird",
  },
  theirEndWords: (agent) => `${agent} meldet`,

  approve: "Freigeben",
  reject: "Ablehnen",
  approveTitle: (fn) => `${fn} freigeben?`,
  rejectTitle: (fn) => `${fn} ablehnen?`,
  approveLead: (agent) => `${agent} darf es einmal ausführen, mit den gezeigten Argumenten.`,
  approveEditedLead: (agent) => `${agent} führt es mit Ihren Argumenten aus statt mit den eigenen.`,
  hold: (label) => `Halten: ${label}`,
  holdHint:
    "Die Taste eine Sekunde halten und loslassen, oder zuerst den Namen eingeben. Es lässt sich nicht zurücknehmen.",
  letGo: "Jetzt loslassen",
  nameIt: (fn) => `Oder ${fn} eingeben`,
  risk: {
    low: "Geringes Risiko",
    reads: "Geringes Risiko: Es wird nur gelesen.",
    normal: "Normales Risiko",
    high: "Hohes Risiko",
    unjudged: "Nicht beurteilt",
    because: {
      rule: "Policy:",
      joint: "Mehrere Personen müssen zustimmen.",
      unseen: "Der Name enthält Zeichen, die niemand sehen kann.",
      long: "Die Argumente sind zu lang zum Durchsehen.",
      secret: "Ein Argument enthält ein Geheimnis.",
      loses: "Geht verloren:",
      forces: "Erzwungen:",
      money: "Viel Geld:",
      people: "An viele Personen:",
      opens: "Gibt Rechte:",
      place: "Ort:",
      file: "Geschützte Datei:",
      data: "Personendaten:",
      unread: "Vorher unklar:",
    },
  },
  unseen: (name) => `Erst ${name} ganz ansehen: Es enthält ein Geheimnis.`,
  alwaysAllow: "Genau das immer erlauben",
  alwaysAllowLead: (agent, until) =>
    `${agent} darf dann dasselbe mit demselben tun, ohne zu fragen, bis ${day(until)} oder bis jemand aus der Verwaltung es widerruft.`,
  allowLike: "Ähnliches erlauben …",
  looking: "Die Aufrufe der letzten Woche werden angesehen …",
  nothingAlike: "Nichts Ähnliches lässt sich in ein Muster fassen; bitte nur dies freigeben.",
  wouldHaveCovered: ({ calls, approved, rejected }) =>
    calls === 0
      ? "Keiner der Aufrufe der letzten Woche."
      : `${calls} der Aufrufe der letzten Woche; davon wurden ${approved} freigegeben und ${rejected} abgelehnt.`,
  forHowLong: "Für wie lange",
  during: {
    session: "Diese Sitzung, höchstens ein Tag",
    hour: "Eine Stunde",
    today: "Heute",
    week: "7 Tage",
    month: "30 Tage",
  },
  alikeLead:
    "Was nach hohem Risiko aussieht, wird weiter gefragt. Die Verwaltung sieht es unter Regeln und kann es dort beenden.",
  nextTime: "Nächstes Mal genauso antworten",
  nextTimeLead: (agent, until) =>
    `${agent} erhält dann diese Antwort mit Ihrem Namen, sooft dieselben Menschen genau dasselbe gefragt werden, bis ${day(until)}.`,
  rejectLead: "Es wird nicht ausgeführt.",
  comment: "Kommentar (freiwillig)",
  reason: "Begründung (freiwillig)",
  otherArguments: "Andere Argumente vorschlagen",
  rejectWays: "Ablehnen, weil",
  edit: "Argumente ändern",
  editShort: "Ändern",
  editLead: "Was Sie freigeben, wird ausgeführt. Unverändert gilt der Vorschlag des Agenten.",
  editAsJson: "Argumente als JSON",
  restore: "Änderungen zurücknehmen",
  edited: "Geändert",
  changes: { label: "Änderungen", to: "geändert in", none: "nicht angegeben" },
  approveEdited: "Mit Änderungen freigeben",

  ready: "Antworten",
  yourAnswer: "Ihre Antwort",
  orWrite: "Oder eine eigene schreiben",
  alsoWrite: "Etwas hinzufügen (freiwillig)",
  placeholder: "Was meinen Sie?",
  enterHint: "Enter sendet, Umschalt und Enter beginnen eine neue Zeile.",
  send: "Senden",
  sending: "Wird gesendet",
  answerFirst: "Erst eine Antwort auswählen oder schreiben.",
  chooseFirst: "Erst eine Antwort auswählen.",

  task: {
    review: "Prüfung",
    about: "Die Aufgabe",
    of: (id, repo, agent) => `Für Aufgabe ${id} in ${repo}, von ${agent}.`,
    sandbox: {
      bubblewrap: "Läuft in einer Sandbox (bubblewrap).",
      none: "Keine Sandbox: Es läuft mit den Dateien und dem Netz des Kontos, unter dem dieser Server läuft.",
    },
    change: "Was sich ändern würde",
  },

  talk: {
    new: "Neues Gespräch",
    begun: (n) => count(n, "Gespräch", "Gespräche"),
    with: "Mit",
    first: "Worum geht es?",
    earlier: "Frühere anzeigen",
    more: "Mehr sagen",
    answerTo: (title) => `Ihre Antwort: ${title}`,
    title: (agent) => `Gespräch mit ${agent}`,
    log: "Gesprächsverlauf",
    me: "Sie",
    you: "Ihnen",
    program: (agent) => `${agent}, ein Programm`,
    wants: (sentence) => `Bittet um eine Entscheidung: ${sentence}`,
    answer: "Antworten",
    decide: "Entscheiden",
    taken: "Der Agent hat es übernommen",
    decideFirst: "Hier wartet etwas auf Ihre Entscheidung. Danach können Sie mehr sagen.",
    closed: "Dieser Agent nimmt hier nichts mehr entgegen.",
    writeFirst: "Erst etwas schreiben.",
    failed: "Das Gespräch konnte nicht geladen werden",
    nobody: "Kein Agent führt hier Gespräche",
    nobodyHint: "Die Betreiber dieses Servers können einen für den Eingang öffnen.",
    unknownHint: "Vielleicht gehört es jemand anderem, oder es ist lange vorbei.",
    unreachable:
      "Nicht gesendet. Der Server ist nicht erreichbar. Das Geschriebene bleibt erhalten; noch einmal versuchen.",
  },

  form: {
    yes: "Ja",
    no: "Nein",
    none: "Auswählen",
    optional: "freiwillig",
    nothing: "Leer lassen",
    add: (name) => `Zu ${name} hinzufügen`,
    remove: (name, at) => `${name} ${number(at)} entfernen`,
    item: (name, at) => `${name} ${number(at)}`,
    asJson: "Stattdessen JSON schreiben",
    asForm: "Formular verwenden",
    json: "JSON",
    value: "Wert",
    required: "Das muss ausgefüllt werden.",
    number: "Das muss eine Zahl sein.",
    integer: "Das muss eine ganze Zahl sein.",
    digits: "Das hat mehr Stellen, als gesendet werden können.",
    least: (n) => `Mindestens ${number(n)}.`,
    most: (n) => `Höchstens ${number(n)}.`,
    shortest: (n) => `Mindestens ${count(n, "Zeichen", "Zeichen")}.`,
    longest: (n) => `Höchstens ${count(n, "Zeichen", "Zeichen")}.`,
    fewest: (n) => `Mindestens ${number(n)} davon.`,
    notJson: "Das ist kein gültiges JSON.",
    between: (low, high) => {
      if (low !== undefined && high !== undefined) return `${number(low)} bis ${number(high)}`;
      return low !== undefined ? `${number(low)} oder mehr` : high !== undefined ? `${number(high)} oder weniger` : "";
    },
    check: (n) => `${count(n, "Feld muss", "Felder müssen")} noch einmal angesehen werden.`,
  },

  state: {
    counted: "Sie haben freigegeben. Andere müssen auch zustimmen.",
    notAsked: "Sie können das lesen. Entscheiden wird jemand anders.",
    approvals: "Bisher",
    approvedBy: (who) => `Freigegeben von ${who}`,
    sent: "Gesendet.",
    kept: "Das Begonnene ist noch da:",
    unreachable:
      "Nicht gesendet. Der Server ist nicht erreichbar, und nichts wurde entschieden. Das Geschriebene bleibt erhalten; noch einmal versuchen.",
    changed: "Ausgeführt würde etwas anderes, als diese Seite gezeigt hat. Vor der Entscheidung noch einmal lesen.",
    failed: (why) => `Nicht gesendet. ${why}`,
    yourWords: "Ihre Antwort",
    theirWords: "Die Antwort",
    comment: "Kommentar",
    option: "Auswahl",
    ran: "Argumente, mit denen es läuft",
  },
};
