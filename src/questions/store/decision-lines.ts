import type { DecisionSource } from "../../core/store/decision-lines.ts";
import { type Sql, sql } from "../../core/store/sql.ts";

/** So many characters are enough to know a question again. */
const PROMPT_LENGTH = 280;
const BY = sql`CASE state WHEN 'answered' THEN 'people' WHEN 'expired' THEN 'nobody' ELSE 'withdrawn' END`;

/** A question that stands for an executor's ask counts as that ask. */
const linesOf = (
  at: Sql,
  by: Sql,
  state: Sql,
): Sql => sql`(SELECT ask_id AS id, ${at} AS at, created_at, asker AS agent,
  substr(prompt, 1, ${PROMPT_LENGTH}) AS sentence, state AS result, NULL AS form, NULL AS job_id, ${by} AS decided
  FROM questions WHERE ${state} AND door <> 'relay')`;

/** The questions to the crowd. */
export const QUESTION_LINES: DecisionSource = {
  kind: "question",
  ended: linesOf(sql`settled_at`, BY, sql`state <> 'open'`),
  waiting: linesOf(sql`created_at`, sql`NULL`, sql`state = 'open'`),
  show: ({ sentence, result }) => ({ sentence, result: result === "open" ? null : result }),
};
