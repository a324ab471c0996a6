import type { Context } from "../context.ts";
import { digestOf } from "../lib/json/canonical-json.ts";
import { acceptChangeIfStill, findPin, insertPinIfNew, listPins, noteChange, type ToolPin } from "./store/tool-pins.ts";
import { transact } from "../core/store/transact.ts";
import { type Actor, appendAudit } from "../core/store/audit.ts";

export type { ToolPin } from "./store/tool-pins.ts";

/** A tool's definition, as its server states it. */
export interface PinnedDefinition {
  name: string;
  description: string;
  inputSchema: Readonly<Record<string, unknown>>;
  /** The other members of the definition, where they are compared too. */
  more?: Readonly<Record<string, unknown>>;
}

/**
 * Compares a tool with its definition when it was first used, or last accepted. A changed definition is stored, so that
 * `parley tools list` shows it (spec/relay 12).
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
    // Another server may have inserted the first pin at the same time.
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
