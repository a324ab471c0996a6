/** How many people are notified of a crowd question, and how soon again (spec/ask-a-human 6 and 12). */
export interface NotifyRules {
  /** The number of people notified for each missing answer. */
  factor: number;
  /** So long after people were notified, in ms, others are notified in their stead while answers are missing. */
  catchUpMs: number;
}

/** Returns how many more people are to be notified now. */
export function notifiedNow(rules: NotifyRules, ask: { need: number; n: number }, notifiedLately: number): number {
  return Math.max(0, rules.factor * (ask.need - ask.n) - notifiedLately);
}
