import type { Context } from "../../context.ts";
import { examineStore } from "../../doctor/examine.ts";
import { pingStore } from "../../questions/observe.ts";

export type ReadinessWord = "ready" | "stopping" | "unavailable" | "full" | "broken";

const FIRST_AFTER_MS = 1000;
const EXAMINE_EVERY_MS = 60_000;
/** While something is broken it is looked at more often: it may have been a sweep that was late. */
const RECHECK_EVERY_MS = 5000;
const PING_WITHIN_MS = 2000;

/**
 * Says in one word whether this server should be sent requests. The store is asked each time, and must have taken the
 * last probe's write. Its invariants are examined a second after the start, or when somebody first asks, so that a start
 * does not wait for it; then once a minute while somebody asks, beside the requests.
 */
export function openReadiness(
  ctx: Context,
  storeState: () => "ready" | "full" | "unavailable",
): () => Promise<ReadinessWord> {
  let examinedAt = -Infinity;
  let examining = false;
  let holds = true;

  async function examine(): Promise<void> {
    examining = true;
    examinedAt = ctx.clock.monotonic();
    try {
      const broken = (await examineStore(ctx, { quick: true })).filter(({ offenders }) => offenders.length > 0);
      if (broken.length > 0) ctx.log.error({ broken: broken.map(({ check }) => check) }, "parley doctor says more");
      holds = broken.length === 0;
    } catch {
      // A store that cannot be reached is what the ping is for.
    } finally {
      examining = false;
    }
  }

  void ctx.clock.sleep(FIRST_AFTER_MS, ctx.stopping).then(() => {
    if (!ctx.stopping.aborted && examinedAt === -Infinity) void examine();
  });
  return async () => {
    if (ctx.stopping.aborted) return "stopping";
    const late = new AbortController();
    const answered = await Promise.race([
      pingStore(ctx).then(
        () => true,
        () => false,
      ),
      ctx.clock.sleep(PING_WITHIN_MS, late.signal).then(() => false),
    ]);
    late.abort();
    if (!answered) return "unavailable";
    const state = storeState();
    if (state !== "ready") return state;
    const due = examinedAt + (holds ? EXAMINE_EVERY_MS : RECHECK_EVERY_MS);
    if (!examining && ctx.clock.monotonic() >= due) void examine();
    return holds ? "ready" : "broken";
  };
}
