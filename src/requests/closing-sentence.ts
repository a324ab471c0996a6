import { findHuman } from "../access/store/humans.ts";
import type { Queryable } from "../core/store/db.ts";
import type { AddressedAsk } from "./model/request.ts";

/** Returns how an ask ended, and by whom, as one sentence for people. */
export async function closingSentence(on: Queryable, ask: AddressedAsk): Promise<string> {
  if (ask.state === "expired") return "nobody answered in time.";
  if (ask.state === "cancelled") return "the agent withdrew it.";
  const { by, approved } = ask.outcome ?? {};
  const what = approved === undefined ? "answered" : approved ? "approved" : "rejected";
  const human = by?.kind === "person" ? await findHuman(on, by.id) : undefined;
  const who = human?.name ?? (by?.kind === "policy" ? `the rule ${by.id}` : by?.kind === "agent" ? "the agent" : null);
  return who ? `${what} by ${who}.` : `${what}.`;
}
