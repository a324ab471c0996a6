import type { TaskOfAsk } from "../requests/model/task-of-request.ts";
import type { Context } from "../context.ts";
import type { AddressedAsk } from "../requests/model/request.ts";

/** Returns which task people are asked about; null where it is none. */
export async function readTaskOfAsk(
  { db, owners }: Pick<Context, "db" | "owners">,
  ask: AddressedAsk,
): Promise<TaskOfAsk | null> {
  return owners.ofRequest(ask).taskOf(db, ask);
}
