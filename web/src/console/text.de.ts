/** The words of the Console in German. */
import { count, isolated, number } from "../format.ts";
import { deedIn } from "./deeds.ts";
import type { ConsoleTexts, PersonChannel } from "./text.en.ts";

const CHANNELS: Record<PersonChannel | "push", string> = {
  inbox: "Eingang",
  email: "E-Mail",
  slack: "Slack",
  sms: "SMS",
  whatsapp: "WhatsApp",
  webhook: "Webhook-Ziel",
  push: "Benachrichtigungen",
};

const DEEDS = {
  function_call: "Aufruf",
  human_contact: "Frage",
  message: "Nachricht",
  task: "Auftrag",
  job: "Vorgang",
  human: "Person",
  key: "Schlüssel",
  webhook_endpoint: "Webhook",
  policy_grant: "Erlaubnis",
  policy_proposal: "Regelvorschlag",
  relay: "Programmanfrage",
  tool: "Werkzeug",
  gate_call: "Ausführung",
  decision: "Entscheidung",
  leaderboard_name: "Name der Bestenliste",
  store: "Datenbank",
  conversation: "Gespräch",
  installation_key: "Schlüssel der Installation",
  agent_email: "E-Mail",
  agent_slack: "Nachricht in Slack",
  created: "erstellt",
  updated: "geändert",
  deleted: "gelöscht",
  erased: "endgültig gelöscht",
  approved: "genehmigt",
  rejected: "abgelehnt",
  answered: "beantwortet",
  completed: "abgeschlossen",
  cancelled: "abgebrochen",
  canceled: "abgebrochen",
  expired: "abgelaufen",
  escalated: "weitergegeben",
  rerouted: "anders zugewiesen",
  delivered: "zugestellt",
  delivery_failed: "nicht zugestellt",
  fell_back: "auf dem nächsten Weg gesendet",
  approval_counted: "eine Zustimmung gezählt",
  pressed: "in der App gedrückt",
  asked_back: "hat beim Agenten nachgefragt",
  inquiry_answered: "Rückfrage beantwortet",
  press_undone: "zurückgenommen, bevor es galt",
  press_voided: "gedrückt, gilt aber nicht",
  claimed: "Entscheidung abgeholt",
  answer_refused: "Antwort nicht angenommen",
  message_exposed: "Nachricht für Programme lesbar",
  sign_in_link_created: "Anmeldelink erstellt",
  signed_out: "abgemeldet",
  revoked: "widerrufen",
  accepted: "angenommen",
  dismissed: "verworfen",
  closed: "geschlossen",
  asked_public: "öffentlich gefragt",
  write_allowed: "Schreiben erlaubt",
  write_refused: "Schreiben verweigert",
  ended: "beendet",
  unknown: "Ausgang unbekannt",
  run_again: "erneut ausgeführt",
  forgotten: "vergessen",
  removed: "entfernt",
  put_back: "zurückgespielt",
  restored: "wiederhergestellt",
  opened: "eröffnet",
  received: "empfangen",
  rotated: "gewechselt",
  blocked: "blockiert",
  queued: "in der Warteschlange",
  conflict: "Konflikt",
  preparing: "wird vorbereitet",
  running: "läuft",
  awaiting_answer: "wartet auf eine Antwort",
  waiting_on_answer: "wartet auf eine Antwort",
  interrupted: "unterbrochen",
  committing: "wird gesichert",
  review: "wird geprüft",
  succeeded: "gelungen",
  failed: "gescheitert",
};

