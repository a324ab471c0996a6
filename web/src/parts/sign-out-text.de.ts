import { count } from "../format.ts";
import type { SignOutTexts } from "./sign-out-text.en.ts";

export const text: SignOutTexts = {
  title: "Vor dem Abmelden",
  left: (answers, drafts) =>
    [
      answers > 0 && `${count(answers, "Antwort wurde", "Antworten wurden")} nicht gesendet.`,
      drafts > 0 &&
        count(
          drafts,
          "Entwurf ist nicht fertig und wird verworfen.",
          "Entwürfe sind nicht fertig und werden verworfen.",
        ),
    ]
      .filter(Boolean)
      .join(" "),
  send: "Senden, dann abmelden",
  discard: "Verwerfen und abmelden",
  notSent: "Nicht alles konnte gesendet werden. Die Anmeldung besteht weiter.",
  failed: "Der Server ist nicht erreichbar. Die Anmeldung besteht weiter.",
};
