import { type Choose, useFilter } from "../filter.ts";
import type { Due, Kind, Order, Wanted } from "./wire.ts";

/** The list of what waits, or that of what is over. */
export type Tab = "open" | "over";

const KNOWN = /^(snoozed|kind:(approval|reply|value)|due:(soon|today|later|none)|agent:.{1,200})$/s;
export const KINDS: readonly Kind[] = ["approval", "reply", "value"];
export const DUE: readonly Due[] = ["soon", "today", "later", "none"];
export const LONGEST_SOUGHT = 200;

/** Where the list was left for one of its rows: which one, and how far down the page was. */
export const left: { at: { id: string; y: number } | null } = { at: null };

/**
 * Which of the two lists somebody chose, what of it and in which order, as the address has it. Values that the inbox
 * does not have are passed over.
 */
export function useChosen() {
  const [partOf, change] = useFilter();
  const tab: Tab = partOf("state") === "over" ? "over" : "open";
  const [show, by] = [partOf("show"), partOf("order")];
  // Past asks are neither counted by agent nor due, and come newest first.
  const filter = KNOWN.test(show) && (tab === "open" || show.startsWith("kind:")) ? show : "";
  const order: Order = tab === "open" && (by === "asked" || by === "risk") ? by : "deadline";
  const words = partOf("q").trim().slice(0, LONGEST_SOUGHT);
  const choose: Choose = (...chosen) => {
    left.at = null;
    change(...chosen);
  };
  return { tab, filter, order, words, choose };
}

/** The choice as the server takes it. */
export function wantedOf({ filter, order, words }: Omit<ReturnType<typeof useChosen>, "tab" | "choose">): Wanted {
  const cut = filter.indexOf(":");
  return {
    ...(cut > 0 && { [filter.slice(0, cut)]: filter.slice(cut + 1) }),
    ...(filter === "snoozed" && { snoozed: true }),
    ...(order !== "deadline" && { order }),
    ...(words !== "" && { q: words }),
  };
}
