import type { TaskOfRequest } from "../requests/model/task-of-request.ts";
import type { Context } from "../context.ts";
import type { Request } from "../requests/model/request.ts";

/** Returns the task that a request is about; null if it is about no task. */
export async function readTaskOfAsk(
  { db, requesters }: Pick<Context, "db" | "requesters">,
  request: Request,
): Promise<TaskOfRequest | null> {
  return requesters.ofRequest(request).taskOf(db, request);
}
