import { checkRows, type Check } from "../../core/store/check.ts";
import { sql } from "../../core/store/sql.ts";

/** The invariants of conversations that people begin, beyond the constraints of the tables. */
export const CONVERSATION_CHECKS: readonly Check[] = [
  checkRows(
    "conversations",
    "what is said in a conversation is for the agent of that conversation, and numbered once in its order",
    () => sql`SELECT m.uid AS offender FROM conversation_messages m JOIN conversations c ON c.number = m.conversation
      WHERE m.agent <> c.agent OR m.seq > (SELECT last FROM numbers WHERE name = 'conversation message')`,
  ),
  checkRows(
    "conversations",
    "a key of one conversation is of a conversation that there is, and of its agent",
    () => sql`SELECT k.key_id AS offender FROM keys k WHERE k.conversation IS NOT NULL AND NOT EXISTS (
      SELECT 1 FROM conversations c WHERE c.number = k.conversation AND c.agent = 'agent:' || k.name)`,
  ),
];
