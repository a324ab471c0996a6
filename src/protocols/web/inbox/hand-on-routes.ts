import type { Context } from "../../../context.ts";
import { namePeople } from "../../../access/name-people.ts";
import { refuseFields } from "../../../core/model/field-problem.ts";
import type { RequestId } from "../../../core/model/ids.ts";
import { printable, printableLines } from "../../../lib/printable.ts";
import {
  handOn,
  handOnsOf,
  listReceivers,
  takeBack,
  type HandOnsOfPerson,
  type HandOnTo,
} from "../../../requests/inbox/hand-on.ts";
import { readInInbox } from "../../../requests/read/read-request.ts";
import { ErrorBody } from "../../../wire/error.ts";
import { HandOnBody, WireHandOn, WireReceivers } from "../../../wire/hand-on.ts";
import type { Door, DoorContext, FastifyRequest } from "../../http/door.ts";
import { jsonReply } from "../../http/json-reply.ts";
import { signedInPerson } from "../../http/principals.ts";
import { wireTime } from "../../http/question.ts";
import { personBody } from "./away-routes.ts";

const refusals = { 401: ErrorBody, 404: ErrorBody } as const;

interface OneAsk {
  Params: { id: string };
}

/** The fields of an ask that say how it was handed on, as far as that concerns one person. */
type HandedFields = Pick<WireHandOn, "handed_by" | "handed_on">;

/** Mounts how the signed-in person hands an ask on, takes it back, and sees to whom they may hand it. */
export function handOnRoutes(app: Door, door: DoorContext): void {
  const { ctx } = door;
  const inInbox = async (http: FastifyRequest<OneAsk>) => {
    const { person } = await signedInPerson(door, http);
    const { id } = await readInInbox(ctx, person, http.params.id);
    return { requestId: id, person };
  };
  const handOnBody = async ({ requestId: id, person }: Awaited<ReturnType<typeof inInbox>>): Promise<WireHandOn> => {
    return { id, ...(await handedFields(ctx, person, [id])).get(id) };
  };

  app.get<OneAsk>(
    "/people/me/asks/:id/receivers",
    {
      schema: {
        tags: ["inbox"],
        summary: "To whom I may hand an ask on",
        response: { 200: jsonReply(WireReceivers), ...refusals },
      },
    },
    async (http): Promise<WireReceivers> => {
      const { people, groups } = await listReceivers(ctx, await inInbox(http));
      return { people: people.map(personBody), groups: [...groups] };
    },
  );

  app.post<OneAsk>(
    "/people/me/asks/:id/hand-on",
    {
      config: { takesBody: true },
      schema: {
        tags: ["inbox"],
        summary: "Hand an ask on to somebody who may decide it",
        body: HandOnBody,
        response: { 200: jsonReply(WireHandOn), 400: ErrorBody, ...refusals, 403: ErrorBody, 409: ErrorBody },
      },
    },
    async (http): Promise<WireHandOn> => {
      const ask = await inInbox(http);
      const { to, note } = http.body as HandOnBody;
      await handOn(ctx, ask, { to: receiverOf(to), note });
      return handOnBody(ask);
    },
  );

  app.delete<OneAsk>(
    "/people/me/asks/:id/hand-on",
    {
      schema: {
        tags: ["inbox"],
        summary: "Take an ask back that was handed on",
        response: { 200: jsonReply(WireHandOn), ...refusals },
      },
    },
    async (http): Promise<WireHandOn> => {
      const ask = await inInbox(http);
      await takeBack(ctx, ask);
      return handOnBody(ask);
    },
  );
}

/** @throws {Refusal} `invalid_input` unless exactly one receiver is named */
function receiverOf({ person, group }: HandOnBody["to"]): HandOnTo {
  if (person !== undefined && group === undefined) return { person };
  if (group !== undefined && person === undefined) return { group };
  throw refuseFields([{ message: "to must name one person or one group", field: "to", constraint: "required" }]);
}

/** Returns how each of these asks was handed on, for one person; every ask has its fields. */
export async function handedFields(
  ctx: Pick<Context, "db" | "addressed">,
  person: string,
  requestIds: readonly RequestId[],
): Promise<{ get(id: RequestId): HandedFields }> {
  return printHandOns(ctx, await handOnsOf(ctx, person, requestIds));
}

/** The same of hand-ons that were read before. */
export async function printHandOns(
  ctx: Pick<Context, "db">,
  handOns: ReadonlyMap<RequestId, HandOnsOfPerson>,
): Promise<{ get(id: RequestId): HandedFields }> {
  const people = [...handOns.values()].flatMap(({ to, by }) => [
    ...(to ? [to.person] : []),
    ...(by ? [by.receiver] : []),
  ]);
  const names = people.length === 0 ? new Map<string, string>() : await namePeople(ctx, people);
  const shown = (note: string | null) => (note === null ? null : printableLines(note).join("\n"));
  return {
    get(id) {
      const { to, by } = handOns.get(id) ?? {};
      return {
        handed_by: to
          ? {
              id: to.person,
              name: names.get(to.person) ?? "",
              note: shown(to.note),
              at: wireTime(to.at),
              away_until: to.until === null ? null : wireTime(to.until),
            }
          : null,
        handed_on: by
          ? {
              to: by.group === null ? (names.get(by.receiver) ?? "") : printable(by.group),
              note: shown(by.note),
              at: wireTime(by.at),
            }
          : null,
      };
    },
  };
}
