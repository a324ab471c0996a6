import type { Clock } from "../../lib/clock.ts";
import type { Db } from "./db.ts";

/**
 * Returns the database with a clock on it: `observe` receives how long each transaction took, its wait and its commit
 * included.
 */
export function timedDb(db: Db, clock: Clock, observe: (seconds: number) => void): Db {
  return {
    ...db,
    async transact(work, options) {
      const start = clock.monotonic();
      try {
        return await db.transact(work, options);
      } finally {
        observe((clock.monotonic() - start) / 1000);
      }
    },
  };
}
