import type { DecisionSource } from "../../core/store/decision-lines.ts";
import { type Sql, sql } from "../../core/store/sql.ts";

/** So many characters are enough to know an ask again. */
const PROMPT_LENGTH = 280;
/** A service that answers is a program, and counts with the models. */
const BY = sql`(SELECT CASE WHEN s.source IN ('policy', 'cache') THEN 'rule' WHEN s.source IN ('runner', 'service') THEN 'model'
  WHEN s.source = 'person' THEN 'people' WHEN s.error_code = 'E_CANCELED' THEN 'withdrawn' ELSE 'nobody' END
  FROM answers s WHERE s.ask_id = asks.ask_id)`;

const linesOf = (at: Sql, by: Sql, state: Sql): Sql => sql`(SELECT ask_id AS id, ${at} AS at, created_at,
  principal AS agent, substr(prompt, 1, ${PROMPT_LENGTH}) AS sentence, status AS result, NULL AS form, job_id,
  ${by} AS decided FROM asks WHERE ${state})`;

/** The asks of executors. */
export const ASK_LINES: DecisionSource = {
  kind: "ask",
  ended: linesOf(sql`ended_at`, BY, sql`ended_at IS NOT NULL`),
  waiting: linesOf(sql`created_at`, sql`NULL`, sql`status = 'PENDING'`),
  show: ({ sentence, result }) => ({ sentence, result: result === "PENDING" ? null : result }),
};
