import type { Context } from "../../context.ts";
import { Refusal } from "../../refusals.ts";

/**
 * Returns what logs the steps of a loop that failed. That the store takes nothing is not logged for each of them: whoever
 * probes the store says so once (`probe-store.ts`).
 */
export function loopErrors(ctx: Pick<Context, "log">, name: string): (error: unknown) => void {
  return (err) => {
    if (err instanceof Refusal && err.kind === "unavailable") return;
    ctx.log.error({ err, loop: name }, "a loop step failed");
  };
}
