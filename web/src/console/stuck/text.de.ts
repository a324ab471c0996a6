/** The words of what is stuck, in German. */
import { count, isolated, number } from "../../format.ts";
import type { StuckTexts } from "./text.en.ts";

export const text: StuckTexts = {
  failed: "Was feststeckt, konnte nicht gelesen werden",
  total: (n) => (n === 0 ? "Nichts steckt fest." : `${count(n, "Vorgang steckt", "Vorgänge stecken")} fest.`),
  running: (n) => `${count(n, "genehmigter Aufruf läuft", "genehmigte Aufrufe laufen")} gerade.`,
  moreOpen: "Mehr als 500 Anfragen sind offen. Die übrigen wurden nicht angesehen.",
  more: (n) => `${number(n)} weitere`,
  causes: {
    frozen: "Eingefroren",
    policy_stale: "Die Regeldatei enthält einen Fehler",
    channel_failing: "Ein Kanal ist gestört",
    message_failed: "Die Nachricht kam nicht an",
    nobody_reached: "Niemand kann es sehen",
    away: "Alle Gefragten sind abwesend",
    outcome_unknown: "Ein Aufruf ohne bekanntes Ende",
    webhook_failing: "Ein Webhook ist gestört",
    unanswered: "Noch keine Antwort",
    question_unanswered: "Eine Frage ohne Antworten",
    job_unclaimed: "Ein Auftrag ohne Ausführenden",
  },
  remedies: {
    frozen: "Nichts wird genehmigt, bis jemand den Agenten auftaut.",
    policy_stale: "Die Regeln von vorher gelten weiter. Beheben Sie den Fehler in der Datei.",
    channel_failing: "Sehen Sie den Fehler an, ändern Sie die Einstellungen und senden Sie einen Test.",
    message_failed: "Berichtigen Sie die Adresse oder den Kanal. Erinnern Sie die Person danach.",
    nobody_reached:
      "Sie sind nirgends angemeldet, und kein Gerät oder Kanal erreicht sie. Senden Sie einen Anmeldelink.",
    away: "Niemand vertritt sie. Öffnen Sie es, um zu entscheiden oder es weiterzugeben.",
    outcome_unknown:
      "Er begann und wurde nie gemeldet. Parley führt ihn nicht noch einmal aus: Sehen Sie nach, ob er erledigt ist.",
    webhook_failing: "Der Agent erhält seine Ergebnisse nicht. Sehen Sie den Fehler an und senden Sie noch einmal.",
    unanswered: "Sie wissen davon, und die halbe Zeit oder eine Stunde ist um. Erinnern Sie sie.",
    question_unanswered: "Die halbe Zeit oder eine Stunde ist ohne Antwort um.",
    job_unclaimed: "Er wartet seit zehn Minuten. Starten Sie einen Ausführenden, oder brechen Sie ihn ab.",
  },
  since: (time) => `seit ${time}`,
  asked: (names) => `gefragt: ${names}`,
  agent: (name) => `von ${isolated(name)}`,
  via: (channel, error) => `${channel}${error === null ? "" : `: ${isolated(error)}`}`,
  policyFile: "Die Regeldatei",
  webhookOf: (agent) => `Webhook von ${isolated(agent)}`,
  open: "Öffnen",
  thaw: "Was eingefroren ist",
  remind: "Erinnern",
  channel: (name) => `Kanal ${name}`,
  person: (name) => `Anmeldelink für ${isolated(name)}`,
  reminded: (n) => (n === 0 ? "Sie wurden gerade eben erinnert." : `${count(n, "Person", "Personen")} erinnert.`),
};
