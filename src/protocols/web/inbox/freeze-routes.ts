import { printable } from "../../../lib/printable.ts";
import { refuseFields } from "../../../core/model/field-problem.ts";
import {
  freeze,
  freezerOf,
  scopeOfAgent,
  scopeOfPerson,
  thaw,
  type Freeze,
  type FreezeActor,
  type FreezeScope,
} from "../../../policy/freezes.ts";
import { readFreezesFor, type SeenFreeze } from "../../../requests/inbox/read-freezes.ts";
import { ErrorBody } from "../../../wire/error.ts";
import { FreezeBody, WireFreeze, WireFreezes } from "../../../wire/freeze.ts";
import type { Door, DoorContext, FastifyRequest } from "../../http/door.ts";
import { jsonReply } from "../../http/json-reply.ts";
import { administrator, keyHolder, showsKey, signedInPerson } from "../../http/principals.ts";
import { wireTime } from "../../http/question.ts";

const refusals = { 401: ErrorBody, 403: ErrorBody } as const;

/** Mounts what is frozen, freezing and thawing: for a signed-in person, an `answer` key of theirs, and an `admin` key. */
export function freezeRoutes(app: Door, door: DoorContext): void {
  const { ctx } = door;

  app.get(
    "/freezes",
    {
      schema: { tags: ["inbox"], summary: "What is frozen", response: { 200: jsonReply(WireFreezes), ...refusals } },
    },
    async (http): Promise<WireFreezes> => {
      const by = await callerOf(door, http);
      return { freezes: (await readFreezesFor(ctx, asThawer(by), by.isAdmin)).map(seenBody) };
    },
  );

  app.post(
    "/freezes",
    {
      config: { takesBody: true },
      schema: {
        tags: ["inbox"],
        summary: "Freeze an agent, a person's agents, or everything",
        body: FreezeBody,
        response: { 200: jsonReply(WireFreeze), 400: ErrorBody, ...refusals },
      },
    },
    async (http) => {
      const by = await callerOf(door, http);
      const body = http.body as FreezeBody;
      return freezeBody(await freeze(ctx, await scopeOf(door, body, by), { ...by, reason: body.reason }));
    },
  );

  app.delete<{ Params: { id: string } }>(
    "/freezes/:id",
    {
      schema: {
        tags: ["inbox"],
        summary: "Thaw what was frozen",
        response: { 200: jsonReply(WireFreeze), ...refusals, 404: ErrorBody },
      },
    },
    async (http) => freezeBody(await thaw(ctx, http.params.id, asThawer(await callerOf(door, http)))),
  );
}

async function callerOf(door: DoorContext, http: FastifyRequest): Promise<FreezeActor> {
  if (await isAdminKey(door, http)) return { actor: await administrator(door, http), via: "api", isAdmin: true };
  const { person, byKey } = await signedInPerson(door, http);
  return freezerOf(door.ctx, person, byKey ? "api" : "web");
}

/** A key that answers for an admin is no admin: it may stop everything, and start nothing but its person's own. */
const asThawer = (by: FreezeActor): FreezeActor =>
  by.actor.kind === "human" && by.via === "api" ? { ...by, isAdmin: false } : by;

async function isAdminKey(door: DoorContext, http: FastifyRequest): Promise<boolean> {
  if (!showsKey(http)) return false;
  const key = await keyHolder(door, http);
  return !("open" in key) && key.scope === "admin";
}

async function scopeOf(
  { ctx }: DoorContext,
  { scope, agent, person }: FreezeBody,
  { actor }: FreezeActor,
): Promise<FreezeScope> {
  if (scope === "all") return { scope, subject: "" };
  if (scope === "agent") {
    const found = agent === undefined ? undefined : await scopeOfAgent(ctx, agent);
    if (found) return found;
    throw refuseFields([
      {
        message: "agent must be the name of a key, or a principal such as open:shop-bot",
        field: "agent",
        constraint: "unknown",
      },
    ]);
  }
  const subject = person ?? (actor.kind === "human" ? actor.id : undefined);
  const found = subject === undefined ? undefined : await scopeOfPerson(ctx, subject);
  if (found) return found;
  throw refuseFields([{ message: "person must be the id of a person", field: "person", constraint: "unknown" }]);
}

function freezeBody({ id, scope, subject, madeBy, madeByKind, via, reason, madeAt }: Freeze): WireFreeze {
  return {
    id,
    scope,
    agent: scope === "agent" ? subject : null,
    person: scope === "person" ? subject : null,
    by: madeBy,
    by_kind: madeByKind,
    via,
    reason,
    at: wireTime(madeAt),
  };
}

function seenBody({ freeze, byName, personName, principals, mayThaw }: SeenFreeze): WireFreezes["freezes"][number] {
  return {
    ...freezeBody(freeze),
    by_name: printable(byName),
    person_name: personName === null ? null : printable(personName),
    principals: [...principals],
    may_thaw: mayThaw,
  };
}
