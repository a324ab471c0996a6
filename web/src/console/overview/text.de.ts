/** The words of the console's sections in German, and of the state beside each of their pages. */
import { count, duration, isolated, number, percent } from "../../format.ts";
import { text as consoleText } from "../text.de.ts";
import type { OverviewTexts } from "./text.en.ts";

const channelFails = "gestört";
const channelWorks = "funktioniert";

const outcomes = {
  waiting: "wartet",
  approved: "genehmigt",
  rejected: "abgelehnt",
  answered: "beantwortet",
  expired: "nicht rechtzeitig entschieden",
  withdrawn: "zurückgezogen",
};

export const text: OverviewTexts = {
  nav: "Übersicht",
  all: "Alle Seiten",
  groups: { now: "Jetzt", work: "Arbeit", rules: "Regeln", setup: "Einrichtung" },
  pages: (group) => `Seiten von „${group}“`,
  loading: "…",
  unknown: "Gerade nicht bekannt",

  waits: (n, oldestMs) => {
    if (n === 0) return "Nichts wartet";
    const oldest = oldestMs === null ? "" : `, längste Wartezeit ${duration(oldestMs)}`;
    return `${number(n)} ${n === 1 ? "wartet" : "warten"}${oldest}`;
  },
  health: (broken, failing) => {
    const parts = [
      ...(broken > 0 ? [`${count(broken, "Zusage", "Zusagen")} verletzt`] : []),
      ...(failing > 0 ? [`${count(failing, "Zustellweg", "Zustellwege")} gestört`] : []),
    ];
    return parts.length === 0 ? "Alles in Ordnung" : parts.join(", ");
  },
  today: { title: "Entscheidungen", state: (n) => `${number(n)} in 24 Stunden` },
  activity: "Verlauf",
  stuck: {
    title: "Was feststeckt",
    state: (n, oldestMs) =>
      n === 0
        ? "Nichts"
        : `${number(n)} ${n === 1 ? "steckt" : "stecken"} fest${oldestMs === null ? "" : `, seit ${duration(oldestMs)}`}`,
  },
  tasks: ({ waiting, review, working, queued }) => {
    const parts = [
      ...(waiting > 0 ? [`${number(waiting)} ${waiting === 1 ? "wartet" : "warten"} auf jemanden`] : []),
      ...(review > 0 ? [`${number(review)} zu prüfen`] : []),
      ...(working > 0 ? [`${number(working)} in Arbeit`] : []),
      ...(queued > 0 ? [`${number(queued)} in der Warteschlange`] : []),
    ];
    return parts.length === 0 ? "Nichts in Arbeit" : parts.join(", ");
  },
  notSetUp: "Nicht eingerichtet",
  jobs: (n) => (n === 0 ? "Keine offen" : `${number(n)} offen`),
  record: (ago) => `Neuester Eintrag ${ago}`,
  noRecord: "Leer",
  policy: (rules, proposed) =>
    [count(rules, "Regel", "Regeln"), ...(proposed > 0 ? [`${number(proposed)} vorgeschlagen`] : [])].join(", "),
  policyMissing: "Keine Datei, es gelten die Vorgaben",
  policyStale: "Die Datei enthält einen Fehler",
  cache: (n) => (n === 0 ? "Nichts gemerkt" : `${count(n, "Entscheidung", "Entscheidungen")} gemerkt`),
  done: (n, of) => `${number(n)} von ${number(of)} erledigt`,
  people: (n, admins) => `${count(n, "Person", "Personen")}, davon ${number(admins)} in der Verwaltung`,
  keys: (n) => (n === 0 ? "Keine" : `${number(n)} in Gebrauch`),
  channels: (states) => {
    const set = states.filter(({ channel, configured }) => configured && channel !== "push");
    const ways = set.map((one) => `${consoleText.channel(one.channel)} ${text.channel(one)}`);
    return ways.length === 0 ? "Keine eingerichtet" : ways.join(", ");
  },
  channelFails,
  channelWorks,
  channel: ({ configured, sent_at, failed, retrying }) => {
    if (!configured) return "nicht eingerichtet";
    if (failed > 0 || retrying > 0) return channelFails;
    return sent_at === null ? "nicht erprobt" : channelWorks;
  },
  webhooks: (n, { disabled, failing }) =>
    [
      n === 0 ? "Keine" : count(n, "Adresse", "Adressen"),
      ...(failing > 0 ? [`${number(failing)} gestört`] : []),
      ...(disabled > 0 ? [`${number(disabled)} ausgeschaltet`] : []),
    ].join(", "),

  waiting: {
    title: "Was wartet",
    failed: "Die Anfragen konnten nicht geladen werden",
    at: (time) => `Stand: ${time}.`,
    none: "Keine Anfrage wartet auf jemanden.",
    total: (n, oldestMs) =>
      `${count(n, "Anfrage wartet", "Anfragen warten")}${oldestMs === null ? "" : `, am längsten seit ${duration(oldestMs)}`}.`,
    narrowed: "Sie sehen, was an Sie gerichtet ist; unter „Personen“ können Sie sich alles zeigen lassen.",
    whom: (names) => (names.length === 0 ? "für alle, die den ganzen Eingang sehen" : `für ${names.join(", ")}`),
    andMore: (n) => `${number(n)} weitere`,
    waits: (ms) => `wartet seit ${duration(ms)}`,
    left: (ms) => (ms <= 0 ? "die Zeit ist um" : `noch ${duration(ms)}`),
    noDeadline: "ohne Frist",
    high: "Hohes Risiko",
    unjudged: "Nicht beurteilt",
    all: (n) => `Alle ${number(n)} im Eingang anzeigen`,
    executors: "Ausführende Programme in der letzten Stunde",
    ended: "Beendet",
    rules: "Durch Regeln",
    models: "Durch Modelle",
    people: "Durch Menschen",
    nobody: "Durch niemanden",
    share: (share) => percent(share),
  },

  agents: {
    title: "Agenten",
    failed: "Die Agenten konnten nicht geladen werden",
    state: (n, { isMore, frozen }) =>
      [
        isMore ? `Mehr als ${number(n)} Agenten` : count(n, "Agent", "Agenten"),
        ...(frozen > 0 ? [`${number(frozen)} eingefroren`] : []),
      ].join(", "),
    here: "Coding-Agenten dieses Computers",
    says: (agents) => {
      const here = agents.filter((one) => one.here);
      if (here.length === 0) return "Auf diesem Rechner wurde kein Agent gefunden.";
      const through = number(here.filter(({ hook }) => hook).length);
      return `${through} von ${count(here.length, "Agenten", "Agenten")} dieses Rechners fragen über Parley.`;
    },
    whose:
      "Dieser Rechner ist der, auf dem der Server läuft, und die Agenten sind die seines Benutzers: Andere sieht die Konsole nicht. Nachfragen können von jedem Rechner kommen.",
    hook: (hook) =>
      hook === null ? "Seine Einstellungen sind nicht lesbar" : hook ? "Fragt über Parley" : "Nicht verbunden",
    outcomes,
    prompt: ({ tool, outcome, by, asked_by }, ago) => {
      const ended = `${outcomes[outcome]}${by === null ? "" : ` (${isolated(by)})`}`;
      return `Letzte Nachfrage ${ago}: ${tool === null ? "eine Frage" : isolated(tool)}, ${ended}. Gestellt von ${isolated(asked_by)}:`;
    },
    noPrompt: "Noch keine Nachfrage.",
    connect: "Agenten verbinden",
    connectHere: "Auf dem Rechner ausführen, auf dem der Server läuft:",
    connectThere: "Auf jedem Rechner ausführen, auf dem Agenten laufen:",
    command: "Befehl",
    elsewhere: "Nachfragen von anderen Rechnern",
  },

  checklist: {
    title: "Checkliste",
    done: "Erledigt",
    open: "Zu tun",
    people: "Menschen, die entscheiden",
    peopleSays: (others) =>
      others === 0
        ? "Nur Sie. Fügen Sie hinzu, wer gefragt werden soll."
        : `Sie und ${count(others, "weitere Person", "weitere Personen")}.`,
    messages: "Nachrichten an sie",
    messagesOpen: "Außerhalb der App erreicht Menschen nichts, solange keiner dieser Kanäle funktioniert.",
    push: "Benachrichtigungen auf ihren Geräten",
    pushOpen: "Jede Person schaltet sie unter „Profil“ ein.",
    pushSays: "Gesendet.",
    keys: "Schlüssel für Programme",
    keysOpen: "Programme auf diesem Rechner brauchen keinen, die auf anderen schon.",
    policy: "Eine Richtlinie",
    policyOpen: "Ohne Datei entscheiden Menschen über alles außer Lesen.",
    prompts: "Nachfragen von Agenten",
    promptsElsewhere: "Nachfragen kommen von anderen Rechnern an.",
    agents: "Programmieragenten",
    agentsOpen: "Unter repos in parley.yaml ein Repository nennen, um ihnen Aufgaben zu geben.",
    agentsSays: (ready, missing) =>
      [
        ...(ready.length > 0 ? [`Bereit: ${ready.join(", ")}.`] : ["Keiner ist bereit."]),
        ...(missing.length > 0 ? [`Nicht bereit: ${missing.join(", ")}.`] : []),
      ].join(" "),
  },
};
