import type { Context } from "../context.ts";
import type { AddressedAsk } from "../requests/model/request.ts";
import type { TaskOfAsk } from "./model/task-asks.ts";

/** Returns which task people are asked about; null where it is none. */
export async function readTaskOfAsk(
  { db, owners }: Pick<Context, "db" | "owners">,
  ask: AddressedAsk,
): Promise<TaskOfAsk | null> {
  return owners.ofRequest(ask).taskOf(db, ask);
}
