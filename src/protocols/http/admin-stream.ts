import type { DoorContext, FastifyReply, FastifyRequest } from "./door.ts";
import { administrator, type Administrator } from "./principals.ts";
import { sendEvents, type ServerSentEvent } from "./sse.ts";

/**
 * Sends events to an admin, as `sendEvents` does. The stream ends before an event that comes when its reader is no admin
 * any more.
 *
 * @throws {LimitRefusal} where the admin has as many streams as one may
 */
export async function sendToAdmin(
  door: DoorContext,
  { http, reply, by }: { http: FastifyRequest; reply: FastifyReply; by: Administrator },
  open: (signal: AbortSignal) => AsyncIterable<ServerSentEvent>,
): Promise<FastifyReply> {
  using _place = door.limiter.enter("admin streams", by.id, door.config.limits.humanStreams);
  await sendEvents(door, http, reply, async function* (signal) {
    for await (const event of open(signal)) {
      const still = await administrator(door, http).catch(() => null);
      if (still?.id !== by.id) return;
      yield event;
    }
  });
  return reply;
}
