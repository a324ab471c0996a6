/** The words of absences, loaded with them. */
export const text = {
  title: "Away",
  lead: "Your stand-in is told of what they may decide anyway, and finds it first in their inbox.",
  until: "Back on",
  standIn: "Stand-in",
  nobody: "Nobody",
  awayUntil: (name: string, day: string) => `${name} (away until ${day})`,
  save: "Save",
  back: "I am back",
  away: (day: string) => `You are away until ${day}`,
  standsIn: (name: string) => `${name} stands in.`,
  saved: "Saved.",
  failed: "This did not work. Try again.",
  isBack: "You are back.",
};

export type AwayTexts = typeof text;
