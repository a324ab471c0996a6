import type { RequestId } from "../../core/model/ids.ts";
import { first, one, type Queryable, type Tx } from "../../core/store/db.ts";
import { flag, rowsOf } from "../../core/store/rows.ts";
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

const waitRows = rowsOf<RequestWait>()({
  id: "wait_id",
  asker: "asker",
  requestId: "ask_id",
  ownsRequest: flag("owns_ask"),
  createdAt: "created_at",
  keptUntil: "kept_until",
  cancelledAt: "cancelled_at",
});

/** Inserts a wait that begins in the store's present second and is kept for `keptMs`. */
export async function insertRequestWait(
  tx: Tx,
  wait: Pick<RequestWait, "id" | "asker" | "requestId" | "ownsRequest"> & { keptMs: number },
): Promise<RequestWait> {
  const { now } = await one<{ now: number }>(tx, sql`SELECT parley_now() AS now`);
  const createdAt = now - (now % 1000);
  return waitRows.one(
    tx,
    sql`INSERT INTO request_waits (wait_id, asker, ask_id, owns_ask, created_at, kept_until)
      VALUES (${wait.id}, ${wait.asker}, ${wait.requestId}, ${wait.ownsRequest ? 1 : 0}, ${createdAt},
        ${createdAt + wait.keptMs})
      RETURNING *`,
  );
}

/** Returns those of the waits that exist and are the asker's own. */
export async function findRequestWaits(
  on: Queryable,
  waitIds: readonly string[],
  asker: string,
): Promise<RequestWait[]> {
  if (waitIds.length === 0) return [];
  return waitRows.all(
    on,
    sql`SELECT * FROM request_waits WHERE wait_id IN (${join([...waitIds])}) AND asker = ${asker}`,
  );
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

/** Returns the versions of those of the requests that exist. */
export async function findRequestVersions(
  on: Queryable,
  requestIds: readonly RequestId[],
): Promise<Map<string, number>> {
  const rows = await on.all<{ ask_id: string; version: number }>(
    sql`SELECT ask_id, version FROM requests WHERE ask_id IN (${join([...requestIds])})`,
  );
  return new Map(rows.map((row) => [row.ask_id, row.version]));
}
