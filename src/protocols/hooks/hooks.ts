import type { Channel, Hook, Receive } from "../../channels/channel.ts";
import { handleInbound } from "../../conversations/handle-inbound.ts";
import type { Door, DoorContext, FastifyReply, FastifyRequest } from "../http/door.ts";

/**
 * The entries for what providers send: raw bytes to the channel, which verifies them before anything else. A channel
 * that is not configured has no entry, so its address is 404 (spec/channels 4).
 */
export function hooks(door: DoorContext, channels: Iterable<Channel>): (app: Door) => Promise<void> {
  return async (app) => {
    const receive = receiverOf(door);
    for (const { inbound } of channels) for (const hook of inbound?.hooks ?? []) entry(app, hook, receive);
  };
}

/** Returns where channels hand over what they hear. */
export function receiverOf({ ctx, config }: DoorContext): Receive {
  return (message) => handleInbound(ctx, config.publicUrl, message);
}

function entry(app: Door, hook: Hook, receive: Receive): void {
  app.post(
    hook.path,
    { bodyLimit: hook.maxBytes, schema: { hide: true } },
    async (http: FastifyRequest, reply: FastifyReply) => {
      const { status, type, body } = await hook.handle(
        {
          headers: http.headers,
          rawHeaders: http.raw.rawHeaders,
          query: http.raw.url?.split("?")[1] ?? "",
          body: Buffer.isBuffer(http.body) ? http.body : Buffer.alloc(0),
          params: http.params as Record<string, string>,
        },
        receive,
      );
      if (type !== undefined) reply.type(type);
      return reply.code(status).send(body ?? "");
    },
  );
}
