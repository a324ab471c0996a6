import { createStore } from "../store.ts";
import { text } from "./text.ts";
import type { WholeAsk } from "./wire.ts";

/** Decisions of one press that have not left the server yet. */
export interface Pressed {
  ids: readonly string[];
  /** Where they are decided in the inbox. */
  place: string;
  says: string;
  /** By the server's clock, in milliseconds. */
  until: number;
}

/** The last press that can be undone, if there is one. */
export const pressed = createStore<Pressed | null>(null);

/** Returns what this person pressed on an ask, while it can be undone. */
export const ownPress = (ask: WholeAsk) => ask.presses.find(({ mine }) => mine);

/** Says how an ask ended, or ends by what this person pressed; empty while neither is so. */
export function endOf(ask: WholeAsk, mine: boolean): string {
  const press = ownPress(ask);
  if (!press) return text.outcome(ask, text.who(ask.outcome?.by ?? null, mine));
  const outcome = { status: "answered" as const, approved: press.approved, edited: false };
  return text.outcome({ kind: ask.kind, outcome }, text.who(null, true));
}

/** True where this person may decide an ask, and has not. */
export function isFree(ask: WholeAsk): boolean {
  return ask.may_decide && ![...ask.decisions, ...ask.presses].some(({ mine }) => mine);
}
