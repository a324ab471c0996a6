/** The words for each key, loaded with the list of keys. */
export const text = {
  choose: "Choose an option",
  press: "Choose an option, and send it",
  undo: "Undo, before it is sent",
  send: "Send, or go on to the next question",
  move: "Next and previous question",
  decide: "Approve or reject, after one more question",
  snooze: "Snooze, until a time of your choice",
  search: "Search what was decided",
  help: "Show this list",
  off: "Single-key shortcuts are off. Turn them on under You.",
};

export type KeyTexts = typeof text;
