import { Refusal } from "../refusals.ts";
import { readWholeTask } from "../verbs/read-tasks.ts";
import type { DoorContext, FastifyReply, FastifyRequest } from "./door.ts";
import { queryText, wholeNumber } from "./door-query.ts";
import { wholeTaskWire } from "./door-task.ts";

/** Returns a task with its tree, as every wire has it. @throws {Refusal} `task_not_found` */
export async function wholeTaskOf(door: DoorContext, repo: string, id: string): Promise<object> {
  const whole = await readWholeTask(door.ctx, repo, id);
  const tree = await door.work?.tree({ repo, id, generation: whole.task.generation });
  return wholeTaskWire(whole, door, { tree });
}

/**
 * Sends an attempt's work as a patch: of the newest one that has any, or of the one that is named.
 *
 * @throws {Refusal} `task_not_found`, `diff_not_found`, `invalid_input`
 */
export async function sendDiff(
  door: DoorContext,
  request: FastifyRequest,
  reply: FastifyReply,
  { repo, id }: { repo: string; id: string },
): Promise<FastifyReply> {
  const against = queryText(request.query, "against") ?? "start";
  if (against !== "start" && against !== "base") {
    throw new Refusal("invalid_input", { field: "against", constraint: "enum", allowed: ["start", "base"] });
  }
  const named = queryText(request.query, "attempt");
  const n = named === undefined ? undefined : wholeNumber(named, { min: 1, max: 1_000_000 });
  if (n === null) throw new Refusal("invalid_input", { field: "attempt", constraint: "type" });

  const { attempts } = await readWholeTask(door.ctx, repo, id);
  const attempt = attempts.findLast((one) => one.commitSha !== null && (n === undefined || one.n === n));
  if (!door.work || !attempt?.startSha || !attempt.commitSha) throw new Refusal("diff_not_found");
  const { startSha, commitSha } = attempt;
  const patch = await door.work.diff({ repo, id, attempt: attempt.n, startSha, commitSha }, against);
  return reply.type("text/x-patch; charset=utf-8").send(patch);
}
