import type { AskType } from "../../core/model/ask-type.ts";
import type { AnswerSource, AnswerStatus, JobState, Stage } from "../model/ask.ts";
import { sql } from "../../core/store/sql.ts";
import { one, type Queryable } from "../../core/store/db.ts";

/** One ask that ended, as figures count it. */
export interface EndedAsk {
  type: AskType;
  stage: Stage;
  status: AnswerStatus;
  source: AnswerSource;
  /** From asking to its answer. */
  ms: number;
}

/** Returns what ended after `fromMs` and not after `toMs`, the store's clock. */
export async function listEnded(on: Queryable, fromMs: number, toMs: number): Promise<EndedAsk[]> {
  return on.all<EndedAsk & Record<string, unknown>>(
    sql`SELECT a.ask_type AS type, a.stage, s.status, s.source, s.created_at - a.created_at AS ms
      FROM answers s JOIN asks a ON a.ask_id = s.ask_id WHERE s.created_at > ${fromMs} AND s.created_at <= ${toMs}`,
  );
}

/** Returns how many asks are pending, by type and stage. */
export async function countPendingByStage(on: Queryable): Promise<{ type: AskType; stage: Stage; count: number }[]> {
  return on.all(
    sql`SELECT ask_type AS type, stage, count(*) AS count FROM asks WHERE status = 'PENDING' GROUP BY ask_type, stage`,
  );
}

/** Returns how many jobs are in each state; one that has ended counts as long as it is kept. */
export async function countJobs(on: Queryable): Promise<{ state: JobState; count: number }[]> {
  return on.all(sql`SELECT state, count(*) AS count FROM jobs GROUP BY state`);
}

/** Returns how long the oldest pending ask has been waiting, in ms; 0 where none is pending. */
export async function oldestPendingMs(on: Queryable): Promise<number> {
  const { ms } = await one<{ ms: number }>(
    on,
    sql`SELECT coalesce((SELECT parley_now()) - min(created_at), 0) AS ms FROM asks WHERE status = 'PENDING'`,
  );
  return ms;
}
