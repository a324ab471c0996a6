/** The words of the pages about the work of coding agents, in German. */
import type { Task, TaskReview } from "@parley/sdk/tasks";
import { count, duration, number } from "../../format.ts";
import { usd } from "./money.ts";
import type { TaskTexts } from "./text.en.ts";

type TaskState = Task["state"];

const STATES: Record<TaskState, string> = {
  blocked: "Blockiert",
  queued: "In der Warteschlange",
  conflict: "Lässt sich nicht zusammenführen",
  preparing: "Wird vorbereitet",
  running: "Läuft",
  awaiting_answer: "Wartet auf eine Antwort",
  interrupted: "Unterbrochen",
  committing: "Wird festgeschrieben",
  review: "Zu prüfen",
  approved: "Freigegeben",
  rejected: "Abgelehnt",
  failed: "Gescheitert",
  canceled: "Abgebrochen",
};
const DECISIONS: Record<TaskReview["verdict"], string> = {
  approve: "hat freigegeben",
  request_changes: "hat Änderungen verlangt",
  reject: "hat abgelehnt",
};
const EVENTS: Record<string, string> = {
  state: "Stand",
  message: "Agent",
  tool: "Werkzeug",
  diff: "Änderung",
  permission: "Erlaubnis",
  question: "Frage",
  answer: "Antwort",
  usage: "Verbrauch",
  git: "Git",
  setup: "Vorbereitung",
  note: "Hinweis",
  error: "Fehler",
};
const files = (n: number): string => count(n, "Datei", "Dateien");

