import { readInInbox } from "../../../requests/read/read-request.ts";
import { endSnooze, snoozeRequest } from "../../../requests/inbox/snooze.ts";
import type { Door, DoorContext, FastifyRequest } from "../../http/door.ts";
import { jsonReply } from "../../http/json-reply.ts";
import { signedInPerson } from "../../http/principals.ts";
import { wireTime } from "../../http/question.ts";
import { ErrorBody } from "../../../wire/error.ts";
import { SnoozeBody, WireSnoozed } from "../../../wire/inbox.ts";

const refusals = { 401: ErrorBody, 404: ErrorBody } as const;

interface OneAsk {
  Params: { id: string };
}

/** Mounts how the signed-in person puts an ask aside, and takes it back. */
export function snoozeRoutes(app: Door, door: DoorContext): void {
  const { ctx } = door;
  const inInbox = async (http: FastifyRequest<OneAsk>) => {
    const { person } = await signedInPerson(door, http);
    const { id } = await readInInbox(ctx, person, http.params.id);
    return { requestId: id, person };
  };

  app.post<OneAsk>(
    "/people/me/asks/:id/snooze",
    {
      config: { takesBody: true },
      schema: {
        tags: ["inbox"],
        summary: "Put an ask aside until a time",
        body: SnoozeBody,
        response: { 200: jsonReply(WireSnoozed), 400: ErrorBody, ...refusals, 409: ErrorBody },
      },
    },
    async (http): Promise<WireSnoozed> => {
      const ask = await inInbox(http);
      const until = await snoozeRequest(ctx, ask, Date.parse((http.body as SnoozeBody).until));
      return { id: ask.requestId, snoozed_until: wireTime(until) };
    },
  );

  app.delete<OneAsk>(
    "/people/me/asks/:id/snooze",
    {
      schema: {
        tags: ["inbox"],
        summary: "Take an ask back that was put aside",
        response: { 200: jsonReply(WireSnoozed), ...refusals },
      },
    },
    async (http): Promise<WireSnoozed> => {
      const ask = await inInbox(http);
      await endSnooze(ctx, ask);
      return { id: ask.requestId, snoozed_until: null };
    },
  );
}
