import { type Sql, sql } from "./sql.ts";
import type { Queryable } from "./db.ts";

/** A check returns what breaks its promise. `quick` looks at open objects and the newest rows only. */
export interface Check {
  check: string;
  promise: string;
  look(on: Queryable, quick: boolean): Promise<string[]>;
}

/** The number of offenders that a broken promise names. */
export const MOST_OFFENDERS = 20;

/** Returns the check that whatever a statement selects, as `offender`, breaks a promise. */
export function checkRows(check: string, promise: string, statement: (quick: boolean) => Sql): Check {
  return {
    check,
    promise,
    async look(on, quick) {
      const found = await on.all<{ offender: string }>(sql`${statement(quick)} LIMIT ${MOST_OFFENDERS}`);
      return found.map(({ offender }) => offender);
    },
  };
}
