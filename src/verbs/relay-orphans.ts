import type { Context } from "../context.ts";
import { lockAddressed } from "../store/addressed-asks.ts";
import { findOrphans } from "../store/relay-asks.ts";
import { transact } from "../store/transact.ts";
import { finishAddressed } from "./end-addressed.ts";
import { RELAY_DOOR, stillWanted } from "./relay-people.ts";

/** Returns asks to people that are open though what they stand for is over: its job ended, or it was withdrawn. */
export async function findOrphanIds(ctx: Context, limit: number): Promise<string[]> {
  return findOrphans(ctx.db, RELAY_DOOR, limit);
}

/** Closes such an ask everywhere. Nobody decided it. */
export async function closeOrphan(ctx: Context, addressedId: string): Promise<void> {
  await transact(ctx, async (tx) => {
    const held = await lockAddressed(tx, addressedId);
    if (held?.ask.state !== "open" || (await stillWanted(tx, addressedId))) return;
    const approved = held.ask.form.kind === "approval" ? { approved: false } : {};
    const how = { by: { kind: "server", id: "relay" }, action: "cancelled" } as const;
    await finishAddressed(tx, held.ask, { status: "cancelled", ...approved }, held.now, how);
  });
}
