/** The words of calls that are decided together, loaded with them. */
import { count, number } from "../format.ts";
import type { BatchedCall, BatchMark } from "./wire.ts";

export const text = {
  title: (n: number, fn: string) => `${count(n, "call", "calls")} of ${fn}`,
  same: "The same in each",
  differing: "Calls",
  call: "Call",
  tickAll: "All but those of high risk",
  tick: (sentence: string) => `Decide with the others: ${sentence}`,
  ticked: (n: number, of: number) => `${number(n)} of ${number(of)} ticked`,
  left: (n: number) =>
    `${count(n, "call stands out or has a high risk", "calls stand out or have a high risk")}: not ticked.`,
  more: "More of them wait; they follow once these are decided.",
  gone: "Decided elsewhere, or over",
  empty: "None of these calls waits any more",
  failed: "These calls could not be loaded",
  alone: {
    secret: "Holds a secret: open it to decide.",
    long: "Too long for a table: open it to decide.",
    decided: "You have decided it; others must, too.",
    not_asked: "Somebody else decides it.",
  } satisfies Record<NonNullable<BatchedCall["alone"]>, string>,
  mark: ({ kind, says }: BatchMark): string => {
    const others = says === "" ? "" : `: ${says}`;
    switch (kind) {
      case "risk":
        return "A higher risk than the others";
      case "amount":
        return "Far from the others";
      case "highest":
        return "The highest";
      case "receiver":
        return `Not where the others go${others}`;
      case "place":
        return `Outside of the others’ folder${others}`;
      case "missing":
        return "The others have it";
      case "added":
        return "The others do not have it";
      case "unlike":
        return `Unlike the others${others}`;
    }
  },
  approve: (n: number) => `Approve ${number(n)}`,
  reject: (n: number) => `Reject ${number(n)}`,
  approveTitle: (n: number, fn: string) => `Approve ${count(n, "call", "calls")} of ${fn}?`,
  rejectTitle: (n: number, fn: string) => `Reject ${count(n, "call", "calls")} of ${fn}?`,
  approveLead: (agent: string) => `${agent} may run each of them once, with the arguments shown.`,
  rejectLead: "None of them will run.",
  odd: (n: number) => `${count(n, "of them stands out", "of them stand out")}:`,
  tickFirst: "Tick a call first.",
  done: (n: number, approved: boolean) => `${count(n, "call", "calls")} ${approved ? "approved" : "rejected"}.`,
  noneDecided: (sentence: string) => `Nothing was decided, because this one could not be: ${sentence}`,
};

export type BatchTexts = typeof text;
