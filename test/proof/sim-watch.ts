import { sql } from "../../src/core/store/sql.ts";
import { undisturbed, type SimWorld } from "./sim-world.ts";

const LOOK_EVERY_MS = 100;

/**
 * Watches deadlines until it is stopped: while any node can, an ask is settled within a second of its own; when none
 * could, within two of the moment from which one can again (spec/invariants T1).
 */
export async function watchDeadlines(world: SimWorld, until: () => boolean): Promise<void> {
  const { time, store } = world;
  const dueSince = new Map<string, number>();
  let lookedAt = time.now();
  let storeThen = store.now();
  let ableSince = 0;
  while (!until()) {
    await time.sleep(LOOK_EVERY_MS);
    const now = time.now();
    const able = world.nodes.some(
      (node) => node.alive && node.ready && !node.loopsDead && node.pausedUntil < now && undisturbed(node, now),
    );
    if (!able) ableSince = now;

    const due = await store.truth.all<{ ask_id: string; expires_at: number }>(
      sql`SELECT ask_id, expires_at FROM questions WHERE state = 'open' AND expires_at <= (SELECT parley_now())`,
    );
    for (const { ask_id, expires_at } of due) {
      if (dueSince.has(ask_id)) continue;
      // A step of the store's clock makes due at once what would have been due later.
      const passedMs = expires_at <= storeThen ? now - lookedAt : Math.min(store.now() - expires_at, now - lookedAt);
      dueSince.set(ask_id, now - passedMs);
    }
    const open = new Set(due.map(({ ask_id }) => ask_id));
    for (const [id, since] of dueSince) {
      if (able) {
        const lateMs = now - Math.max(since, ableSince);
        world.figures.latestExpiryMs = Math.max(world.figures.latestExpiryMs, lateMs);
        if (open.has(id) && lateMs > (since < ableSince ? 2000 : 1000)) {
          world.broken("T1", `${id} is open ${lateMs} ms after its deadline`);
        }
      }
      if (!open.has(id)) dueSince.delete(id);
    }
    lookedAt = now;
    storeThen = store.now();
  }
}
