import type { RequestId } from "../../core/model/ids.ts";
import { first, type Queryable } from "../../core/store/db.ts";
import { listNoted, type Noted } from "../../core/store/noted.ts";
import { empty, join, raw, type Sql, sql } from "../../core/store/sql.ts";
import { frozenFlag } from "../../policy/store/freezes.ts";
import type { Request } from "../model/request.ts";
import { runOfTask } from "../model/agent-note.ts";
import { RUN_ACTIONS, taskOfRun } from "../model/run.ts";
import { mayRead } from "./inbox.ts";
import { type RequestRow, toRequestsAt } from "./requests.ts";

/** A run, as far as one of `readers` may read it. */
export interface ReadRun {
  run: string;
  readers: readonly string[];
}

/** A place between two entries of one source: before those of this time and id. */
export interface PlaceBefore {
  at: number;
  id: number;
}

/** The requests `b` of a run in SQL, each with the request `a` that stands in inboxes: its plan's, or itself. */
const inRun = ({ run, readers }: ReadRun): Sql =>
  sql`FROM requests b JOIN requests a ON a.ask_id = coalesce(b.plan, b.ask_id) WHERE b.run = ${run} ${mayRead(readers)}`;

/** Returns up to `limit` entries of the record about the requests of a run, the newest first. */
export async function listRunNotes(
  on: Queryable,
  run: ReadRun,
  page: { before: PlaceBefore | undefined; limit: number },
): Promise<Noted[]> {
  const { ofRequest, ofPlannedCall } = RUN_ACTIONS;
  return listNoted(
    on,
    sql`JOIN (SELECT b.ask_id, b.plan ${inRun(run)}) r ON r.ask_id = u.ask_id WHERE u.ask_id IS NOT NULL
      AND u.action IN (${join(ofRequest)}) AND (r.plan IS NULL OR u.action IN (${join(ofPlannedCall)}))`,
    page,
  );
}

/**
 * Returns up to `limit` entries of the record about words of people to the agent of a run, the newest first: those from
 * the cards of requests, and those written at its task, which are for every reader of the run.
 */
export async function listNotesToAgent(
  on: Queryable,
  run: ReadRun,
  page: { before: PlaceBefore | undefined; limit: number },
): Promise<Noted[]> {
  const task = taskOfRun(run.run);
  const { agent, run: name } = task ? runOfTask(task.repo, task.id) : { agent: "", run: "" };
  const atTask = sql`UNION ALL SELECT n.note_id FROM agent_notes n
    WHERE n.agent = ${agent} AND n.run = ${name} AND n.ask_id IS NULL`;
  return listNoted(
    on,
    sql`JOIN (SELECT b.ask_id ${inRun(run)} ${task ? atTask : empty}) r ON r.ask_id = u.ask_id
      WHERE u.ask_id IS NOT NULL AND u.action IN (${join(RUN_ACTIONS.ofNote)})`,
    page,
  );
}

/** Returns these requests, by their ids. */
export async function findRequests(
  on: Queryable,
  requestIds: readonly RequestId[],
): Promise<ReadonlyMap<RequestId, Request>> {
  if (requestIds.length === 0) return new Map();
  const rows = await on.all<RequestRow>(
    sql`SELECT a.*, (SELECT parley_now()) AS now, ${frozenFlag(raw("a.asker"))} FROM requests a
      WHERE a.ask_id IN (${join(requestIds)})`,
  );
  return new Map((await toRequestsAt(rows)).map(({ request }) => [request.id, request]));
}

/** An asker of a run, with the times of its first and its newest request. */
export interface RunAsker {
  asker: string;
  firstAt: number;
  newestAt: number;
}

export function listRunAskers(on: Queryable, run: ReadRun): Promise<RunAsker[]> {
  return on.all(
    sql`SELECT b.asker, min(b.created_at) AS "firstAt", max(b.created_at) AS "newestAt" ${inRun(run)} GROUP BY b.asker`,
  );
}

/** Returns whether a request of the run waited at this time, of this asker. */
export async function hasWaitingAt(on: Queryable, run: ReadRun, asker: string, at: number): Promise<boolean> {
  const row = await first(
    on,
    sql`SELECT 1 AS found ${inRun(run)} AND b.asker = ${asker} AND b.created_at <= ${at}
      AND (b.settled_at IS NULL OR b.settled_at >= ${at}) LIMIT 1`,
  );
  return row !== undefined;
}
