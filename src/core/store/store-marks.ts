import { one, type Queryable, type Tx } from "./db.ts";
import { sql } from "./sql.ts";

/** The number of the last commit, the last moment that a store knows of, and the head of its record. */
export interface Marks {
  commitNo: number;
  lastMs: number;
  recordEntries: number;
  recordHash: string;
}

export function readMarks(on: Queryable): Promise<Marks> {
  return one<Marks>(
    on,
    sql`SELECT m.commit_no AS "commitNo", h.seq AS "recordEntries", h.hash AS "recordHash",
        CASE WHEN e.at > m.last_ms THEN e.at ELSE m.last_ms END AS "lastMs"
      FROM meta m, audit_head h, (SELECT coalesce(max(at), 0) AS at FROM events) e`,
  );
}

/** Returns the number of the last commit, and the moment that the store notes with it. */
export function readLastCommit(on: Queryable): Promise<{ commitNo: number; lastMs: number }> {
  return one(on, sql`SELECT commit_no AS "commitNo", last_ms AS "lastMs" FROM meta`);
}

/** Counts a commit, on a connection that does not count its own. */
export async function countCommit(tx: Tx): Promise<void> {
  await tx.all(sql`UPDATE meta SET commit_no = commit_no + 1, last_ms = parley_now()`);
}
