import { z } from "zod";
import { signInAddress } from "../../../access/model/sign-in-address.ts";
import { Refusal } from "../../../refusals.ts";
import { changeRole } from "../../../access/change-role.ts";
import { createKey } from "../../../access/create-key.ts";
import { createSignInLink } from "../../../access/create-sign-in-link.ts";
import { endSessions } from "../../../access/end-sessions.ts";
import { listKeys } from "../../../access/list-keys.ts";
import { listPeopleAndSessions } from "../../../access/list-people.ts";
import { banName } from "../../../questions/name-on-leaderboard.ts";
import { revokeKey } from "../../../access/revoke-key.ts";
import type { Door, DoorContext, FastifyRequest } from "../../http/door.ts";
import { parseBody } from "../../http/body.ts";
import { NewKeyBody, WireCreatedKey, WireKeyList, WireRevokedKey } from "../../../wire/key.ts";
import { PersonRoleBody, WireChangedPerson, WirePersonList, WireSignInLink } from "../../../wire/person.ts";
import { isId } from "../../http/ids.ts";
import { jsonReply } from "../../http/json-reply.ts";
import { administrator } from "../../http/principals.ts";
import { ErrorBody, NoContent } from "../../../wire/error.ts";

/** The refusals of every administrative route. */
export const ADMIN_REFUSALS = { 401: ErrorBody, 403: ErrorBody } as const;
const withInput = { 400: ErrorBody, ...ADMIN_REFUSALS, 404: ErrorBody } as const;

/**
 * Mounts the access routes: people's roles, sign-in links and sessions, and keys. They need a signed-in admin or an
 * `admin` key. A person's profile and channels are at the A2H door.
 */
export function adminAccessRoutes(door: DoorContext): (app: Door) => Promise<void> {
  return async (app) => {
    app.addHook("preValidation", async (http) => parseBody(http));
    peopleRoutes(app, door);
    sessionRoutes(app, door);
    keyRoutes(app, door);
    nameRoutes(app, door);
  };
}

/** People and their roles. */
function peopleRoutes(app: Door, door: DoorContext): void {
  const { ctx } = door;

  app.get(
    "/admin/people",
    {
      schema: {
        tags: ["administration"],
        summary: "Everybody who can sign in",
        response: { 200: jsonReply(WirePersonList), ...ADMIN_REFUSALS },
      },
    },
    async (http) => {
      await administrator(door, http);
      const people = await listPeopleAndSessions(ctx);
      const list: WirePersonList = {
        people: people.map(({ id, name, role, sessions, isOperator }) => ({
          id,
          name,
          role,
          sessions,
          operator: isOperator,
        })),
      };
      return list;
    },
  );

  app.patch<OneOf>(
    "/admin/people/:id",
    {
      config: { takesBody: true },
      schema: {
        tags: ["administration"],
        summary: "Change a person's role; a former admin's admin keys end",
        body: PersonRoleBody,
        response: { 200: jsonReply(WireChangedPerson), ...withInput },
      },
    },
    async (http) => {
      const by = await administrator(door, http);
      const { role } = http.body as PersonRoleBody;
      const { id, name, role: now } = await changeRole(ctx, { person: personId(http.params.id), role }, by);
      return { id, name, role: now } satisfies WireChangedPerson;
    },
  );
}

/** Letting a person in, and signing them out. */
function sessionRoutes(app: Door, door: DoorContext): void {
  const { ctx, config } = door;

  app.post<OneOf>(
    "/admin/people/:id/sign_in_link",
    {
      schema: {
        tags: ["administration"],
        summary: "A link that signs a person in once, within 30 minutes",
        response: { 201: jsonReply(WireSignInLink), ...ADMIN_REFUSALS, 404: ErrorBody },
      },
    },
    async (http, reply) => {
      const by = await administrator(door, http);
      const { code, person, expiresAt } = await createSignInLink(ctx, personId(http.params.id), by);
      const url = signInAddress(config.publicUrl, person.role, code);
      return reply.code(201).send({ url, expires_at: timeText(expiresAt) } satisfies WireSignInLink);
    },
  );

  app.delete<OneOf>(
    "/admin/people/:id/sessions",
    {
      schema: {
        tags: ["administration"],
        summary: "Sign a person out everywhere",
        response: { 204: z.null(), ...ADMIN_REFUSALS, 404: ErrorBody },
      },
    },
    async (http, reply) => {
      const by = await administrator(door, http);
      await endSessions(ctx, personId(http.params.id), by);
      return reply.code(204).send();
    },
  );
}