export const text: ConsoleTexts = {
  deed: (action) => deedIn(DEEDS, action),
  title: "Betrieb",
  sections: "Bereiche",
  signingIn: "Anmeldung läuft",
  signedInAs: (name, role) =>
    `Angemeldet als ${name}${role === "admin" ? " (Verwaltung)" : role === "member" ? "" : ` (${role})`}`,
  signOut: "Abmelden",
  signedOut: "Niemand ist angemeldet",
  signedOutHint:
    "Den Server um einen neuen Link bitten: dort, wo er läuft, „parley link“ ausführen und die ausgegebene Adresse öffnen.",
  codeFailed: "Dieser Link gilt nicht mehr",
  codeFailedHint: "Ein Link gilt einmal, 30 Minuten lang. „parley link“ auf dem Server gibt einen neuen aus.",
  adminsOnly: "Der Betrieb ist der Verwaltung vorbehalten",
  adminsOnlyHint: (name) =>
    `Sie sind als ${name} angemeldet. Damit beantworten Sie, was Agenten fragen, verwalten aber diesen Server nicht. Die Verwaltung kann das unter „Personen“ ändern.`,
  openInbox: "Eingang öffnen",
  open: "Fragen öffnen",
  nothingHere: "Hier ist nichts",
  nothingHereHint: "Es wurde entfernt, oder es hat es nie gegeben.",
  choose: "In der Liste etwas auswählen.",
  save: "Speichern",
  saved: "Gespeichert.",
  cancel: "Abbrechen",
  never: "Nie",
  optional: "freiwillig",
  unreachableNow: "Der Server ist nicht erreichbar. Gleich noch einmal versuchen.",
  older: "Ältere anzeigen",

  start: {
    inbox: "Eingang",
    inboxHint: "Was Agenten namentlich von Ihnen wollen: Freigaben, Fragen, Formulare.",
    connect: "Einen Agenten verbinden",
    connectHint: "Jedes Programm, das HTTP senden kann, kann fragen. Auf diesem Rechner braucht es keinen Schlüssel.",
    remoteHint:
      "Von einem anderen Rechner aus braucht es einen Schlüssel mit dem Umfang „agent“. Einen erstellen unter",
    ask: "Eine Frage stellen",
    read: "Die Antworten lesen",
    readHint: "Mit der question_id aus der Antwort des Servers; die Abfrage wartet, bis es etwas mitzuteilen gibt.",
    environment: "Für Programme, die das SDK oder die Befehlszeile verwenden",
    answer: "Antworten",
    answerHint: "Diese Adresse auf einem Gerät öffnen, das den Server erreicht.",
  },

  channelNames: CHANNELS,
  channel: (channel) => CHANNELS[channel],

  people: {
    title: "Personen",
    add: "Jemanden hinzufügen",
    adding: "Neue Person",
    failed: "Die Personen konnten nicht geladen werden",
    admin: "Verwaltung",
    noChannels: "Nur im Eingang",
    name: "Name",
    job: "Funktion",
    jobHint: "Was die Person macht, etwa Leitung Finanzen.",
    about: "Was Agenten über sie erfahren",
    aboutHint: "Agenten lesen das, um zu wählen, wen sie fragen. Bitte nichts Privates nennen.",
    role: "Darf diesen Server verwalten",
    roleHint:
      "Wer verwaltet, sieht den Betrieb und jede Anfrage im Eingang, solange das unten nicht eingeschränkt wird.",
    operator: "Diese Person betreibt den Server und gehört immer zur Verwaltung.",
    scope: "Sieht im Eingang",
    scopes: { addressed: "Was an sie gerichtet ist", all: "Alles" },
    channels: "Erreichbar über",
    channelsHint: "Von oben nach unten: Scheitert ein Weg oder antwortet niemand, folgt der nächste.",
    addChannel: "Weiteren Weg hinzufügen",
    place: (at) => `Weg ${number(at)}`,
    up: (name) => `${name} nach oben`,
    down: (name) => `${name} nach unten`,
    drop: (name) => `${name} entfernen`,
    address: {
      email: "E-Mail-Adresse",
      slack: "Nutzer-ID bei Slack, etwa U024BE91L",
      sms: "Telefonnummer, etwa +14155550123",
      whatsapp: "Telefonnummer, etwa +14155550123",
      webhook: "Name des Ziels in parley.yaml",
    },
    signIn: "Anmeldung",
    sessions: (n) => (n === 0 ? "Nirgends angemeldet." : `Auf ${count(n, "Gerät", "Geräten")} angemeldet.`),
    link: "Link zum Anmelden erstellen",
    linkHint:
      "Er gilt einmal, 30 Minuten lang, und wer ihn öffnet, ist hier diese Person. Geben Sie ihn niemand anderem. Er wird nicht noch einmal gezeigt.",
    linkLabel: "Link zum Anmelden",
    end: "Überall abmelden",
    ended: "Überall abgemeldet.",
    remove: "Entfernen",
    removing: (name) => `${name} entfernen?`,
    removingHint:
      "Die Person kann nicht mehr gefragt werden, sich nicht mehr anmelden und nicht mehr antworten, und ihre Schlüssel gelten nicht mehr. Was nur sie gefragt wurde, geht an alle, die alles sehen. Was sie entschieden hat, behält ihren Namen.",
    confirmRemove: "Person entfernen",
    removed: "Entfernt.",
    idLabel: "Nummer, in Einstellungen, Schlüsseln und Befehlen",
  },

  keys: {
    title: "Schlüssel",
    add: "Neuer Schlüssel",
    failed: "Die Schlüssel konnten nicht geladen werden",
    which: "Welche",
    live: "In Gebrauch",
    all: "Alle",
    empty: "Es gibt noch keinen Schlüssel",
    emptyHint: "Programme auf diesem Rechner brauchen keinen. Alle anderen schon.",
    name: "Name",
    nameHint:
      "Wofür er ist, ohne Leerzeichen, etwa build-bot. Schlüssel mit gleichem Namen und Umfang teilen sich, was sie gefragt haben.",
    scope: "Umfang",
    scopes: {
      agent: "agent: fragt, und liest, was daraus wurde",
      answer: "answer: das eigene Programm einer Person antwortet für sie",
      executor: "executor: vermittelt, was ein Programmieragent tut",
      assign: "assign: gibt Programmieragenten Aufgaben",
      admin: "admin: verwaltet diesen Server",
    },
    person: "Gehört",
    nobody: "Niemandem: einem Dienst",
    expires: "Gültig",
    terms: { ever: "Bis zum Widerruf", day: "1 Tag", month: "30 Tage", quarter: "90 Tage", year: "1 Jahr" },
    selfRespond: "Darf beantworten, was er selbst gefragt hat",
    selfRespondHint: "Für Tests und Skripte. Solche Antworten sind im Protokoll gekennzeichnet.",
    create: "Schlüssel erstellen",
    made: "Ihr neuer Schlüssel",
    tryIt: "Eine erste Frage mit ihm stellen",
    notUsedYet: "Noch nicht benutzt. Das ändert sich, sobald ein Programm den Schlüssel zeigt.",
    wasUsed: "Er wurde benutzt: Ein Programm hat diesen Server mit ihm erreicht.",
    madeHint: "Kopieren Sie ihn jetzt. Gespeichert ist nur sein Fingerabdruck; er wird nicht noch einmal gezeigt.",
    done: "Ich habe ihn kopiert",
    state: (state, until) => {
      if (state !== "good") return state === "revoked" ? "Widerrufen" : "Abgelaufen";
      return until === null ? "Gültig bis zum Widerruf" : `Gültig bis ${until}`;
    },
    created: "Erstellt",
    used: "Zuletzt verwendet",
    unused: "Noch nicht verwendet",
    usedHint: "auf die Stunde",
    expiry: "Gültig bis",
    revoked: "Widerrufen",
    revokedNever: "zum Widerruf",
    revoke: "Widerrufen",
    revoking: (name) => `${name} widerrufen?`,
    revokingHint: "Schon der nächste Zugriff damit wird abgelehnt. Das lässt sich nicht rückgängig machen.",
    confirmRevoke: "Schlüssel widerrufen",
    isRevoked: "Widerrufen.",
    self: "Beantwortet Eigenes",
    yes: "Ja",
  },

  channels: {
    title: "Kanäle",
    failed: "Die Kanäle konnten nicht geladen werden",
    on: "Eingerichtet",
    off: "Nicht eingerichtet",
    state: ({ configured, sent_at, failed_at, retrying }) => {
      if (!configured) return "Nicht eingerichtet";
      if (retrying > 0) return `${count(retrying, "Nachricht wird", "Nachrichten werden")} erneut versucht`;
      if (failed_at !== null && (sent_at === null || failed_at > sent_at))
        return "Die letzte Nachricht ist gescheitert";
      return sent_at === null ? "Noch nichts gesendet" : "Funktioniert";
    },
    lastSent: "Letzte angenommene Nachricht",
    lastFailed: "Letzte aufgegebene Nachricht",
    failing: ({ failed, retrying, error }, since) =>
      [
        ...(failed > 0 ? [`${count(failed, "Nachricht", "Nachrichten")} aufgegeben seit ${since ?? "damals"}`] : []),
        ...(retrying > 0 ? [`${count(retrying, "Nachricht wird", "Nachrichten werden")} erneut versucht`] : []),
        `letzter Fehler: ${isolated(error ?? "unbekannt")}`,
      ].join("; "),
    reason: (error) => `(${error})`,
    retrying: "Werden erneut versucht",
    setUp: {
      push: "Geräte werden in der Web-App unter „Profil“ eingeschaltet. Push-Dienste brauchen kein Konto.",
      slack: "slack.bot_token und slack.app_token in parley.yaml setzen; „parley slack manifest“ gibt die App aus.",
      email: "email.smtp_url und email.from in parley.yaml setzen.",
      sms: "twilio.account_sid, twilio.auth_token, twilio.sms_from und twilio.countries in parley.yaml setzen.",
      whatsapp:
        "twilio.account_sid, twilio.auth_token, twilio.whatsapp_from und twilio.countries in parley.yaml setzen.",
      webhook: "Ziele unter webhook_targets in parley.yaml nennen.",
    },
    test: "Test senden",
    testHint:
      "Eine echte Nachricht auf dem Weg, den Anfragen nehmen, mit einer Schaltfläche, die zeigt, ob Antworten zurückkommen.",
    to: "An",
    send: "Testnachricht senden",
    again: "Noch eine senden",
    nobody: "Hierfür hat noch niemand eine Adresse. Unter „Personen“ lässt sich eine eintragen.",
    result: ({ state, attempts, error, via }) => {
      const wrong = error ?? "nicht erreichbar";
      switch (state) {
        case "sending":
          return "Unterwegs …";
        case "retrying":
          return `Noch nicht angenommen: ${wrong}. ${count(attempts, "Versuch", "Versuche")} bisher; es geht weiter.`;
        case "failed":
          return `Nicht gesendet: ${wrong}.`;
        case "sent":
          return "Gesendet: Der Anbieter hat die Nachricht angenommen. Antworten Sie darauf, um den Rückweg zu prüfen; sie wartet zehn Minuten.";
        case "answered":
          return `Gesendet und beantwortet (${via ?? "web"}). Hin und zurück funktioniert.`;
        case "over":
          return "Gesendet, aber innerhalb von zehn Minuten hat niemand geantwortet.";
      }
    },
  },

  webhooks: {
    title: "Webhooks",
    failed: "Die Webhooks konnten nicht geladen werden",
    empty: "Noch hat kein Agent einen Webhook",
    emptyHint: "Agenten, die erfahren wollen, wie ihre Anfragen enden, legen einen mit POST /webhook_endpoints an.",
    enabled: "Eingeschaltet",
    disabled: "Ausgeschaltet",
    fails: "Zustellungen scheitern",
    failing: (since, error) =>
      `Seit ${since} wurde dort nichts angenommen; letzter Fehler: ${isolated(error ?? "unbekannt")}.`,
    of: (agent) => `Webhook von ${agent}`,
    disabledHint:
      "Hierhin wird nichts gemeldet: Die Adresse hat fünf Tage lang nichts angenommen, gilt als aufgegeben oder wurde ausgeschaltet.",
    agent: "Agent",
    format: "Format",
    events: "Ereignisse",
    allEvents: "Alle dieses Formats",
    made: "Angelegt",
    about: "Beschreibung",
    enable: "Einschalten",
    disable: "Ausschalten",
    test: "Testereignis senden",
    testing: "Ein Testereignis ist unterwegs.",
    deliveries: "Zustellungen",
    noDeliveries: "Hierhin wurde noch nichts gemeldet",
    deliveriesFailed: "Die Zustellungen konnten nicht geladen werden",
    state: { pending: "Wartet", delivered: "Zugestellt", dead: "Aufgegeben" },
    attempts: (n) => count(n, "Versuch", "Versuche"),
    status: (status) => `Statuscode ${number(status)}`,
    next: "nächster Versuch",
    retry: "Erneut melden",
    retrying: "Es wird erneut gemeldet.",
  },

  audit: {
    title: "Protokoll",
    failed: "Das Protokoll konnte nicht geladen werden",
    filter: "Protokoll filtern",
    ask: "Anfrage",
    askHint: "ask_…",
    agent: "Agent",
    action: "Vorgang",
    actionHint: "function_call.approved",
    apply: "Filtern",
    clear: "Alle anzeigen",
    empty: "Im Protokoll steht nichts dergleichen",
    checking: "Es wird geprüft, ob jeder Eintrag aus dem vorigen folgt …",
    holds: (entries, unsealed) =>
      (entries === 1
        ? "Vollständig: Der einzige Eintrag ist unverändert."
        : `Vollständig: Jeder von ${number(entries)} Einträgen folgt aus dem vorigen.`) +
      (unsealed === 0 ? "" : ` ${count(unsealed, "Eintrag ist", "Einträge sind")} noch nicht in der Kette.`),
    broken: (at) => `Verändert: Eintrag ${number(at)} folgt nicht aus dem vorigen.`,
    chainFailed: "Die Kette konnte nicht geprüft werden.",
    by: (kind, id, name) => {
      if (name !== undefined) return name;
      if (kind === "clock") return "die Uhr";
      if (kind === "crowd") return "die Öffentlichkeit";
      if (id === "parley" || id === "server:parley") return "der Server";
      if (kind === "server" && id.startsWith("cli:")) return `${id.slice(4)}, an der Befehlszeile`;
      return kind === "server" ? id : id.replace(/^agent:/, "");
    },
    entry: (seq) => `Eintrag ${seq}`,
  },

  health: {
    title: "Zustand",
    failed: "Die Datenbank konnte nicht untersucht werden",
    checking: "Wird untersucht …",
    holds: "Alles in Ordnung",
    broken: "Etwas ist beschädigt",
    failing: "Nicht alles kommt an",
    deliveries: "Zustellungen, die scheitern",
    deliveriesUnknown: "Ob Nachrichten ankommen, konnte nicht gelesen werden.",
    brokenHint:
      "Nichts wurde verändert. Führen Sie auf dem Server „parley doctor“ aus und lesen Sie docs/explanation/failures.md.",
    quick: "Untersucht wurden das Offene und die neuesten Zeilen.",
    full: "Jede Zeile wurde untersucht.",
    all: "Jede Zeile untersuchen",
    works: "In Ordnung",
    fails: "Verletzt",
    checks: "Zusagen",
    mayBeMore: (most) => `Höchstens ${number(most)} werden genannt; es können mehr sein.`,
  },
};
