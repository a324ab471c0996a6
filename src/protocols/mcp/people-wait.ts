import type { Request } from "../../requests/model/request.ts";
import {
  cancelRequestWait,
  keepRequestWait,
  readRequestWaits,
  type RequestWaitReading,
} from "../../requests/wait/waits.ts";
import { noteInquiriesTold } from "../../requests/inbox/inquire.ts";
import { isAskedBack } from "../../requests/model/inquiry.ts";
import { waitForRequest } from "../../requests/read/read-request.ts";
import { wireTime } from "../http/question.ts";
import type { DoorContext } from "../http/door.ts";
import type { Exchange } from "./exchange.ts";
import { peopleResult } from "./people-result.ts";
import type { OpenedRequest } from "./people.ts";
import { holdSecondsOf, type HeldWait } from "./responses.ts";
import { membersOf, resultObject, type JsonMembers, type TaskCreated } from "./rpc.ts";
import { declaresTasks, pollIntervalMs, TASK_HOLD_SECONDS } from "./task-shape.ts";

/** Takes a place among the waits of one asker, before anything is asked. @throws {LimitRefusal} */
export function parkWait({ limiter, config }: DoorContext, principal: string): Disposable {
  return limiter.enter("mcp waits", principal, config.limits.longPolls);
}

/** Holds until people have decided, the hold is over, the client has gone, or the server stops. */
async function holdForPeople(
  { ctx }: DoorContext,
  { id }: Request,
  hold: HeldWait,
  holdSeconds: number,
): Promise<{ request: Request; waitedMs: number; isAskedBack: boolean }> {
  const start = ctx.clock.monotonic();
  hold.onCount?.(0, 1);
  const { signal } = hold;
  const request = await waitForRequest(ctx, id, { waitMs: holdSeconds * 1000, signal, untilAskedBack: true });
  const told = signal.aborted ? request : await noteInquiriesTold(ctx, request);
  return { request: told, waitedMs: ctx.clock.monotonic() - start, isAskedBack: isAskedBack(request) };
}

/**
 * Returns what people have decided, or, while they have not, how to go on. Where the client declares tasks it gets one
 * that stands in the store already.
 */
export async function resultOfPeople(
  { door, call }: Exchange,
  { request, maxWaitSeconds }: OpenedRequest,
  hold: HeldWait,
  { ownsRequest }: { ownsRequest: boolean },
): Promise<JsonMembers | TaskCreated> {
  const isTask = declaresTasks(call);
  const { onCount: _, ...silent } = hold;
  const seconds = isTask ? TASK_HOLD_SECONDS : holdSecondsOf({ maxWaitSeconds }, hold);
  const end = await holdForPeople(door, request, isTask ? silent : hold, seconds);
  if (!isTask || end.request.state !== "open") {
    return peopleResult(door, end.request, { ...end, signal: hold.signal });
  }
  const wait = await keepRequestWait(door.ctx, request, ownsRequest);
  const [kept] = await readRequestWaits(door.ctx, [wait.id], request.asker);
  if (!kept) throw new Error("a wait was gone as soon as it was kept");
  return { task: taskHead(door, kept) };
}

function taskHead({ ctx }: DoorContext, { wait, request, status, at }: RequestWaitReading): JsonMembers {
  const waiting = request.form.kind === "approval" ? "Waiting for a decision" : "Waiting for an answer";
  return membersOf({
    taskId: wait.id,
    status,
    statusMessage: status === "working" ? waiting : status === "cancelled" ? "Given up" : "Over",
    createdAt: wireTime(wait.createdAt),
    lastUpdatedAt: wireTime(at),
    ttlMs: wait.keptUntil - wait.createdAt,
    pollIntervalMs: pollIntervalMs(ctx.clock.now() - wait.createdAt),
  });
}

/** Returns a task as `tasks/get` shows it; its result is exactly the tool's own. */
export async function peopleTask(
  door: DoorContext,
  reading: RequestWaitReading,
  signal: AbortSignal,
): Promise<JsonMembers> {
  const head = taskHead(door, reading);
  if (reading.status !== "completed") return head;
  const waitedMs = Math.max(0, reading.at - reading.wait.createdAt);
  return `${head},"result":${resultObject(true, await peopleResult(door, reading.request, { waitedMs, signal }))}`;
}

/** Returns the caller's own task for people; undefined where the caller has no such task. */
export async function findPeopleTask(
  door: DoorContext,
  principal: string,
  taskId: string,
): Promise<RequestWaitReading | undefined> {
  return (await readRequestWaits(door.ctx, [taskId], principal))[0];
}

/** Gives up a task for people. Returns whether there is such a one. */
export function cancelPeopleTask(door: DoorContext, principal: string, taskId: string): Promise<boolean> {
  return cancelRequestWait(door.ctx, taskId, principal);
}
