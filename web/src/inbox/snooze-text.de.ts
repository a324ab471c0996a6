import type { SnoozeTexts } from "./snooze-text.en.ts";

export const text: SnoozeTexts = {
  title: "Zurückstellen bis",
  lead: "Bis dahin fehlt es in Ihrer Liste, und in keiner anderen. Die Frist läuft weiter.",
  times: {
    hour: "In 1 Stunde",
    evening: "Heute Abend",
    tomorrow: "Morgen",
    latest: "Vor Ablauf der Frist",
  },
  done: "Zurückgestellt.",
  wake: "Jetzt zurückholen",
  awake: "Wieder in Ihrer Liste.",
};
