/** The words of signing out with something unsent. */
import { count } from "../format.ts";

export const text = {
  title: "Before you sign out",
  left: (answers: number, drafts: number) =>
    [
      answers > 0 && `${count(answers, "answer was", "answers were")} not sent.`,
      drafts > 0 && `${count(drafts, "draft is", "drafts are")} not finished, and will be discarded.`,
    ]
      .filter(Boolean)
      .join(" "),
  send: "Send, then sign out",
  discard: "Discard and sign out",
  notSent: "Not everything could be sent. You are still signed in.",
  failed: "The server cannot be reached. You are still signed in.",
};

export type SignOutTexts = typeof text;