export const text: TaskTexts = {
  state: (state) => STATES[state],
  title: "Aufgaben",
  failed: "Die Aufgaben konnten nicht geladen werden",
  new: "Neue Aufgabe",
  off: "Hier bekommen Agenten keine Arbeit",
  offHint: "Unter repos in parley.yaml ein Repository nennen und den Server neu starten.",
  empty: "Noch wurde keine Aufgabe gegeben",
  emptyHint: "Geben Sie einem Agenten die erste hier, mit parley assign oder aus einem Programm.",
  repo: "Repository",
  allRepos: "Alle Repositorys",
  columns: {
    queued: "In der Warteschlange",
    working: "In Arbeit",
    waiting: "Wartet auf jemanden",
    review: "Zu prüfen",
    done: "Fertig",
  },
  nothing: "Keine",
  more: (n) => `${number(n)} weitere anzeigen`,
  live: (name, state) => `${name}: ${STATES[state]}`,
  after: "Nach",
  dependency: (id, state) => (state === undefined ? `${id} (noch nicht bekannt)` : `${id} (${STATES[state]})`),
  stale: "Veraltet: Eine Aufgabe, auf der sie aufbaut, hat einen neueren Commit",
  unchanged: "Nichts geändert",
  diffstat: (of) => `${files(of.files)}, +${number(of.insertions)} −${number(of.deletions)}`,
  attempt: (n) => `Versuch ${number(n)}`,
  asked: "Fragt",

  why: (task) => {
    if (task.state === "awaiting_answer" || task.state === "conflict")
      return task.question?.summary ?? task.blockedReason;
    return task.error ?? task.blockedReason;
  },

  page: {
    failed: "Die Aufgabe konnte nicht geladen werden",
    stands: "Wie es steht",
    prompt: "Auftrag an den Agenten",
    agent: "Agent",
    sandbox: "Sandbox",
    sandboxes: { bubblewrap: "bubblewrap", none: "Keine" },
    submitted: "Eingereicht",
    base: "Beginnt bei",
    dependencies: "Baut auf",
    commit: "Commit",
    branch: "Branch",
    ref: "Ref",
    change: "Änderung",
    answerInInbox: "Im Eingang antworten",
    wholeTask: "Alles aus dieser Aufgabe",
    attempts: "Versuche",
    noAttempts: "Noch hat keiner begonnen.",
    ended: (outcome) => STATES[outcome as TaskState] ?? outcome.replaceAll("_", " "),
    asks: "Gestellte Fragen",
    noAsks: "Niemand wurde gefragt.",
    reviews: "Prüfungen",
    reviewed: (by, decision) => `${by ?? "Jemand"} ${DECISIONS[decision]}`,
    onLine: (path, line) => `${path}, Zeile ${number(line)}`,
    cancel: "Aufgabe abbrechen",
    cancelTitle: "Diese Aufgabe abbrechen?",
    cancelHint:
      "Der Agent wird angehalten, mit allem, was er gestartet hat. Das bisher Getane bleibt unter einer Ref erhalten.",
    retry: "Noch einmal ausführen",
    retryTitle: "Diese Aufgabe noch einmal ausführen?",
    retryHint: "Sie wird unverändert neu eingereicht: Ein neuer Versuch beginnt von vorn.",
    back: "Zurück zur Tafel",
  },

  log: {
    title: "Verlauf",
    empty: "Noch ist nichts geschehen.",
    pause: "Anhalten",
    resume: (n) => (n === 0 ? "Weiter" : `Weiter (${count(n, "neuer Eintrag", "neue Einträge")})`),
    toEnd: "Zum Ende",
    cut: (n) => `Gezeigt werden die neuesten Einträge, höchstens ${number(n)}; „parley task log“ gibt alle aus.`,
    kind: (type) => EVENTS[type] ?? type,
    given: "Eingabe",
    result: "Ergebnis",
    failed: "gescheitert",
    wants: (tool, resource) => `Möchte ${tool} verwenden: ${resource}`,
    allowed: "Erlaubt",
    denied: (why) => (why === "" ? "Verweigert" : `Verweigert: ${why}`),
    unanswered: (why) => (why === "" ? "Keine Antwort" : `Keine Antwort: ${why}`),
    answer: (by, words) => (by === "" ? words : `${by}: ${words}`),
  },

  usage: ({ turns, inputTokens, outputTokens, costUsd, workMs }) =>
    [
      turns === undefined ? "" : count(turns, "Runde", "Runden"),
      inputTokens === undefined ? "" : `${number(inputTokens)} Token hinein`,
      outputTokens === undefined ? "" : `${number(outputTokens)} heraus`,
      costUsd === undefined ? "" : usd(costUsd),
      workMs === undefined ? "" : `${duration(workMs)} Arbeit`,
    ]
      .filter((part) => part !== "")
      .join(", "),
  usageTitle: "Verbrauch",

  diff: {
    title: "Änderungen",
    against: "Verglichen mit",
    start: "Ihrem Anfang",
    base: "Der Grundlage",
    none: "Nichts geändert.",
    failed: "Die Änderungen konnten nicht geladen werden.",
    long: (n) => `${files(n)} geändert. Jede lässt sich einzeln öffnen.`,
    tooLong: "Diese Änderungen lassen sich hier nicht darstellen.",
    raw: "Als Patch öffnen",
    binary: "Eine Binärdatei.",
    modeOnly: "Keine Zeile geändert: Die Datei ist leer, oder nur ihr Name oder Modus hat sich geändert.",
    renamed: (from, to) => `${from} → ${to}`,
    counts: (insertions, deletions) => `+${number(insertions)} −${number(deletions)}`,
    kinds: { add: "neu", delete: "gelöscht", rename: "umbenannt", copy: "kopiert" },
    region: (path) => `Änderungen an ${path}`,
    comment: "Eine Zeile kommentieren",
    tap: "Auf eine Zeile drücken, um sie zu kommentieren.",
    commentOn: (path) => `Kommentar zu ${path}`,
    line: "Zeile, nach der Änderung",
    words: "Kommentar",
    add: "Kommentar hinzufügen",
    remove: (path, line) => `Kommentar zu ${path}, Zeile ${number(line)}, entfernen`,
    removeShort: "Entfernen",
    commentLabel: (line) => `Zeile ${number(line)}`,
  },

  review: {
    title: "Prüfung",
    approve: "Freigeben",
    request_changes: "Änderungen verlangen",
    reject: "Ablehnen",
    titles: {
      approve: "Diese Arbeit freigeben?",
      request_changes: "Änderungen verlangen?",
      reject: "Diese Arbeit ablehnen?",
    },
    hints: {
      approve: "Der Commit bleibt, wie er ist. Aufgaben, die auf diese Freigabe warten, beginnen.",
      request_changes: "Der Agent macht mit dem Getanen weiter und erhält Ihre Kommentare.",
      reject: "Der Branch wird gelöscht. Aufgaben, die darauf aufbauen, bleiben blockiert, bis sie neu erledigt ist.",
    },
    comment: "Kommentar (freiwillig)",
    wanted: "Sagen Sie, was sich ändern soll, hier oder an einer Zeile.",
    remarks: (n) =>
      n === 0 ? "" : `${count(n, "Kommentar an einer Zeile wird", "Kommentare an Zeilen werden")} mitgeschickt.`,
    keys: "a gibt frei, c verlangt Änderungen, r lehnt ab; jedes wird zuerst bestätigt.",
    failed: "Das konnte nicht geladen werden.",
  },

  form: {
    id: "ID",
    idHint: "Wie die Aufgabe heißt. Wird dieselbe ID noch einmal eingereicht, beginnt die Aufgabe von vorn.",
    prompt: "Was zu tun ist",
    promptHint: "Der Agent erhält es, wie es dasteht, und es wird Teil der Commit-Nachricht.",
    dependencies: "Nach",
    dependenciesHint: "IDs von Aufgaben, auf deren Commits sie aufbaut, durch Kommas getrennt.",
    agent: "Agent",
    usual: (name) => `Der übliche des Repositorys (${name})`,
    notReady: (name, why) => (why === undefined ? name : `${name} (${why})`),
    submit: "Dem Agenten geben",
    pad: "In Prompt Pad schreiben",
    cancel: "Zurück zur Tafel",
  },

  pad: {
    title: "Prompt Pad",
    lead: "Schreiben Sie dort einen Auftrag und drücken Sie „Submit“: Er wird eine Aufgabe des hier gewählten Repositorys.",
    repo: "Aufgaben gehen an",
    frame: "Prompt Pad",
    sent: "Von hier gesendet",
    taken: (title) => `Einem Agenten gegeben: ${title}`,
    asks: "Prompt Pad hat das gesendet, obwohl niemand etwas gedrückt hat. Einem Agenten geben?",
    give: "Einem Agenten geben",
    drop: "Verwerfen",
  },
};
