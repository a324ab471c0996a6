import type { KeyTexts } from "./text.en.ts";

/** The name of an action, as `text.actions` has its words. */
export type ActionName = keyof KeyTexts["actions"];

/**
 * The key of each action, in the order of the list. Where a key has several, the first is its usual one. `⌘` stands for
 * Ctrl too, and `1` for every digit.
 */
export const KEYS = {
  next: "j",
  previous: "k",
  choose: "1",
  tick: "x",
  takeOut: "x",
  send: "Enter",
  open: "Enter",
  undo: "Escape",
  approve: "a",
  changes: "c",
  reject: "r",
  snooze: "s",
  takeBack: "u",
  handOn: "h",
  askBack: "q",
  freeze: "f",
  edit: "e",
  begin: "w",
  write: "w",
  newTask: "n",
  search: "/",
  palette: "⌘k",
  list: "?",
} as const satisfies Record<ActionName, string>;

type Digit = "0" | "1" | "2" | "3" | "4" | "5" | "6" | "7" | "8" | "9";
export type Key = (typeof KEYS)[ActionName] | Digit;

/** The actions of each room, whether or not its screen has them now. */
export const ROOMS = {
  answer: ["next", "previous", "choose", "send", "undo"],
  inbox: [
    "next",
    "previous",
    "choose",
    "tick",
    "takeOut",
    "open",
    "send",
    "approve",
    "reject",
    "snooze",
    "takeBack",
    "handOn",
    "askBack",
    "freeze",
    "edit",
    "begin",
    "write",
    "search",
  ],
  run: ["next", "previous", "approve", "changes", "reject", "newTask"],
} as const satisfies Record<string, readonly ActionName[]>;

export const names = Object.keys(KEYS) as ActionName[];
