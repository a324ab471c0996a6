import type { Context } from "../../context.ts";
import { Refusal } from "../../refusals.ts";

/** Whether the store takes writes, as the last probe found. */
export type StoreState = "ready" | "full" | "unavailable";

export interface StoreProbe {
  state(): StoreState;
  /** One write; it never finds more work. */
  step(): Promise<boolean>;
}

const SAYS: Readonly<Record<StoreState, string>> = {
  ready: "the store takes writes again",
  full: "the disk is full: nothing is written until there is room, reads go on",
  unavailable: "the store takes no writes",
};

/**
 * Opens what tries every few seconds whether the store takes writes, so that a full disk is known before somebody's write
 * meets it (spec/invariants D6). The log has a line when that begins, and one when it is over.
 */
export function openProbe(ctx: Pick<Context, "log">, write: () => Promise<void>): StoreProbe {
  let state: StoreState = "ready";

  return {
    state: () => state,
    async step() {
      const found = await write().then(
        () => "ready" as const,
        (error: unknown) => {
          if (!(error instanceof Refusal)) throw error;
          return error.code === "store_full" ? ("full" as const) : ("unavailable" as const);
        },
      );
      if (found === state) return false;
      state = found;
      ctx.log[found === "ready" ? "info" : "error"]({}, SAYS[found]);
      return false;
    },
  };
}
