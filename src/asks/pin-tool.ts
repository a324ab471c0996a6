import type { Context } from "../context.ts";
import { digestOf } from "../lib/canonical-json.ts";
import { acceptChangeIfStill, findPin, insertPinIfNew, listPins, noteChange, type ToolPin } from "./store/tool-pins.ts";
import { transact } from "../core/store/transact.ts";
import { type Actor, appendAudit } from "../core/store/audit.ts";

export type { ToolPin } from "./store/tool-pins.ts";

/** What a server of tools says one of them is. */
export interface PinnedDefinition {
  name: string;
  description: string;
  inputSchema: Readonly<Record<string, unknown>>;
  /** What else it says of itself, where that is looked at too. */
  more?: Readonly<Record<string, unknown>>;
}

/**
 * Says whether a tool is what it was when it was first used, or last accepted. What it has become is noted, for
 * whoever looks at it with `parley tools list` (spec/relay 12).
 */
export async function checkPin(
  ctx: Pick<Context, "db">,
  tool: string,
  { name, description, inputSchema, more }: PinnedDefinition,
): Promise<"same" | "changed"> {
  const definition = { ...more, name, description, inputSchema };
  const hash = digestOf(definition);
  const text = JSON.stringify(definition);
  let pin = await findPin(ctx.db, tool);
  if (!pin) {
    await insertPinIfNew(ctx.db, tool, hash, text);
    // Of two servers that saw it first at once, one was faster.
    pin = await findPin(ctx.db, tool);
  }
  const isSame = pin?.hash === hash;
  const noted = pin?.changed?.hash ?? null;
  if (noted !== (isSame ? null : hash)) await noteChange(ctx.db, tool, isSame ? null : { hash, definition: text });
  return isSame ? "same" : "changed";
}

/** Returns every tool that was ever used, and what it has become. */
export async function listToolPins(ctx: Pick<Context, "db">): Promise<readonly ToolPin[]> {
  return listPins(ctx.db);
}

/** A tool that has changed may be offered again, as it is now. Returns it as it was before; null: it has not changed. */
export async function acceptTool(ctx: Pick<Context, "db" | "wake">, by: Actor, tool: string): Promise<ToolPin | null> {
  return transact(ctx, async (tx) => {
    const pin = await findPin(tx, tool);
    if (!pin?.changed || !(await acceptChangeIfStill(tx, tool, pin.changed.hash))) return null;
    await appendAudit(tx, {
      actor: by,
      action: "tool.accepted",
      data: { tool, before: pin.hash, after: pin.changed.hash },
    });
    return pin;
  });
}
