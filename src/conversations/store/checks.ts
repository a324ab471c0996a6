import type { Check } from "../../core/store/check.ts";
import { type Sql, sql } from "../../core/store/sql.ts";

const MOST_OFFENDERS = 20;

/** What must be so of what people begin, beside what the tables themselves refuse. */
export const CONVERSATION_CHECKS: readonly Check[] = [
  check(
    "what is said in a conversation is for the agent of that conversation, and numbered once in its order",
    sql`SELECT m.uid AS offender FROM conversation_messages m JOIN conversations c ON c.number = m.conversation
      WHERE m.agent <> c.agent OR m.seq > (SELECT last FROM numbers WHERE name = 'conversation message')`,
  ),
  check(
    "a key of one conversation is of a conversation that there is, and of its agent",
    sql`SELECT k.key_id AS offender FROM keys k WHERE k.conversation IS NOT NULL AND NOT EXISTS (
      SELECT 1 FROM conversations c WHERE c.number = k.conversation AND c.agent = 'agent:' || k.name)`,
  ),
];

function check(promise: string, broken: Sql): Check {
  return {
    check: "conversations",
    promise,
    look: async (on) => {
      const found = await on.all<{ offender: string }>(sql`${broken} LIMIT ${MOST_OFFENDERS}`);
      return found.map(({ offender }) => offender);
    },
  };
}
