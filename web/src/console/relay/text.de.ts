/** The words of the pages about what executors do, in German. */
import { count, number, percent } from "../../format.ts";
import { shortTime } from "./short-time.ts";
import type { RelayTexts } from "./text.en.ts";
import type { AnsweredBy, AskStatus, AskType, Decision, JobState, Source, Stage } from "./wire.ts";

const STAGES: Record<Stage, string> = {
  intake: "Annahme",
  policy: "Richtlinie",
  cache: "Frühere Entscheidungen",
  runner: "Modell",
  people: "Menschen",
};
const BY: Record<AnsweredBy, string> = {
  policy: "Richtlinie",
  cache: "Frühere Entscheidungen",
  runner: "Modell",
  people: "Menschen",
  nobody: "Niemand",
};
const STATUSES: Record<AskStatus, string> = {
  PENDING: "Wartet",
  ANSWERED: "Beantwortet",
  REJECTED: "Abgelehnt",
  TIMEOUT: "Zeit abgelaufen",
  ERROR: "Gescheitert",
};
const SOURCES: Record<Source, string> = {
  policy: "der Richtlinie",
  cache: "einer früheren Entscheidung",
  runner: "dem Modell",
  person: "einer Person",
  service: "einem Dienst",
  server: "dem Server",
};
const TYPES: Record<AskType, string> = {
  CLARIFICATION: "Klärung",
  RESOURCE_FETCH: "Ressource",
  POLICY_DECISION: "Entscheidung nach Richtlinie",
  APPROVAL: "Freigabe",
  CHOICE: "Auswahl",
};
const JOB_STATES: Record<JobState, string> = {
  QUEUED: "In der Warteschlange",
  RUNNING: "Läuft",
  WAITING_ON_ANSWER: "Wartet auf eine Antwort",
  SUCCEEDED: "Gelungen",
  FAILED: "Gescheitert",
  CANCELED: "Abgebrochen",
  EXPIRED: "Abgelaufen",
};
const DELIVERIES: Record<string, string> = {
  queued: "noch nicht gesendet",
  sending: "wird gesendet",
  sent: "gesendet",
  closing: "gesendet",
  closed: "gesendet",
  failed: "konnte nicht gesendet werden",
  skipped: "nicht nötig",
};
const DECISIONS: Record<Decision, string> = { ALLOW: "Erlauben", DENY: "Verweigern", ESCALATE: "Menschen fragen" };
const SAYS: Record<Decision, string> = {
  ALLOW: "erlaubt",
  DENY: "verweigert",
  ESCALATE: "Menschen vorgelegt",
};

