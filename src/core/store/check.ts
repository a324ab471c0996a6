import type { Queryable } from "./db.ts";

/** A check returns what breaks its promise. `quick` looks at open objects and the newest rows only. */
export interface Check {
  check: string;
  promise: string;
  look(on: Queryable, quick: boolean): Promise<string[]>;
}
