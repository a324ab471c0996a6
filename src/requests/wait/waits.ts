import type { Context } from "../../context.ts";
import type { RequestId } from "../../core/model/ids.ts";
import { NO_DEADLINE, type Request } from "../model/request.ts";
import { Refusal } from "../../refusals.ts";
import * as due from "../store/due.ts";
import { lockRequest } from "../store/requests.ts";
import { cancelRequestWaitIfOpen, findRequestWaits, insertRequestWait, type RequestWait } from "../store/waits.ts";
import { transact } from "../../core/store/transact.ts";
import { FREEZES_TOPIC, requestTopic, watch } from "../../core/store/wake.ts";
import { cancelRequest } from "../end/end.ts";
import { readRequest, untilDueMs } from "../read/read-request.ts";

/** A wake-up from another server may be lost, and giving up a wait is no change of its request. */
const LOOK_AGAIN_MS = 10_000;

/** A wait for named people and where it stands. */
export interface RequestWaitReading {
  wait: RequestWait;
  request: Request;
  status: "working" | "completed" | "cancelled";
  /** When it last changed. */
  at: number;
}

/** The wait stands in the store and can be read for the request's whole lifetime and its retention after that. */
export async function keepRequestWait(ctx: Context, request: Request, ownsRequest: boolean): Promise<RequestWait> {
  const lifetimeMs = request.expiresAt >= NO_DEADLINE ? 0 : request.expiresAt - request.createdAt;
  const wait = { id: ctx.newId("t"), asker: request.asker, requestId: request.id, ownsRequest };
  return transact(ctx, (tx) => insertRequestWait(tx, { ...wait, keptMs: lifetimeMs + ctx.addressed.keptMs }));
}

/** Returns those of the waits that exist and are the asker's own, as they are now, in the order of `waitIds`. */
export async function readRequestWaits(
  ctx: Context,
  waitIds: readonly string[],
  asker: string,
): Promise<RequestWaitReading[]> {
  const found = new Map((await findRequestWaits(ctx.db, waitIds, asker)).map((wait) => [wait.id, wait]));
  const readings = waitIds.map(async (id) => {
    const wait = found.get(id);
    // A request that retention deleted meanwhile is left out.
    const request = wait && (await readRequest(ctx, wait.requestId).catch(notFound));
    return wait && request ? [stateOf(wait, request)] : [];
  });
  return (await Promise.all(readings)).flat();
}

function notFound(error: unknown): undefined {
  if (error instanceof Refusal && error.code === "request_not_found") return undefined;
  throw error;
}

function stateOf(wait: RequestWait, request: Request): RequestWaitReading {
  if (wait.cancelledAt !== null) return { wait, request, status: "cancelled", at: wait.cancelledAt };
  if (request.state === "open") return { wait, request, status: "working", at: wait.createdAt };
  return { wait, request, status: "completed", at: request.settledAt ?? request.expiresAt };
}

/**
 * Yields the asker's own waits as they are now and then the end of each, and ends when all are over or it is aborted.
 */
export async function* followRequestWaits(
  ctx: Context,
  waitIds: readonly string[],
  asker: string,
  signal: AbortSignal,
): AsyncGenerator<RequestWaitReading> {
  const requestIds = (await findRequestWaits(ctx.db, waitIds, asker)).map(({ requestId }) => requestId);
  using changes = watch(ctx, [...requestIds.map(requestTopic), FREEZES_TOPIC], [ctx.stopping, signal]);
  const reported = new Map<string, RequestWaitReading["status"]>();
  for (;;) {
    const readings = await readRequestWaits(ctx, waitIds, asker);
    for (const reading of readings) {
      if (reported.get(reading.wait.id) === reading.status) continue;
      reported.set(reading.wait.id, reading.status);
      yield reading;
    }
    const working = readings.filter(({ status }) => status === "working");
    if (working.length === 0 || ctx.stopping.aborted || signal.aborted) return;
    const dueIn = working.map(({ request }) => untilDueMs(ctx, request));
    await changes.next(Math.min(LOOK_AGAIN_MS, ...dueIn));
  }
}

/**
 * Gives up an asker's own wait if it is not over. One that began with its request withdraws the request, unless somebody has
 * decided first: then the wait is completed with that decision.
 *
 * @returns whether there is such a wait
 */
export async function cancelRequestWait(ctx: Context, waitId: string, asker: string): Promise<boolean> {
  const [reading] = await readRequestWaits(ctx, [waitId], asker);
  if (!reading) return false;
  const { wait, request, status } = reading;
  if (status !== "working") return true;
  if (wait.ownsRequest && !(await withdraw(ctx, request))) return true;
  await transact(ctx, async (tx) => {
    const held = await lockRequest(tx, request.id);
    if (!held || (!wait.ownsRequest && held.request.state !== "open")) return;
    if (await cancelRequestWaitIfOpen(tx, waitId)) tx.wake(requestTopic(request.id));
  });
  return true;
}

async function withdraw(ctx: Context, { id, asker }: Request): Promise<boolean> {
  try {
    await cancelRequest(ctx, id, { kind: "agent", id: asker });
    return true;
  } catch (error) {
    if (error instanceof Refusal && ["already_decided", "request_expired"].includes(error.code)) return false;
    throw error;
  }
}

/** Keeps requests open for one more lease each, because somebody waits for them. */
export async function renewLeases(ctx: Context, requestIds: readonly RequestId[]): Promise<void> {
  await transact(ctx, (tx) => due.renewLeases(tx, requestIds));
}
