import type { Context } from "../context.ts";
import { lockHumans } from "../access/store/humans.ts";
import { findOperator, insertPerson } from "../access/store/people.ts";
import { transact } from "../core/store/transact.ts";
import { createKeyIn } from "../access/create-key.ts";
import { readVapidKey } from "../notices/read-vapid-key.ts";

/** The name of the operator of this server; made at first start, an admin. */
const OPERATOR_NAME = "operator";

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
    await lockHumans(tx);
    if (await findOperator(tx)) return null;
    const { id } = await insertPerson(tx, { name: OPERATOR_NAME, role: "admin", isOperator: true });
    // point: first-start-operator-made
    return (await createKeyIn(ctx, tx, { name: "first", scope: "agent", person: id })).text;
  });
  return { agentKey };
}
