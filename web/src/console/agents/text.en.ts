/** The words of the programs that ask. */
import { count, duration, number, percent } from "../../format.ts";

export const text = {
  title: "All that ask",
  failed: "The agents could not be loaded",
  none: "No program has asked yet.",
  more: "Show more agents",
  lastAsked: (ago: string) => `asked ${ago}`,
  never: "never asked",
  waiting: (n: number) => `${number(n)} ${n === 1 ? "waits" : "wait"} for people`,
  questions: (n: number) => `${count(n, "question", "questions")} open to the crowd`,
  approved: (share: number, of: number) =>
    `${percent(share)} approved of the newest ${count(of, "decision", "decisions")}`,
  wait: (ms: number) => `median wait ${duration(ms)}`,
  keys: (n: number) => count(n, "key", "keys"),
  grants: (n: number) => count(n, "permanent permission", "permanent permissions"),
  frozen: "Frozen",
};

export type AgentsTexts = typeof text;
