import { checkRows, type Check } from "../../core/store/check.ts";
import { sql } from "../../core/store/sql.ts";
import { SHOWN_KEYS, SHOWN_NUMBERS } from "../../access/store/tables.ts";
import { findExposedApprovals, REQUEST_WORDS, type WordsPlace } from "../../requests/store/exposed-approvals.ts";

const MESSAGE_WORDS: WordsPlace = {
  from: sql`conversation_messages`,
  key: sql`uid`,
  words: sql`words || ' ' || coalesce(raw, '')`,
};

/** The invariants of conversations that people begin, beyond the constraints of the tables. */
export const CONVERSATION_CHECKS: readonly Check[] = [
  {
    check: "X14",
    promise:
      "no approval was made by way of a message whose link, reply address or id stands in words that agents can read",
    look: async (on, quick) => (quick ? [] : findExposedApprovals(on, [REQUEST_WORDS, MESSAGE_WORDS])),
  },
  checkRows(
    "conversations",
    "what is said in a conversation is for the agent of that conversation, and numbered once in its order",
    () => sql`SELECT m.uid AS offender FROM conversation_messages m JOIN conversations c ON c.number = m.conversation
      WHERE m.agent <> c.agent OR m.seq > (SELECT n.last FROM ${SHOWN_NUMBERS} n WHERE n.name = 'conversation message')`,
  ),
  checkRows(
    "conversations",
    "a key of one conversation is of a conversation that there is, and of its agent",
    () => sql`SELECT k.key_id AS offender FROM ${SHOWN_KEYS} k WHERE k.conversation IS NOT NULL AND NOT EXISTS (
      SELECT 1 FROM conversations c WHERE c.number = k.conversation AND c.agent = 'agent:' || k.name)`,
  ),
];
