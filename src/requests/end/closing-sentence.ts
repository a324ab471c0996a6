import { findHuman } from "../../access/store/humans.ts";
import type { Queryable } from "../../core/store/db.ts";
import type { Request } from "../model/request.ts";

/** The reply to a press on anything but the message that was sent. */
export const DECIDED_ELSEWHERE =
  "Nothing is recorded: this is not the message that Parley sent. Press under the newest one, or decide in the inbox.";

/** The reply to a press or an approval under a message that the asker can read. */
export const DECIDED_IN_INBOX = "The agent can read this message, so nothing is decided here. Decide in the inbox.";

/** Returns how a request ended, and by whom, as one sentence for people. */
export async function closingSentence(on: Queryable, request: Request): Promise<string> {
  if (request.state === "expired") return "nobody answered in time.";
  if (request.state === "cancelled") return "the agent withdrew it.";
  const { by, approved } = request.outcome ?? {};
  const what = approved === undefined ? "answered" : approved ? "approved" : "rejected";
  const human = by?.kind === "person" ? await findHuman(on, by.id) : undefined;
  const who = human?.name ?? (by?.kind === "policy" ? `the rule ${by.id}` : by?.kind === "agent" ? "the agent" : null);
  return who ? `${what} by ${who}.` : `${what}.`;
}
