import { acknowledgeMessage, readConversation, readMessage, readMessages } from "../../conversations/read.ts";
import { LimitRefusal } from "../../core/limits.ts";
import type { DoorContext, FastifyReply, FastifyRequest } from "../http/door.ts";
import { held } from "../http/held.ts";
import { Refusal } from "../../refusals.ts";
import { callerFrom, ownOf } from "./caller.ts";
import { given } from "./fields.ts";
import { newConversation } from "./print-conversation.ts";
import { idNumber, queryText } from "../http/query.ts";
import { badQuery, queryNumber, routeOptions, type Mount } from "./route.ts";
import { WireConversationChannel, WireNewConversation, WireNewConversationPage } from "../../wire/message.ts";

interface WithUid {
  Params: { uid: string };
}
interface WithId {
  Params: { id: string };
}

const MOST_WAIT_S = 55;

/** Mounts the routes by which agents fetch the conversations that people begin with them (spec/a2h 14). */
export function conversationRoutes(mount: Mount): void {
  const { app, door, full } = mount;
  const { ctx } = door;

  app.get(
    "/conversations",
    routeOptions(mount, {
      noun: "conversation",
      summary: "What people said and is not acknowledged, oldest first; all of it with ?all=true; held with ?wait=",
      reply: WireNewConversationPage,
    }),
    async (http, reply) => pullMessages(door, http, reply),
  );

  app.get<WithUid>(
    "/conversations/:uid",
    routeOptions(mount, {
      noun: "conversation",
      summary: "One thing that somebody said",
      reply: WireNewConversation,
    }),
    async (http) => {
      const caller = await callerFrom(door, http, ["agent"]);
      return newConversation(await readMessage(ctx, ownOf(caller), http.params.uid));
    },
  );

  app.post<WithUid>(
    "/conversations/:uid/ack",
    routeOptions(mount, {
      noun: "conversation",
      summary: "Take it, so that it is not listed again",
      writes: true,
      replies: { 204: "Taken" },
    }),
    async (http, reply) => {
      const caller = await callerFrom(door, http, ["agent"]);
      await acknowledgeMessage(ctx, ownOf(caller), http.params.uid);
      return reply.code(204).send();
    },
  );

  if (!full) return;
  app.get<WithId>(
    "/contact_channel/:id",
    routeOptions(mount, {
      noun: "channel",
      summary: "A conversation of the calling agent",
      reply: WireConversationChannel,
    }),
    async (http): Promise<WireConversationChannel> => {
      const caller = await callerFrom(door, http, ["agent"]);
      const id = idNumber(http.params.id);
      if (id === null) throw new Refusal("conversation_not_found");
      const { number, channel, agent } = await readConversation(ctx, ownOf(caller), id);
      return { id: number, channel_type: channel, agent_name: agent.slice(agent.indexOf(":") + 1), status: "ready" };
    },
  );
}

/** Returns the messages of people: at once if there are some, else when one arrives or the wait is over. */
async function pullMessages(
  door: DoorContext,
  http: FastifyRequest,
  reply: FastifyReply,
): Promise<WireNewConversationPage> {
  const caller = await callerFrom(door, http, ["agent"]);
  const limit = queryNumber(http, "limit", { min: 1, max: 100, usual: 100 });
  const waitS = queryNumber(http, "wait", { min: 0, max: MOST_WAIT_S, usual: 0 });
  const all = queryText(http.query, "all") ?? "false";
  if (all !== "true" && all !== "false") throw badQuery("all", "must be true or false");
  using place = waitS === 0 ? null : enterLongPoll(door, caller.principal);
  const { items, hasMore } = await held(door, http, reply, (signal) =>
    readMessages(door.ctx, ownOf(caller), {
      ...given({ after: queryText(http.query, "after") }),
      all: all === "true",
      limit,
      waitMs: place ? waitS * 1000 : 0,
      signal,
    }),
  );
  return { items: items.map(newConversation), has_more: hasMore };
}

/** Too many waits are not held. */
function enterLongPoll({ limiter, config }: DoorContext, principal: string): Disposable | null {
  try {
    return limiter.enter("long-polls", principal, config.limits.longPolls);
  } catch (error) {
    if (error instanceof LimitRefusal) return null;
    throw error;
  }
}
