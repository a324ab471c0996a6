/** Every word of the pages about the person in front of the screen. */
import type { Period } from "@parley/sdk/wire";
import { duration, number } from "../../format.ts";

export const text = {
  me: {
    title: "You",
    own: "Your figures",
    points: (today: number) => (today > 0 ? `Points, ${number(today)} today` : "Points"),
    streak: "Day streak",
    answers: "Answers",
    rank: "Rank",
    noRank: "–",
    empty: "Answer your first question to start collecting points.",
    badges: "Badges",
    progress: (have: number, need: number) => `${number(have)} of ${number(need)}`,
    showAll: "Show all badges",
    categories: "Answers by topic",
    failed: "Your figures could not be loaded",
    appearance: "Appearance",
    themes: { system: "System", light: "Light", dark: "Dark" },
    language: "Language",
    /** The choice to follow the browser; each language names itself. */
    ofBrowser: "As the browser",
    keyboard: "Keyboard",
    shortcuts: "Single-key shortcuts",
    showKeys: "Show the keys",
    install: "Install on this device",
    installHint: "Opens like an app, and works without a connection.",
    console: "You run this server?",
    consoleLink: "Open the console",
  },

  notifications: {
    title: "Notifications",
    lead: "A quiet note when a question needs answers. It never shows the question itself.",
    turnOn: "Turn on",
    turnOff: "Turn off",
    on: "On for this device",
    off: "Off",
    interval: "At most one every",
    intervals: [5, 15, 30, 60, 180, 720, 1440],
    minutes: (n: number) => duration(n * 60_000),
    unsupported:
      "This browser cannot show notifications here. On an iPhone or iPad, add Parley to the home screen first.",
    denied: "Notifications are blocked for this site. Allow them in the browser's site settings first.",
    failed: "The browser could not be subscribed. Its push service may be out of reach.",
    saved: "Saved.",
  },

  recovery: {
    title: "Use another device",
    lead: "Points and badges belong to this browser. A code moves them to another one; it works once, for 30 days.",
    make: "Make a code",
    yours: "Your code",
    until: (date: string) => `Works until ${date}. Anyone who has it can take your place, so keep it to yourself.`,
    have: "Use a code from another device",
    code: "Code",
    redeem: "Use it",
    redeemed: "This device has taken over your points and badges.",
    failed: "This code does not work. It may have been used, replaced or mistyped.",
    noConnection: "The server could not be reached. Try again.",
  },

  erase: {
    title: "Erase me",
    lead: "Removes your points, badges, streak and notifications from this server. Answers you gave stay, unlinked from you.",
    button: "Erase me",
    confirmTitle: "Erase everything about you?",
    confirm: "Yes, erase me",
    done: "You have been erased. You start afresh.",
    failed: "Nothing was erased. Try again when the server can be reached.",
  },

  leaderboard: {
    title: "Leaderboard",
    period: "Period",
    periods: {
      daily: "Today",
      weekly: "This week",
      all_time: "All time",
    } satisfies Record<Period, string>,
    rank: "Rank",
    who: "Who",
    points: "Points",
    answers: "Answers",
    you: "You",
    someone: "Someone",
    yourRank: (rank: number) => `You are number ${number(rank)}`,
    unranked: "You have no points here yet",
    empty: "Nobody has points here yet",
    emptyHint: "The first answer leads the board.",
    failed: "The leaderboard could not be loaded",
  },
};

export type YouTexts = typeof text;
