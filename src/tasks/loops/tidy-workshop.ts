import type { Context } from "../../context.ts";
import type { AssignmentRules } from "../model/rules.ts";
import { readOldRefs, readWorkFates, REFS_KEPT_MS } from "../read-work-fates.ts";
import type { Workshop } from "./workshop.ts";

const EVERY_MS = 3_600_000;
const HOUR_MS = 3_600_000;

/** Takes away what nobody will look at again of what was done here. */
export interface Tidy {
  /**
   * Trees and logs whose time is over are gone; once an hour, else nothing happens. No attempt may begin meanwhile. Old
   * names in repositories and the stores' many files go on their own.
   */
  step(): Promise<void>;
  /** Resolves when nothing of it is under way. */
  leave(): Promise<void>;
}

/** Opens the tidying of one server's workshop; at its first step it looks at once. */
export function openTidy(ctx: Context, rules: AssignmentRules, workshop: Workshop): Tidy {
  let lookedAt = -Infinity;
  let underWay: Promise<void> = Promise.resolve();

  async function folders(): Promise<void> {
    const keptFor = { treesMs: rules.keepTreesH * HOUR_MS, logsMs: ctx.relay.keptMs };
    for (const { of, fate } of await readWorkFates(ctx, await workshop.listFolders(), keptFor)) {
      if (fate === "all") await workshop.remove(of);
      else await workshop.clear(of);
    }
  }

  async function repositories(): Promise<void> {
    for (const { name, path } of rules.repos) {
      if (path === null || ctx.stopping.aborted) continue;
      try {
        const old = { ...(await readOldRefs(ctx, name, REFS_KEPT_MS)), wipMs: REFS_KEPT_MS };
        await workshop.tidyRepository(name, old, ctx.stopping);
      } catch (err) {
        if (!ctx.stopping.aborted) ctx.log.warn({ err, repo: name }, "a repository was not tidied");
      }
    }
  }

  return {
    async step() {
      const now = ctx.clock.monotonic();
      if (now - lookedAt < EVERY_MS) return;
      lookedAt = now;
      await folders().catch((err: unknown) => ctx.log.warn({ err }, "old work was not taken away"));
      underWay = underWay.then(repositories);
    },
    leave: () => underWay,
  };
}
