import { refuseFields } from "../../core/model/field-problem.ts";
import { runOfTask } from "../../requests/model/agent-note.ts";
import { Refusal } from "../../refusals.ts";
import { readAttempts } from "../../tasks/read-attempts.ts";
import { readTaskAsks, type TaskAskPlace } from "../../tasks/read-asks.ts";
import { readWholeTask } from "../../tasks/read.ts";
import type { WireTaskAskPage, WireWholeTask } from "../../wire/tasks/task.ts";
import { agentNotesBody } from "./agent-notes.ts";
import type { DoorContext, FastifyReply, FastifyRequest } from "./door.ts";
import { MOST_WHOLE, placeOf, queryNumber, queryText, wholeNumber } from "./query.ts";
import { taskAsksWire, wholeTaskWire } from "./task.ts";

/** So many asks of a task are on one page. */
const ASKS = 200;
/** The form of an ask's id. */
const ASK_ID = /^[A-Za-z0-9._:-]{1,128}$/;

/** Returns a task with its tree, as every wire has it. @throws {Refusal} `task_not_found` */
export async function wholeTaskOf(door: DoorContext, repo: string, id: string): Promise<WireWholeTask> {
  const whole = await readWholeTask(door.ctx, repo, id, ASKS);
  const tree = await door.work?.tree({ repo, id, generation: whole.task.generation });
  const notes = await agentNotesBody(door.ctx, runOfTask(repo, id), null);
  return { ...wholeTaskWire(whole, door, tree), notes };
}

/**
 * Returns the page of what a task's agents asked that a request wants, as every wire has it.
 *
 * @throws {Refusal} `task_not_found`, `invalid_input`
 */
export async function taskAsksOf(
  door: DoorContext,
  http: FastifyRequest,
  task: { repo: string; id: string },
): Promise<WireTaskAskPage> {
  const cursor = queryText(http.query, "cursor");
  const after = cursor === undefined ? undefined : askPlaceOf(cursor);
  if (after === null) {
    throw refuseFields([{ message: "cursor is not a page's next", field: "cursor", constraint: "format" }]);
  }
  return taskAsksWire(await readTaskAsks(door.ctx, task, { ...(after && { after }), limit: ASKS }), door);
}

function askPlaceOf(cursor: string): TaskAskPlace | null {
  const [n = ""] = cursor.split(".", 1);
  const attempt = wholeNumber(n, { min: 1, max: MOST_WHOLE });
  const place = placeOf(cursor.slice(n.length + 1), "_");
  return attempt !== null && place && ASK_ID.test(place.id) ? { ...place, attempt } : null;
}

/**
 * Sends an attempt's work as a patch: of the newest one that has any, or of the one that is named.
 *
 * @throws {Refusal} `task_not_found`, `diff_not_found`, `invalid_input`
 */
export async function sendDiff(
  door: DoorContext,
  http: FastifyRequest,
  reply: FastifyReply,
  { repo, id }: { repo: string; id: string },
): Promise<FastifyReply> {
  const against = queryText(http.query, "against") ?? "start";
  if (against !== "start" && against !== "base") {
    throw new Refusal("invalid_input", { field: "against", constraint: "enum", allowed: ["start", "base"] });
  }
  const n = queryNumber(http.query, "attempt", { min: 1, max: 1_000_000 });
  if (n === null) throw new Refusal("invalid_input", { field: "attempt", constraint: "type" });

  const attempts = await readAttempts(door.ctx, repo, id);
  const attempt = attempts.findLast((one) => one.commitSha !== null && (n === undefined || one.n === n));
  if (!door.work || !attempt?.startSha || !attempt.commitSha) throw new Refusal("diff_not_found");
  const { startSha, commitSha } = attempt;
  const patch = await door.work.diff({ repo, id, attempt: attempt.n, startSha, commitSha }, against);
  return reply.type("text/x-patch; charset=utf-8").send(patch);
}
