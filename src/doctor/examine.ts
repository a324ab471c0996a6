import type { Context } from "../context.ts";
import { examineRows, type Finding } from "./store/checks.ts";

export { MOST_OFFENDERS } from "../core/store/check.ts";

/**
 * Returns what every invariant of the rows finds broken; nothing, and all of them hold. Repairs nothing.
 *
 * `quick` looks at what is open and at the newest rows, so that it can run every minute (spec/invariants 4).
 */
export async function examineStore(
  ctx: { db: Pick<Context["db"], "readInWorker"> },
  { quick }: { quick: boolean },
): Promise<Finding[]> {
  return ctx.db.readInWorker((on) => examineRows(on, quick));
}
