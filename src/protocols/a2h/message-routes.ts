import { yieldAfterLarge } from "../../lib/event-loop.ts";
import type { Request } from "../../requests/model/request.ts";
import { cancelRequest } from "../../requests/end/end.ts";
import { readRequest, readDetails } from "../../requests/read/read-request.ts";
import type { FastifyReply } from "../http/door.ts";
import { askerOf, rulesFor } from "./call-routes.ts";
import { actorOf, callerFrom } from "./caller.ts";
import { createMessage } from "./create.ts";
import { checked, checkedBody } from "./fields.ts";
import { printMessage } from "./print.ts";
import { awaited, findOwnRequest, tellingWho } from "./requests.ts";
import { bodyOf, routeOptions, sendJson, type Mount } from "./route.ts";
import { readMessage } from "./specs.ts";
import { NewMessageBody, WireMessage } from "../../wire/message.ts";
import { CancellationBody } from "../../wire/a2h/new-request.ts";

interface WithUid {
  Params: { uid: string };
}

/** Messages, answered by a value that fits a schema (spec/a2h 14). */
export function messageRoutes(mount: Mount): void {
  const { app, door, prefix } = mount;
  const { ctx } = door;

  app.post(
    "/messages",
    routeOptions(mount, {
      noun: "message",
      summary: "Send people a message",
      body: NewMessageBody,
      reply: WireMessage,
      replies: { 200: "It was sent before", 201: "It is sent" },
    }),
    async (http, reply) => {
      const caller = await callerFrom(door, http, ["agent"]);
      const body = bodyOf(http);
      await yieldAfterLarge(http.body as Buffer);
      const message = checked((problems) => readMessage(body, problems, rulesFor(mount, caller)));
      const { request, replayed } = await createMessage(ctx, askerOf(mount, caller), message);
      if (replayed) reply.header("idempotency-replayed", "true");
      reply.code(replayed ? 200 : 201).header("location", `${prefix}/messages/${String(request.wire["uid"])}`);
      return send(reply, replayed ? await readRequest(ctx, request.id) : request);
    },
  );

  app.get<WithUid>(
    "/messages/:uid",
    routeOptions(mount, {
      noun: "message",
      summary: "Read a message, or wait for its answer with ?wait=",
      reply: WireMessage,
    }),
    async (http, reply) => {
      const caller = await callerFrom(door, http, ["agent", "admin"]);
      const ask = await findOwnRequest(door, caller, "message", http.params.uid);
      return send(reply, await awaited(door, http, reply, { caller, request: ask }));
    },
  );

  app.post<WithUid>(
    "/messages/:uid/cancel",
    routeOptions(mount, {
      noun: "message",
      summary: "Withdraw a message",
      body: CancellationBody,
      bodyOptional: true,
      reply: WireMessage,
    }),
    async (http, reply) => {
      const caller = await callerFrom(door, http, ["agent", "admin"]);
      const ask = await findOwnRequest(door, caller, "message", http.params.uid);
      const { reason } = checkedBody(CancellationBody, bodyOf(http));
      return send(reply, await tellingWho(door, ask, () => cancelRequest(ctx, ask.id, actorOf(caller), reason)));
    },
  );

  async function send(reply: FastifyReply, ask: Request): Promise<FastifyReply> {
    return sendJson(reply, printMessage(ask, await readDetails(ctx, ask)));
  }
}
