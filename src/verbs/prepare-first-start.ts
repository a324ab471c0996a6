import type { Context } from "../context.ts";
import { insertPersonIfNew } from "../store/people.ts";
import { transact } from "../store/transact.ts";
import { createKeyIn } from "./create-key.ts";
import { readVapidKey } from "./read-vapid-key.ts";

/** The person who runs this server; made at first start, an admin. */
export const OPERATOR = "operator";

/**
 * The store holds what a server cannot be without: its operator and its push keys. At the very first start there is
 * also a first `agent` key, which is returned this once; of several servers that start at once, one makes it. A start
 * that was cut short leaves both or neither.
 */
export async function prepareFirstStart(
  ctx: Pick<Context, "db" | "wake" | "random" | "newId" | "keyring">,
): Promise<{ agentKey: string | null }> {
  await readVapidKey(ctx);
  // point: first-start-push-keys-made
  const agentKey = await transact(ctx, async (tx) => {
    const isFirst = await insertPersonIfNew(tx, { id: OPERATOR, name: OPERATOR, role: "admin" });
    if (!isFirst) return null;
    // point: first-start-operator-made
    return (await createKeyIn(ctx, tx, { name: "first", scope: "agent", person: OPERATOR })).text;
  });
  return { agentKey };
}
