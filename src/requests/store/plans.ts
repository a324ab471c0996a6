import type { RequestId } from "../../core/model/ids.ts";
import { first, type Queryable, type Tx } from "../../core/store/db.ts";
import { rowsOf } from "../../core/store/rows.ts";
import { sql } from "../../core/store/sql.ts";
import type { ImageType, PlanCall, PlanImage } from "../model/plan.ts";
import type { Request } from "../model/request.ts";
import { requestRows } from "./requests.ts";

const callRows = rowsOf<PlanCall>()({
  requestId: "ask_id",
  ref: "ref",
  fn: "fn",
  ord: "plan_ord",
  digest: "digest",
  state: "state",
  usedBy: "used_by",
  usedAt: "used_at",
});

const openCallRows = rowsOf<{ ord: number; call: Request }>()({ ord: "plan_ord", call: requestRows.read });

/** Returns the calls of a plan in their order, without their arguments. */
export async function listPlanCalls(on: Queryable, planId: RequestId): Promise<PlanCall[]> {
  return callRows.all(
    on,
    sql`SELECT ask_id, ref, fn, plan_ord, digest, state, used_by, used_at FROM requests
      WHERE plan = ${planId} ORDER BY plan_ord`,
  );
}

/** Returns the open calls of a plan in their order; whoever holds the plan holds them. */
export async function listOpenCalls(tx: Tx, planId: RequestId): Promise<{ ord: number; call: Request }[]> {
  return openCallRows.all(
    tx,
    sql`SELECT *, (SELECT parley_now()) AS now FROM requests WHERE plan = ${planId} AND state = 'open' ORDER BY plan_ord`,
  );
}

/** Returns the next calls of a plan behind a place of it, whole. */
export async function listCallsAfter(on: Queryable, planId: RequestId, ord: number, limit: number): Promise<Request[]> {
  return requestRows.all(
    on,
    sql`SELECT *, (SELECT parley_now()) AS now FROM requests WHERE plan = ${planId} AND plan_ord > ${ord}
      ORDER BY plan_ord LIMIT ${limit}`,
  );
}

/** Returns the comments and ends of the calls of a plan that is over, by the ids of their requests. */
export async function listCallOutcomes(on: Queryable, planId: RequestId): Promise<Map<RequestId, Request["outcome"]>> {
  const rows = await on.all<{ ask_id: string; outcome: string | null }>(
    sql`SELECT ask_id, outcome FROM requests WHERE plan = ${planId}`,
  );
  return new Map(
    rows.map(({ ask_id: id, outcome }) => [id, outcome === null ? null : (JSON.parse(outcome) as Request["outcome"])]),
  );
}

/** Marks a call of a held plan as used under this key, unless it was used before; returns when that was. */
export async function useCallIfUnused(tx: Tx, requestId: RequestId, key: string): Promise<number | undefined> {
  const row = await first<{ used_at: number }>(
    tx,
    sql`UPDATE requests SET used_by = ${key}, used_at = parley_now()
      WHERE ask_id = ${requestId} AND used_by IS NULL RETURNING used_at`,
  );
  return row?.used_at;
}

/** Returns the request by which a request is decided and ended: that of its plan, or itself. */
export async function wholeOf(on: Queryable, requestId: RequestId): Promise<RequestId> {
  const row = await first<{ whole: string }>(
    on,
    sql`SELECT coalesce(plan, ask_id) AS whole FROM requests WHERE ask_id = ${requestId}`,
  );
  return row?.whole ?? requestId;
}

export async function insertPlanImages(tx: Tx, planId: RequestId, images: readonly PlanImage[]): Promise<void> {
  for (const { ord, mediaType, data } of images) {
    await tx.all(
      sql`INSERT INTO plan_images (plan, ord, media_type, data) VALUES (${planId}, ${ord}, ${mediaType}, ${data})`,
    );
  }
}

/** Returns the image at a place of the evidence of a plan, if there is one. */
export async function findPlanImage(on: Queryable, planId: RequestId, ord: number): Promise<PlanImage | undefined> {
  const row = await first<{ media_type: string; data: string }>(
    on,
    sql`SELECT media_type, data FROM plan_images WHERE plan = ${planId} AND ord = ${ord}`,
  );
  return row && { ord, mediaType: row.media_type as ImageType, data: row.data };
}
