/** The words of requests that are handed on, loaded with them. */
export const text = {
  title: "Hand on",
  lead: "It leaves your list and stands first in theirs. Who may decide it stays the same.",
  to: "To",
  search: "Search names",
  people: "People",
  group: (name: string) => `${name} (group)`,
  nobody: "Nobody else may decide this.",
  away: (day: string) => `away until ${day}`,
  note: "Note",
  noteHint: "They see it with the request.",
  send: "Hand on",
  back: "Hand back",
  takeBack: "Take back",
  done: "Handed on.",
  isBack: "Back in your list.",
};

export type HandOnTexts = typeof text;
