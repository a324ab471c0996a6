/** The words for each key and for the palette, loaded with the list of keys. */
import { number } from "../format.ts";

export const text = {
  actions: {
    next: "Next",
    previous: "Previous",
    choose: "Choose an answer",
    tick: "Tick",
    takeOut: "Take out from here",
    send: "Send, or go on",
    open: "Open",
    undo: "Undo, before it is sent",
    approve: "Approve, after one more question",
    changes: "Ask for changes, after one more question",
    reject: "Reject, after one more question",
    snooze: "Snooze, until a time of your choice",
    takeBack: "Undo what you just decided",
    handOn: "Hand on to somebody else",
    askBack: "Ask the agent back",
    freeze: "Freeze this agent, after one more question",
    edit: "Edit the arguments",
    begin: "New conversation",
    write: "Write an answer",
    newTask: "New task",
    search: "Search",
    palette: "Find an action",
    list: "List the keys",
  },
  now: "On this screen",
  elsewhere: "On other screens of this place",
  off: "Single-key shortcuts are off. Turn them on under You.",
  find: "An action, a request or a place",
  found: (n: number) => (n === 0 ? "Nothing found" : `${number(n)} found`),
  commands: {
    open: (sentence: string) => `Open: ${sentence}`,
    show: (filter: string) => `Show: ${filter}`,
    go: (place: string) => `Go to ${place}`,
  },
};

export type KeyTexts = typeof text;
