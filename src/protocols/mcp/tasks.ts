import { cancelWait } from "../../questions/cancel-wait.ts";
import { keepWait } from "../../questions/keep-wait.ts";
import { readWaits, type WaitReading } from "../../questions/read-waits.ts";
import { isId } from "../http/ids.ts";
import { wireTime } from "../http/question.ts";
import { goneSignal, type DoorContext } from "../http/door.ts";
import type { Exchange } from "./exchange.ts";
import type { McpRequest } from "./message.ts";
import { TASKS_EXTENSION } from "./opening.ts";
import { chargeRead, holdForResponses, wantedOf, waitResult, type HeldWait, type WaitInput } from "./responses.ts";
import { cancelPeopleTask, findPeopleTask, peopleTask } from "./people-wait.ts";
import { membersOf, resultObject, RPC, RpcError, type JsonMembers, type TaskCreated } from "./rpc.ts";
import { declaresTasks, pollIntervalMs, TASK_HOLD_SECONDS } from "./task-shape.ts";

/** Refuses what only a client that declares tasks may ask. @throws {RpcError} */
export function requireTasks(call: McpRequest): void {
  if (declaresTasks(call)) return;
  throw new RpcError(RPC.missingCapability, "Missing required client capability", {
    status: 400,
    data: { requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } } },
    id: call.id,
  });
}

/**
 * Waits for a moment, then replies with a task that stands in the store already, so that the wait outlives connection,
 * client and server (spec/mcp 6). `max_wait_seconds` says nothing here: nobody is held.
 *
 * @throws {Refusal}
 */
export async function waitAsTask(
  door: DoorContext,
  principal: string,
  input: WaitInput,
  { signal }: Pick<HeldWait, "signal">,
): Promise<JsonMembers | TaskCreated> {
  const end = await holdForResponses(door, principal, input, { signal, seconds: TASK_HOLD_SECONDS });
  if (end.isSettled) return waitResult(end, input);
  const wanted = wantedOf(end.reading, input);
  const wait = await keepWait(door.ctx, { questionId: input.questionId, asker: principal, wanted });
  const [kept] = await readWaits(door.ctx, [wait.id], principal);
  if (!kept) throw new Error("a wait was gone as soon as it was kept");
  return { task: taskMembers(door, kept, { withResult: false }) };
}

/**
 * Answers `tasks/get`, which counts as one read, `tasks/cancel` and `tasks/update`. Nothing is ever asked of the
 * client, so there is nothing to update.
 *
 * @throws {RpcError} for a task that is unknown or somebody else's
 */
export async function taskMethod({ door, principal, call, reply }: Exchange): Promise<JsonMembers> {
  requireTasks(call);
  const { taskId } = call.params;
  if (typeof taskId !== "string" || !isId(taskId)) throw noSuchTask(call);
  if (call.method === "tasks/cancel") {
    const isThere =
      (await cancelWait(door.ctx, taskId, principal)) || (await cancelPeopleTask(door, principal, taskId));
    if (!isThere) throw noSuchTask(call);
    return "";
  }
  if (call.method === "tasks/get") await chargeRead(door, principal);
  const isAsked = call.method === "tasks/get";
  const [reading] = await readWaits(door.ctx, [taskId], principal);
  if (reading) return isAsked ? taskMembers(door, reading) : "";
  const forPeople = await findPeopleTask(door, principal, taskId);
  if (!forPeople) throw noSuchTask(call);
  return isAsked ? peopleTask(door, forPeople, goneSignal(reply)) : "";
}

function noSuchTask({ id }: McpRequest): RpcError {
  return new RpcError(RPC.invalidParams, "Task not found", { id });
}

/** Returns a task as `tasks/get` shows it; its result is exactly the tool's own. */
export function taskMembers(
  { ctx }: DoorContext,
  { wait, state }: WaitReading,
  { withResult } = { withResult: true },
): JsonMembers {
  const { status, question, responses, at } = state;
  const members = membersOf({
    taskId: wait.id,
    status,
    statusMessage: `${Math.min(question.n, wait.wanted)} of ${wait.wanted} answers`,
    createdAt: wireTime(wait.createdAt),
    lastUpdatedAt: wireTime(at),
    ttlMs: wait.keptUntil - wait.createdAt,
    pollIntervalMs: pollIntervalMs(ctx.clock.now() - wait.createdAt),
  });
  if (status !== "completed" || !withResult) return members;
  const waitedMs = Math.max(0, at - wait.createdAt);
  const result = waitResult(
    { reading: { question, responses }, isSettled: true, waitedMs },
    { minResponses: undefined },
  );
  return `${members},"result":${resultObject(true, result)}`;
}