/** Keys: listing, making and revoking them. */
function keyRoutes(app: Door, door: DoorContext): void {
  const { ctx } = door;

  app.get(
    "/admin/keys",
    {
      schema: {
        tags: ["administration"],
        summary: "Every key there ever was, newest first; never its text",
        response: { 200: jsonReply(WireKeyList), ...ADMIN_REFUSALS },
      },
    },
    async (http) => {
      await administrator(door, http);
      return { keys: (await listKeys(ctx)).map(printKey) } satisfies WireKeyList;
    },
  );

  app.post(
    "/admin/keys",
    {
      config: { takesBody: true },
      schema: {
        tags: ["administration"],
        summary: "Make a key; its text is shown this once",
        body: NewKeyBody,
        response: { 201: jsonReply(WireCreatedKey), ...withInput },
      },
    },
    async (http, reply) => reply.code(201).send(await makeKey(door, http)),
  );

  app.delete<OneOf>(
    "/admin/keys/:id",
    {
      schema: {
        tags: ["administration"],
        summary: "Revoke a key: the next request with it is refused",
        response: { 200: jsonReply(WireRevokedKey), ...ADMIN_REFUSALS, 404: ErrorBody },
      },
    },
    async (http) => {
      const by = await administrator(door, http);
      const { id } = http.params;
      if (!isId(id)) throw new Refusal("key_not_found", { id });
      return printKey(await revokeKey(ctx, id, by));
    },
  );
}

/** Names that people chose for the leaderboard. */
function nameRoutes(app: Door, door: DoorContext): void {
  app.delete<{ Params: { name: string } }>(
    "/admin/leaderboard/:name",
    {
      schema: {
        tags: ["administration"],
        summary: "Take a name off the leaderboard: nobody can choose it again",
        response: { 204: NoContent, ...withInput },
      },
    },
    async (http, reply) => {
      const by = await administrator(door, http);
      await banName(door.ctx, http.params.name, by);
      return reply.code(204).send();
    },
  );
}

interface OneOf {
  Params: { id: string };
}

function printKey(key: Awaited<ReturnType<typeof listKeys>>[number]): WireRevokedKey {
  return {
    id: key.id,
    name: key.name,
    scope: key.scope,
    person: key.person,
    self_respond: key.selfRespond,
    repos: key.repos && [...key.repos],
    created_at: timeText(key.createdAt),
    last_used_at: timeOrNull(key.usedAt),
    expires_at: timeOrNull(key.expiresAt),
    revoked_at: timeOrNull(key.revokedAt),
  };
}

/** Makes the key that a body describes; nothing shows its text again. */
async function makeKey(door: DoorContext, http: FastifyRequest): Promise<WireCreatedKey> {
  const by = await administrator(door, http);
  const { name, scope, person, expires_in_seconds, self_respond, repos } = http.body as NewKeyBody;
  const expiresInMs = expires_in_seconds === undefined ? undefined : expires_in_seconds * 1000;
  const owner = person === undefined ? undefined : personId(person);
  const input = { name, scope, person: owner, expiresInMs, selfRespond: self_respond, repos };
  const { text, key } = await createKey(door.ctx, input, by);
  return { ...printKey(key), key: text };
}

function personId(id: string): string {
  if (!isId(id)) throw new Refusal("person_not_found", { person: id });
  return id;
}

export const timeText = (ms: number): string => new Date(ms).toISOString();
const timeOrNull = (ms: number | null): string | null => (ms === null ? null : timeText(ms));
