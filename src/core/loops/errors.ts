import type { Context } from "../../context.ts";
import { Refusal } from "../../refusals.ts";

/**
 * Returns the function that logs failed steps of a loop. A store that takes nothing is not logged for each step: the
 * probe of the store logs that once (`probe-store.ts`).
 */
export function loopErrors(ctx: Pick<Context, "log">, name: string): (error: unknown) => void {
  return (err) => {
    if (err instanceof Refusal && err.kind === "unavailable") return;
    ctx.log.error({ err, loop: name }, "a loop step failed");
  };
}
