/** The words of the inbox that wait for somebody to need them: of its search, and of nobody being signed in. */
import type { Order } from "./wire.ts";

export const text = {
  search: "Search",
  searchOver: "Search what was decided",
  searchOverHint: "Who, what, words, a day (2026-11-23)",
  order: "Order",
  orders: { deadline: "By deadline", asked: "Longest wait first", risk: "Highest risk first" } satisfies Record<
    Order,
    string
  >,
  signedOut: "Sign in to see your inbox",
  signedOutHint:
    "Approvals and questions here are addressed to people by name. Whoever runs this server makes you a link with “parley link --person YOUR-ID”; it works once.",
  codeFailed: "This link does not work any more",
  codeFailedHint: "A sign-in link works once, for 30 minutes. Ask for another.",
  toQuestions: "Open the questions for everybody",
};

export type AsideTexts = typeof text;
