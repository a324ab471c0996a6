import type { Context } from "../../context.ts";
import { digestOf } from "../../lib/json/canonical-json.ts";
import {
  acceptChangeIfStill,
  countPins,
  findPin,
  insertPinIfNew,
  listPins,
  noteChange,
  type ToolPin,
} from "../store/tool-pins.ts";
import type { Tx } from "../../core/store/db.ts";
import { transact } from "../../core/store/transact.ts";
import { type Actor, appendAudit } from "../../core/store/audit.ts";

export type { ToolPin } from "../store/tool-pins.ts";

/** A tool's definition, as its server states it. */
export interface PinnedDefinition {
  name: string;
  description: string;
  inputSchema: Readonly<Record<string, unknown>>;
  /** The other members of the definition, where they are compared too. */
  more?: Readonly<Record<string, unknown>>;
}

/** How a tool is pinned that has no pin of this name yet. */
export interface FirstPin {
  /** A pin whose accepted definition is taken over. */
  from?: string;
  /** Refuses the new pin by an error, in the same transaction. */
  admit?: (tx: Tx) => Promise<void>;
}

/**
 * Compares a tool with its definition when it was first used, or last accepted. A changed definition is stored, so that
 * `parley tools list` shows it (spec/relay 12).
 */
export async function checkPin(
  ctx: Pick<Context, "db" | "wake">,
  tool: string,
  { name, description, inputSchema, more }: PinnedDefinition,
  first: FirstPin = {},
): Promise<"same" | "changed"> {
  const definition = { ...more, name, description, inputSchema };
  const present = { hash: digestOf(definition), definition: JSON.stringify(definition) };
  let pin = await findPin(ctx.db, tool);
  if (!pin) {
    await transact(ctx, async (tx) => {
      await first.admit?.(tx);
      const before = first.from === undefined ? undefined : await findPin(tx, first.from);
      await insertPinIfNew(tx, tool, before ?? present);
    });
    // Another server may have inserted the first pin at the same time.
    pin = await findPin(ctx.db, tool);
  }
  const isSame = pin?.hash === present.hash;
  const noted = pin?.changed?.hash ?? null;
  if (noted !== (isSame ? null : present.hash)) await noteChange(ctx.db, tool, isSame ? null : present);
  return isSame ? "same" : "changed";
}

/** Returns every tool that was ever used, and what it has become. */
export async function listToolPins(ctx: Pick<Context, "db">): Promise<readonly ToolPin[]> {
  return listPins(ctx.db);
}

/** Counts the tools whose names begin like this, as far as `most`. */
export async function countToolPins(tx: Tx, beginning: string, most: number): Promise<number> {
  return countPins(tx, beginning, most);
}

/**
 * A tool that has changed may be offered again in the form with this hash, which somebody has seen. Returns its pin as it
 * was before; null where this is not its present form.
 */
export async function acceptTool(
  ctx: Pick<Context, "db" | "wake">,
  by: Actor,
  { tool, hash }: { tool: string; hash: string },
): Promise<ToolPin | null> {
  return transact(ctx, async (tx) => {
    const pin = await findPin(tx, tool);
    if (!pin || !(await acceptChangeIfStill(tx, tool, hash))) return null;
    await appendAudit(tx, { actor: by, action: "tool.accepted", data: { tool, before: pin.hash, after: hash } });
    return pin;
  });
}
