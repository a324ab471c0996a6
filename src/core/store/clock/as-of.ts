import type { Db, Queryable } from "../db.ts";
import { raw, sql } from "../sql.ts";

/** Carries what was found out of a transaction that is rolled back. */
class Found extends Error {
  readonly value: unknown;

  constructor(value: unknown) {
    super("found");
    this.value = value;
  }
}

/**
 * Returns a PostgreSQL database on which nobody works yet, examined as of another moment: `parley_now()` is that one
 * within a transaction that is rolled back.
 */
export function asOf(db: Db, nowMs: number): Pick<Db, "readInWorker"> {
  return {
    async readInWorker<T>(work: (on: Queryable) => Promise<T>): Promise<T> {
      try {
        await db.transact(
          async (tx) => {
            await tx.all(
              sql`CREATE OR REPLACE FUNCTION parley_now() RETURNS bigint LANGUAGE sql VOLATILE
                AS $body$ SELECT ${raw(String(Math.floor(nowMs)))}::bigint $body$`,
            );
            throw new Found(await work(tx));
          },
          { isLong: true },
        );
      } catch (error) {
        if (error instanceof Found) return error.value as T;
        throw error;
      }
      throw new Error("a transaction that throws has committed");
    },
  };
}
