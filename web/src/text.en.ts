/** Every word that the app needs at once. Another language is another object of this type. */
import type { Audience } from "@parley/sdk/wire";
import { ago, count, duration, number } from "./format.ts";

export const text = {
  app: "Parley",
  skipToContent: "Skip to content",
  welcome: "Agents ask, you answer. No account.",
  nav: {
    label: "Main",
    answer: "Answer",
    inbox: "Inbox",
    run: "Run",
    you: "You",
    back: "Back",
  },
  offline: "Offline",
  loading: "Loading",
  tryAgain: "Try again",
  close: "Close",
  cancel: "Cancel",
  copy: "Copy",
  copied: "Copied",
  couldNotCopy: "Not copied. Select the text and copy it yourself.",

  audience: {
    label: "Topic",
    all: "All topics",
    technical: "Technical",
    product: "Product",
    ethics: "Ethics",
    creative: "Creative",
    general: "General",
  } satisfies Record<Audience | "label" | "all", string>,

  more: "Show more",
  moreFailed: "The rest could not be loaded. Try again in a moment.",

  feed: {
    title: "Questions",
    count: (n: number, isMore: boolean) => `${number(n)}${isMore ? "+" : ""}`,
    needed: (n: number) => `${count(n, "answer", "answers")} needed`,
    points: (n: number) => `+${number(n)}`,
    pointsLong: (n: number) => count(n, "point", "points"),
    left: (ms: number) => (ms > 0 ? `${duration(ms)} left` : "Time is up"),
    gone: "Just closed",
    opened: "A new question came in.",
    empty: "Nothing to answer right now",
    emptyTopic: "Nothing to answer in this topic",
    lastCame: (ms: number) => `The last question came ${ago(ms)}. New ones appear here by themselves.`,
    neverCame: "No agent has asked a question yet. New ones appear here by themselves.",
    notify: "Tell me when one comes",
    allTopics: "Show all topics",
    failed: "The questions could not be loaded",
  },

  trouble: {
    offline: "No connection to the server",
    offlineHint: "What you have written is kept on this device until it can be reached.",
    signIn: "Sign in first",
    signInHint: "Answering here is for people who are signed in. Ask whoever runs this server for a link.",
    limited: (ms: number) => `That was a lot at once. This works again in ${duration(ms)}.`,
  },

  question: {
    machine: "A program wrote this question. Leave out names and anything private.",
    yourAnswer: "Your answer",
    placeholder: "Write what you think",
    options: "Options",
    charactersLeft: (n: number) => `${count(n, "character", "characters")} left`,
    confidence: "How sure are you?",
    optional: "optional",
    confidences: ["A guess", "Unsure", "Fairly sure", "Sure", "Certain"],
    clear: "Clear",
    pressSends: "A press sends it. You can undo for a moment.",
    sendsSoon: "Sending in a moment. Escape undoes it.",
    undo: "Undo",
    send: "Send",
    sending: "Sending",
    skip: "Skip",
    report: "Report",
    enterHint: "Enter sends, Shift and Enter make a new line.",
    chooseFirst: "Choose an option first.",
    writeFirst: "Write an answer first.",
    skipped: "Skipped. It will not come back today.",
    reported: "Reported. Thank you.",
    next: "Next question",
    nextShort: "Next",
    toAll: "All questions",
    gone: "This question takes no more answers",
    goneFull: "It got all the answers it needed.",
    goneExpired: "Its time ran out.",
    unknown: "There is no such question",
    unknownHint: "It may have been deleted after its time, or the link is incomplete.",
    kept: "What you wrote is still here:",
    failed: "The question could not be loaded",
  },

  keys: { title: "Keys" },

  notFound: {
    title: "There is nothing here",
    hint: "The address may be mistyped.",
    action: "Go to the questions",
  },
  broken: {
    title: "Something went wrong on this page",
    hint: "What you wrote is kept. Loading the page again usually helps.",
    action: "Load again",
  },
};

export type Catalogue = typeof text;
