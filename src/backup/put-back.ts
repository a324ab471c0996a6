import type { Context } from "../context.ts";
import { type Actor, appendAudit, findNewestEntry } from "../core/store/audit.ts";
import type { Queryable } from "../core/store/db.ts";
import { transact } from "../core/store/transact.ts";
import { type HeldKind, type HeldRows, listHeld, putBack, RESTORED } from "./store/held-rows.ts";

/** Returns what the newest restore holds; nothing for a store that was never restored. */
export async function readHeld(on: Queryable): Promise<HeldRows[]> {
  const restored = await findNewestEntry(on, RESTORED);
  return restored ? listHeld(on, restored.at) : [];
}

/** Puts rows of these kinds back that the newest restore holds. Returns them. */
export async function putBackHeld(
  ctx: Pick<Context, "db" | "wake">,
  kinds: readonly HeldKind[],
  by: Actor,
): Promise<HeldRows[]> {
  return transact(ctx, async (tx) => {
    const restored = await findNewestEntry(tx, RESTORED);
    if (!restored) return [];
    const held = (await listHeld(tx, restored.at)).filter(({ kind }) => kinds.includes(kind));
    for (const kind of kinds) await putBack(tx, kind, restored.at);
    const data = Object.fromEntries(held.map(({ noun, names }) => [noun.replaceAll(" ", "_"), names.length]));
    if (held.length > 0) await appendAudit(tx, { actor: by, action: "store.put_back", data });
    return held;
  });
}
