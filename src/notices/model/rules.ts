/** How many people are told of a crowd question, and how soon again (spec/ask-a-human 6 and 12). */
export interface NotifyRules {
  /** People told for each missing answer. */
  factor: number;
  /** So long after people were told, others are told in their stead while answers are missing. */
  catchUpMs: number;
}

/** Returns how many more people are to be told now. */
export function toldNow(rules: NotifyRules, ask: { need: number; n: number }, toldLately: number): number {
  return Math.max(0, rules.factor * (ask.need - ask.n) - toldLately);
}
