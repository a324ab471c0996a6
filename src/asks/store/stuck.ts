import type { AskId } from "../../core/model/ids.ts";
import { countByState, type CallsWithoutEnd, UNKNOWN_SHOWN_MS, withoutEnd } from "../../requests/store/stuck.ts";
import type { Queryable } from "../../core/store/db.ts";
import { sql } from "../../core/store/sql.ts";
import { jobTitle } from "../model/job-title.ts";

/** A job that no executor has claimed. */
export interface UnclaimedJob {
  id: string;
  title: string;
  owner: string;
  sinceMs: number;
}

/** The call that an executor's ask allowed, which began and has no known end. */
export interface UnknownAskCall {
  id: AskId;
  prompt: string;
  agent: string;
  sinceMs: number;
}

const PROMPT_LENGTH = 280;
const SPEC_LENGTH = 8000;

/** Returns up to `limit` jobs that have been in line for longer than this, the oldest first, and how many there are. */
export async function listUnclaimed(
  on: Queryable,
  { afterMs, limit }: { afterMs: number; limit: number },
): Promise<{ jobs: UnclaimedJob[]; count: number }> {
  const isLate = sql`state = 'QUEUED' AND ended_at IS NULL AND queued_at <= (SELECT parley_now()) - ${afterMs}`;
  const rows = await on.all<{ job_id: string; kind: string; spec: string | null; owner: string; queued_at: number }>(
    sql`SELECT job_id, kind, CASE WHEN length(spec_json) <= ${SPEC_LENGTH} THEN spec_json END AS spec, owner, queued_at
      FROM jobs WHERE ${isLate} ORDER BY queued_at, job_id LIMIT ${limit}`,
  );
  const jobs = rows.map(({ job_id: id, kind, spec, owner, queued_at: sinceMs }) => ({
    id,
    title: jobTitle({ id, kind, spec: spec === null ? undefined : JSON.parse(spec) }),
    owner,
    sinceMs,
  }));
  if (jobs.length < limit) return { jobs, count: jobs.length };
  const counted = await on.all<{ count: number }>(sql`SELECT count(*) AS count FROM jobs WHERE ${isLate}`);
  return { jobs, count: counted[0]?.count ?? jobs.length };
}

/** Returns up to `limit` of these calls, the newest first, and how many run or have no known end. */
export async function listUnknownAskCalls(
  on: Queryable,
  limit: number,
): Promise<{ calls: UnknownAskCall[]; count: CallsWithoutEnd }> {
  const calls = await on.all<UnknownAskCall & Record<string, unknown>>(
    sql`SELECT a.ask_id AS id, substr(a.prompt, 1, ${PROMPT_LENGTH}) AS prompt, a.principal AS agent, o.at AS "sinceMs"
      FROM (SELECT ask_id, at FROM ask_outcomes
        WHERE ${withoutEnd} AND state = 'unknown' AND at > (SELECT parley_now()) - ${UNKNOWN_SHOWN_MS}
        ORDER BY at DESC LIMIT ${limit}) AS o
      JOIN asks a ON a.ask_id = o.ask_id ORDER BY o.at DESC, o.ask_id DESC`,
  );
  return { calls, count: await countByState(on, "ask_outcomes") };
}
