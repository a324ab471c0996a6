import type { DecisionSource } from "../../core/store/decision-lines.ts";
import { type Sql, sql } from "../../core/store/sql.ts";
import type { Outcome } from "../model/request.ts";
import { shownTitle } from "../model/view.ts";
import type { RequestForm } from "../model/request.ts";

/** A request that nobody's decision is stored of was answered by a rule or a grant. */
const BY = sql`CASE state WHEN 'expired' THEN 'nobody' WHEN 'cancelled' THEN 'withdrawn'
  ELSE CASE WHEN EXISTS (SELECT 1 FROM decisions d WHERE d.ask_id = requests.ask_id) THEN 'people' ELSE 'rule' END END`;

/** The calls within a plan count as the plan, and what stands for an executor's ask as that ask. */
const linesOf = (
  at: Sql,
  by: Sql,
  state: Sql,
): Sql => sql`(SELECT ask_id AS id, ${at} AS at, created_at, asker AS agent,
  title AS sentence, outcome AS result, kind AS form, NULL AS job_id, ${by} AS decided
  FROM requests WHERE ${state} AND plan IS NULL AND door <> 'relay')`;

/** The requests to named people, also those that a rule answered at once. */
export const REQUEST_LINES: DecisionSource = {
  kind: "request",
  ended: linesOf(sql`settled_at`, BY, sql`state <> 'open'`),
  waiting: linesOf(sql`created_at`, sql`NULL`, sql`state = 'open'`),
  show: ({ sentence, result, form }) => ({
    sentence: shownTitle({ title: sentence, form: { kind: form ?? "reply" } as RequestForm }),
    result: result === null ? null : resultOf(JSON.parse(result) as Outcome),
  }),
};

function resultOf({ status, approved }: Outcome): string {
  if (status !== "answered" || approved === undefined) return status;
  return approved ? "approved" : "rejected";
}