export const text: RelayTexts = {
  stage: (stage) => STAGES[stage],
  by: (by) => BY[by],
  type: (type) => TYPES[type],
  jobState: (state) => JOB_STATES[state],
  askState: (one) => {
    if (one.status === "PENDING") return `Wartet: ${STAGES[one.stage]}`;
    if (!one.source || one.source === "server") return STATUSES[one.status];
    return `${STATUSES[one.status]} von ${one.answered_by ?? SOURCES[one.source]}`;
  },
  status: (status) => STATUSES[status],
  which: "Welche",

  live: {
    waiting: "Die ersten Zahlen kommen gleich …",
    pending: (total, people) =>
      total === 0
        ? "Nichts wartet."
        : `${count(total, "Rückfrage wartet", "Rückfragen warten")}, davon ${number(people)} auf Menschen.`,
    ended: "Beendete Rückfragen in jeder Minute",
    endedSays: (total, most) => `${number(total)} insgesamt, höchstens ${number(most)} in einer Minute`,
    byStage: (stage, n) => `${STAGES[stage]} ${number(n)}`,
    shares: "Beantwortet durch",
    share: (by, share, n) => `${BY[by]} ${percent(share)} (${number(n)})`,
    noShares: "In der letzten Stunde ging nichts zu Ende.",
    p95: "Antworten von Maschinen: 95 von 100 kamen innerhalb von",
    p95Says: (last, worst) =>
      last === null || worst === null
        ? "Keine Maschine hat geantwortet"
        : `zuletzt ${shortTime(last)}, schlimmstenfalls ${shortTime(worst)}`,
    chart: (title, says) => `${title}: ${says}`,
    newestAsks: "Neueste Rückfragen",
    newestJobs: "Neueste Aufträge",
    noAsks: "Noch wurde nichts gefragt",
    noAsksHint: "Ausführende Programme fragen mit POST /asks; was sie fragen, erscheint hier sofort.",
    noJobs: "Es gibt noch keinen Auftrag",
  },

  asks: {
    title: "Rückfragen",
    failed: "Die Rückfragen konnten nicht geladen werden",
    all: "Alle",
    open: "Offen",
    empty: "Nichts dergleichen",
    emptyHint: "Ausführende Programme fragen mit POST /asks.",
    who: "Gefragt von",
    job: "Auftrag",
    step: "Schritt",
    kind: "Art",
    asked: "Gefragt",
    deadline: "Frist",
    id: "ID",
    role: "Rolle",
    joined: "Teilt die Antwort von",
    sharedBy: "Rückfragen, die diese Antwort teilen",
    digest: "Prüfsumme, die Menschen gezeigt wurde",
    public: "Öffentlich gefragt",
    context: "Was mitgeliefert wurde",
    stages: "Stationen",
    noStages: "Noch ist keine Station damit fertig.",
    took: (ms) => shortTime(ms),
    answer: "Antwort",
    noAnswer: "Noch keine.",
    late: "Zu spät",
    trace: "Warum die Richtlinie so entscheidet",
    attestation: "Worauf das Modell seine Antwort stützt",
    json: "Als JSON",
    askBack: "Gegenfrage",
    truncated: "Auf das Erlaubte gekürzt.",
    artifacts: "Dateien",
    people: "Menschen",
    inbox: "Im Eingang öffnen",
    receipt: "Signierter Beleg",
    asksWhom: "Antworten darf",
    deliveries: "Nachrichten",
    decisions: "Entscheidungen",
    delivery: (state) => DELIVERIES[state] ?? state,
    decided: (name, approved) =>
      `${name} hat ${approved === null ? "geantwortet" : approved ? "freigegeben" : "abgelehnt"}`,
    somebody: "Jemand",
    byChannel: (name, channel) => (name === null ? channel : `${name}, ${channel}`),
    record: "Protokoll",
    more: "Mehr",
  },

  jobs: {
    title: "Aufträge",
    failed: "Die Aufträge konnten nicht geladen werden",
    all: "Alle",
    open: "Offen",
    over: "Beendet",
    empty: "Nichts dergleichen",
    emptyHint:
      "Planende Programme stellen Aufträge mit POST /jobs in die Warteschlange; auch ausführende, die fragen, haben einen.",
    pending: (n) => count(n, "Rückfrage wartet", "Rückfragen warten"),
    id: "ID",
    state: "Stand",
    reason: "Grund",
    kind: "Art",
    owner: "Angelegt von",
    holder: "Gehalten von",
    nobody: "Niemand",
    external: "Läuft anderswo, ohne Frist zum Halten",
    epoch: "Epoche",
    attempts: "Versuche",
    attemptsOf: (n, most) => `${number(n)} von ${number(most)}`,
    lease: "Gehalten bis",
    ttl: "Besteht bis",
    made: "Angelegt",
    changed: "Geändert",
    place: "Wo",
    labels: "Kennzeichen",
    spec: "Was zu tun ist",
    result: "Ergebnis",
    artifacts: "Dateien",
    asks: "Rückfragen",
    noAsks: "Dabei wurde nichts gefragt.",
    events: "Ereignisse",
    noEvents: "Von den neuesten Ereignissen ist keines aufbewahrt.",
  },

  policy: {
    title: "Richtlinie",
    failed: "Die Richtlinie konnte nicht geladen werden",
    state: {
      ok: "In Kraft, wie sie in der Datei steht.",
      stale: "Die Datei enthält einen Fehler; in Kraft ist die letzte gültige Fassung.",
      missing: "Es gibt keine Datei mit einer Richtlinie; es gelten die Vorgaben.",
    },
    neverRead: "Die Datei enthält einen Fehler. Bis er behoben ist, entscheiden Menschen über alles.",
    version: "Fassung",
    reload: "Datei neu lesen",
    reloaded: "Jeder Server liest sie innerhalb einer Sekunde neu.",
    rules: "Regeln",
    noRules: "Es gibt keine Regeln; die Vorgaben entscheiden.",
    defaults: (read, other) => `Wozu es keine Regel gibt: Lesen wird ${SAYS[read]}, alles andere ${SAYS[other]}.`,
    decision: (decision) => DECISIONS[decision],
    would: (decision) => `Nur beobachtet, wäre sonst ${SAYS[decision]}`,
    observed: (n) => `traf auf ${count(n, "Anfrage", "Anfragen")} zu`,
    spared: (n) => (n === 0 ? "hat noch keine Frage erspart" : `hat Menschen ${count(n, "Frage", "Fragen")} erspart`),
    needs: (n) => `${number(n)} müssen freigeben`,
    asks: (to) => `fragt ${to}`,
    learned: "gelernt",
    revoke: (what) => `${what} widerrufen`,
    revoking: (what) => `${what} widerrufen?`,
    revokeRuleHint: "Sie gilt auf keinem Server mehr; ab der nächsten Anfrage werden wieder Menschen gefragt.",
    confirm: "Widerrufen",
    revoked: "Widerrufen.",
    proposals: "Vorgeschlagene Regeln",
    noProposals: "Nichts ist vorgeschlagen. Geben Menschen immer wieder dasselbe frei, folgt ein Vorschlag.",
    proposed: (approvals) => `Nach ${count(approvals, "gleichen Freigabe", "gleichen Freigaben")}`,
    accept: "In Kraft setzen",
    accepted: "Innerhalb einer Sekunde in Kraft.",
    dismiss: "Verwerfen",
    dismissed: "Verworfen; dasselbe wird nie wieder vorgeschlagen.",
    diff: (rule) => `Die Regel, die gelten würde: ${rule}`,
    grants: "Erlaubnisse",
    noGrants: "Keine. Wer verwaltet und einen Aufruf freigibt, kann ähnliche Aufrufe erlauben.",
    grantedBy: (name) => `von ${name}`,
    until: "bis",
    test: "Ausprobieren",
    testHint: "Was entschieden würde, und warum. Niemand wird gefragt.",
    fields: {
      action: "Vorgang",
      resource: "Ressource",
      env: "Umgebung",
      tool: "Werkzeug",
      repo: "Repository",
      agent: "Agent",
      ask_type: "Art der Rückfrage",
      fn: "Funktion",
      digest: "Prüfsumme",
    },
    any: "Nicht angegeben",
    run: "Probieren",
    result: "Ergebnis",
    file: "Die Datei",
  },

  suggest: {
    title: "Regeln, die Ihnen Nachfragen ersparen",
    hint: "Für das, was Menschen in den letzten 30 Tagen immer wieder freigegeben haben, und für nichts, was sie abgelehnt haben oder was riskant aussieht. Nichts gilt, bevor Sie es in die Datei geschrieben haben.",
    run: "Regeln suchen",
    counts: ({ calls, approved, rules }) =>
      `${count(calls, "Aufruf", "Aufrufe")}, davon ${number(approved)} von Menschen und von keiner Regel freigegeben: ${count(rules.length, "Regel", "Regeln")} vorgeschlagen.`,
    off: "Die Einstellung policy.learn_after ist 0, deshalb wird keine Regel vorgeschlagen.",
    approved: (n) => `${count(n, "Aufruf", "Aufrufe")}, von Menschen freigegeben`,
    such: "Zum Beispiel:",
    notCovered: "Nicht erfasst:",
    take: "Die Datei mit den angekreuzten Regeln unten einsetzen",
    taken: (path) =>
      `Sie steht unten. Probieren Sie sie an gespeicherten Aufrufen aus, und schreiben Sie sie dann in ${path}.`,
  },

  edit: {
    title: "Regeln bearbeiten",
    hint: "Eine Änderung kommt in die Richtliniendatei des Servers; deren Kommentare bleiben. Sie sehen sie, bevor sie gilt.",
    failed: "Die Richtliniendatei konnte nicht gelesen werden",
    fixed: {
      missing: "Auf diesem Server gibt es keine Richtliniendatei; Regeln lassen sich hier nicht bearbeiten.",
      mistake:
        "Die Richtliniendatei hat einen Fehler. Ist er auf dem Server behoben, lassen sich Regeln hier bearbeiten.",
      read_only: "Dieser Server darf seine Richtliniendatei nicht schreiben; Regeln lassen sich hier nicht bearbeiten.",
      other_servers: "Andere Server haben eigene Richtliniendateien. Ändern Sie die Datei auf jedem von ihnen:",
    },
    edit: (rule: string) => `${rule} bearbeiten`,
    add: "Regel hinzufügen",
    place: "Platz in der Datei",
    last: "Am Ende",
    before: (rule: string) => `Vor ${rule}`,
    rule: "Die Regel als YAML",
    ruleHint: "Ihre Angaben, etwa id, when, decision und reason, ohne Strich davor.",
    preview: "Änderung zeigen",
    remove: "Die Datei ohne sie zeigen",
    back: "Zurück zu den Regeln",
    wrong: "Nichts wurde gespeichert. Bitte beheben Sie das:",
    change: "Die Änderung der Datei",
    past: "Aufgezeichnete Aufrufe von 7 Tagen nach den bisherigen Regeln:",
    after: "Nach den neuen Regeln:",
    save: "Diese Änderung speichern",
    saved: (rule: string) => `Gespeichert und in Kraft: ${rule}`,
    moved:
      "Die Datei wurde inzwischen geändert. Ihre Worte sind noch da: Sehen Sie die Regeln an, dann zeigen Sie die Änderung erneut.",
  },

  replay: {
    title: "An gespeicherten Aufrufen ausprobieren",
    hint: "Wie eine Regeldatei die Funktionsaufrufe der letzten Tage entscheiden würde. Nichts gilt, nichts wird gespeichert. Was gelten soll, kommt in die Datei.",
    file: "Eine Regeldatei",
    since: "Aufrufe der letzten",
    days: (n) => count(n, "Tag", "Tage"),
    run: "An diesen Aufrufen ausprobieren",
    looking: "Die Aufrufe werden angesehen …",
    counts: ({ calls, allowed, refused, asked }) =>
      `${count(calls, "Aufruf", "Aufrufe")}: ${number(allowed)} erlaubt, ${number(refused)} abgelehnt, ${number(asked)} für Menschen.`,
    more: (calls) => `Das sind die neuesten ${number(calls)}; ältere wurden nicht angesehen.`,
    contradictions: (allowed, refused) =>
      allowed + refused === 0
        ? "Keiner gegen die Entscheidung eines Menschen."
        : `${number(allowed)}, die ein Mensch abgelehnt hat, wären erlaubt; ${number(refused)}, die ein Mensch freigegeben hat, wären abgelehnt.`,
    rules: "Aufrufe nach Regel",
    matches: (n) => count(n, "Aufruf", "Aufrufe"),
    changes: (n) => `würde ${number(n)} ändern`,
    newest: "Die neuesten Aufrufe",
  },

  cache: {
    title: "Gemerkte Antworten",
    failed: "Die gemerkten Antworten konnten nicht geladen werden",
    empty: "Noch wird nichts wiederholt",
    emptyHint: "Antworten, die wiederholt werden dürfen, bleiben so lange gemerkt, wie ihre Rolle es vorsieht.",
    about: (n) =>
      `${count(n, "frühere Entscheidung wird", "frühere Entscheidungen werden")} wiederholt, statt erneut zu fragen; die neueste zuerst.`,
    hits: (n) => (n === 0 ? "noch nicht wiederholt" : `${number(n)}-mal wiederholt`),
    decided: (source, name) => `von ${name ?? SOURCES[source]}`,
    until: "bis",
    last: "zuletzt",
    noRole: "ohne Rolle",
    forget: "Vergessen",
    forgotten: "Vergessen; dasselbe wird neu gefragt.",
    forgetAll: "Alles vergessen",
    forgettingAll: "Alle Entscheidungen vergessen?",
    forgettingAllHint: "Alles wird neu gefragt, das Modell oder Menschen. Gegebene Antworten bleiben, wie sie sind.",
    confirmAll: "Alles vergessen",
    forgottenAll: (n) => `${count(n, "Entscheidung ist", "Entscheidungen sind")} vergessen.`,
  },
};
