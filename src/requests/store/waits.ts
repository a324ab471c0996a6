import type { RequestId } from "../../core/model/ids.ts";
import { first, one, type Queryable, type Tx } from "../../core/store/db.ts";
import { join, sql } from "../../core/store/sql.ts";

/** A wait for named people that stands in the store, so that it outlives the request that began it. */
export interface RequestWait {
  id: string;
  /** Whose it is: the principal who asked. */
  asker: string;
  requestId: RequestId;
  /** It began with the request, and giving it up withdraws the request; a wait alone leaves the request as it is. */
  ownsRequest: boolean;
  createdAt: number;
  /** Until then it can be read, and with it the request. */
  keptUntil: number;
  cancelledAt: number | null;
}

interface Row {
  wait_id: string;
  asker: string;
  ask_id: string;
  owns_ask: number;
  created_at: number;
  kept_until: number;
  cancelled_at: number | null;
}

function toWait(row: Row): RequestWait {
  return {
    id: row.wait_id,
    asker: row.asker,
    requestId: row.ask_id,
    ownsRequest: row.owns_ask === 1,
    createdAt: row.created_at,
    keptUntil: row.kept_until,
    cancelledAt: row.cancelled_at,
  };
}

/** Inserts a wait that begins in the store's present second and is kept for `keptMs`. */
export async function insertRequestWait(
  tx: Tx,
  wait: Pick<RequestWait, "id" | "asker" | "requestId" | "ownsRequest"> & { keptMs: number },
): Promise<RequestWait> {
  const { now } = await one<{ now: number }>(tx, sql`SELECT parley_now() AS now`);
  const createdAt = now - (now % 1000);
  const row = await one<Row>(
    tx,
    sql`INSERT INTO request_waits (wait_id, asker, ask_id, owns_ask, created_at, kept_until)
      VALUES (${wait.id}, ${wait.asker}, ${wait.requestId}, ${wait.ownsRequest ? 1 : 0}, ${createdAt},
        ${createdAt + wait.keptMs})
      RETURNING *`,
  );
  return toWait(row);
}

/** Returns those of the waits that exist and are the asker's own. */
export async function findRequestWaits(
  on: Queryable,
  waitIds: readonly string[],
  asker: string,
): Promise<RequestWait[]> {
  if (waitIds.length === 0) return [];
  const rows = await on.all<Row>(
    sql`SELECT * FROM request_waits WHERE wait_id IN (${join([...waitIds])}) AND asker = ${asker}`,
  );
  return rows.map(toWait);
}

/** Ends a wait that nobody ended before; the caller holds its request. */
export async function cancelRequestWaitIfOpen(tx: Tx, waitId: string): Promise<boolean> {
  const row = await first(
    tx,
    sql`UPDATE request_waits SET cancelled_at = parley_now() WHERE wait_id = ${waitId} AND cancelled_at IS NULL
      RETURNING wait_id`,
  );
  return row !== undefined;
}
