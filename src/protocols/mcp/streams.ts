import { followRequestWaits, readRequestWaits } from "../../requests/wait/waits.ts";
import { followWaits, readWaits } from "../../questions/read-waits.ts";
import { isStillGood, whenNoLongerGood } from "../http/held.ts";
import { isId } from "../http/ids.ts";
import { beat, openEventStream, type EventStream } from "../http/sse.ts";
import type { DoorContext } from "../http/door.ts";
import { failureOf, keyEnded, type Exchange } from "./exchange.ts";
import { isObject, progressTokenOf } from "./message.ts";
import { limitAsError, resultOf } from "./methods.ts";
import { RESULT_META } from "./opening.ts";
import { peopleTask } from "./people-wait.ts";
import type { HeldWait } from "./responses.ts";
import { errorJson, membersOf, notificationJson, resultJson, RPC, RpcError, type JsonMembers } from "./rpc.ts";
import { requireTasks, taskMembers } from "./tasks.ts";

const SUBSCRIPTION_KEY = "io.modelcontextprotocol/subscriptionId";
/** More tasks than this are not named in the acknowledgement of one subscription. */
const MOST_TASKS = 100;

const say = (stream: EventStream, json: string): void => stream.write(`event: message\ndata: ${json}\n\n`);

/** The head and a comment go out before anything is looked up, so that the client sees at once that it is connected. */
export async function answerByStream(exchange: Exchange): Promise<void> {
  const { door, call, reply } = exchange;
  const stream = openEventStream(reply, ": waiting\n\n");
  const token = progressTokenOf(call);
  const progress =
    token === undefined
      ? null
      : openProgress(door, (params) => {
          say(stream, notificationJson("notifications/progress", { progressToken: token, ...params }));
        });
  const beating = beat(door, stream.gone, () => (progress ? progress.tick() : stream.write(": still waiting\n\n")));
  const hold: HeldWait = { canStream: true, hasToken: progress !== null, signal: stream.gone };
  if (progress) hold.onCount = progress.count;
  using _watch = endsWithKey(exchange, stream);
  try {
    const result = await resultOf(exchange, hold);
    if (!(await isStillGood(door, exchange.http))) throw keyEnded(exchange);
    say(stream, resultJson(call, result));
  } catch (error) {
    say(stream, errorJson(failureOf(exchange, error)));
  } finally {
    stream.end();
    await beating;
  }
}

/** Sends an error and ends the stream when the caller's key is revoked; nothing follows (spec/invariants T7). */
function endsWithKey(exchange: Exchange, stream: EventStream): Disposable {
  return whenNoLongerGood(exchange.door, exchange.http, () => {
    say(stream, errorJson(keyEnded(exchange)));
    stream.end();
  });
}

/** Sends the number of answers at once, with every new one, and at every tick; the progress always grows. */
function openProgress({ ctx: { clock } }: DoorContext, tell: (params: { progress: number; message: string }) => void) {
  const start = clock.monotonic();
  let last = -1;
  let counted: string | null = null;
  const tick = () => {
    if (counted === null) return;
    const seconds = Math.max(0, Math.floor(clock.monotonic() - start)) / 1000;
    // Two answers may come within one millisecond.
    last = seconds > last ? seconds : Math.round(last * 1000 + 1) / 1000;
    const time = [seconds / 60, seconds % 60].map((part) => String(Math.floor(part)).padStart(2, "0")).join(":");
    tell({ progress: last, message: `${counted}, ${time}` });
  };
  const count = (have: number, wanted: number) => {
    counted = `${have} of ${wanted} answers`;
    tick();
  };
  return { tick, count };
}

/**
 * Answers `subscriptions/listen`: first which of the caller's own tasks it will hear of, then where each stands and
 * every change, until all are over (spec/mcp 6). Nothing else that can be listened for ever changes.
 *
 * @throws {RpcError} before anything was sent
 */
export async function listen(exchange: Exchange): Promise<void> {
  const { door, principal, call, http, reply } = exchange;
  const { notifications } = call.params;
  if (!isObject(notifications)) {
    throw new RpcError(RPC.invalidParams, "params.notifications must be an object", { id: call.id });
  }
  const { taskIds } = notifications;
  if (taskIds !== undefined) requireTasks(call);
  const named = Array.isArray(taskIds) ? taskIds.filter((id): id is string => typeof id === "string" && isId(id)) : [];
  let place: Disposable;
  try {
    place = door.limiter.enter("streams", principal, door.config.limits.streams);
  } catch (error) {
    throw limitAsError(exchange, error);
  }
  using _place = place;
  const wanted = [...new Set(named)].slice(0, MOST_TASKS);
  const forCrowd = (await readWaits(door.ctx, wanted, principal)).map(({ wait }) => wait.id);
  const forPeople = (await readRequestWaits(door.ctx, wanted, principal)).map(({ wait }) => wait.id);
  const ids = wanted.filter((id) => forCrowd.includes(id) || forPeople.includes(id));

  const stream = openEventStream(reply, ": listening\n\n");
  const meta = { [SUBSCRIPTION_KEY]: call.id };
  const beating = beat(door, stream.gone, () => stream.write(": still listening\n\n"));
  using _watch = endsWithKey(exchange, stream);
  try {
    const honoured = ids.length > 0 ? { taskIds: ids } : {};
    say(stream, notificationJson("notifications/subscriptions/acknowledged", { notifications: honoured, _meta: meta }));
    const tell = async (task: JsonMembers) => {
      if (!(await isStillGood(door, http))) throw keyEnded(exchange);
      const params = `{${task},${membersOf({ _meta: meta })}}`;
      say(stream, `{"jsonrpc":"2.0","method":"notifications/tasks","params":${params}}`);
    };
    const followCrowd = async () => {
      for await (const reading of followWaits(door.ctx, forCrowd, principal, stream.gone)) {
        await tell(taskMembers(door, reading));
      }
    };
    const followPeople = async () => {
      for await (const reading of followRequestWaits(door.ctx, forPeople, principal, stream.gone)) {
        await tell(await peopleTask(door, reading, stream.gone));
      }
    };
    await Promise.all([followCrowd(), followPeople()]);
    const result = { resultType: "complete", _meta: { ...RESULT_META, ...meta } };
    say(stream, JSON.stringify({ jsonrpc: "2.0", id: call.id, result }));
  } catch (error) {
    say(stream, errorJson(failureOf(exchange, error)));
  } finally {
    stream.end();
    await beating;
  }
}
