/** The words of requests that are put aside, loaded with them. */
export const text = {
  title: "Snooze until",
  lead: "It leaves your list until then, and nobody else’s. Its deadline goes on.",
  times: {
    hour: "In 1 hour",
    evening: "This evening",
    tomorrow: "Tomorrow",
    latest: "Before its deadline",
  },
  done: "Snoozed.",
  wake: "Wake now",
  awake: "Back in your list.",
};

export type SnoozeTexts = typeof text;
