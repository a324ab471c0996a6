import type { Context } from "../../../context.ts";
import { comeBack, goAway, listStandIns, readAway, type Colleague } from "../../../requests/inbox/away.ts";
import { ErrorBody } from "../../../wire/error.ts";
import { AwayBody, WireAway, WireStandIns, type WireReceivers } from "../../../wire/hand-on.ts";
import type { Door, DoorContext } from "../../http/door.ts";
import { jsonReply } from "../../http/json-reply.ts";
import { signedInPerson } from "../../http/principals.ts";
import { wireTime } from "../../http/question.ts";

const refusals = { 401: ErrorBody } as const;

/** Mounts until when the signed-in person is away, with whom as a stand-in. */
export function awayRoutes(app: Door, door: DoorContext): void {
  const { ctx } = door;

  app.get(
    "/people/me/away",
    { schema: { tags: ["inbox"], summary: "Whether I am away", response: { 200: jsonReply(WireAway), ...refusals } } },
    async (http) => awayBody(ctx, (await signedInPerson(door, http)).person),
  );

  app.put(
    "/people/me/away",
    {
      config: { takesBody: true },
      schema: {
        tags: ["inbox"],
        summary: "Say until when I am away",
        body: AwayBody,
        response: { 200: jsonReply(WireAway), 400: ErrorBody, ...refusals },
      },
    },
    async (http) => {
      const { person } = await signedInPerson(door, http);
      const { until, stand_in: standIn = null } = http.body as AwayBody;
      await goAway(ctx, person, { until: Date.parse(until), standIn });
      return awayBody(ctx, person);
    },
  );

  app.delete(
    "/people/me/away",
    { schema: { tags: ["inbox"], summary: "I am back", response: { 200: jsonReply(WireAway), ...refusals } } },
    async (http) => {
      const { person } = await signedInPerson(door, http);
      await comeBack(ctx, person);
      return awayBody(ctx, person);
    },
  );

  app.get(
    "/people/me/stand-ins",
    {
      schema: {
        tags: ["inbox"],
        summary: "Who may be of use as my stand-in",
        response: { 200: jsonReply(WireStandIns), ...refusals },
      },
    },
    async (http): Promise<WireStandIns> => {
      const people = await listStandIns(ctx, (await signedInPerson(door, http)).person);
      return { people: people.map(personBody) };
    },
  );
}

async function awayBody(ctx: Pick<Context, "db">, person: string): Promise<WireAway> {
  const absence = await readAway(ctx, person);
  if (!absence) return { from: null, until: null, stand_in: null };
  const { from, until, standIn } = absence;
  return { from: wireTime(from), until: wireTime(until), stand_in: standIn && personBody(standIn) };
}

/** Returns a person as others see them who may give them an ask. */
export function personBody(one: Colleague): WireReceivers["people"][number] {
  const { person: id, name, awayUntil } = one;
  return { id, name, away_until: awayUntil === null ? null : wireTime(awayUntil) };
}
