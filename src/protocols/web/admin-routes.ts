import { z } from "zod";
import { SCOPES } from "../../lib/key-text.ts";
import { signInAddress } from "../../access/model/sign-in-address.ts";
import { Refusal } from "../../refusals.ts";
import { changeRole } from "../../access/change-role.ts";
import { createKey } from "../../access/create-key.ts";
import { createSignInLink } from "../../access/create-sign-in-link.ts";
import { endSessions } from "../../access/end-sessions.ts";
import { listKeys } from "../../access/list-keys.ts";
import { listPeopleAndSessions } from "../../access/list-people.ts";
import { revokeKey } from "../../access/revoke-key.ts";
import type { Door, DoorContext, FastifyRequest } from "../http/door.ts";
import { parseBody } from "../http/body.ts";
import {
  booleanField,
  checkedField,
  fields,
  idField,
  integerField,
  optional,
  textField,
  wordField,
} from "../../wire/fields.ts";
import { isId } from "../http/ids.ts";
import { administrator } from "../http/principals.ts";

const YEAR_S = 366 * 86_400;

const NewRole = fields({ role: wordField("role", ["admin", "member"]) });

const NewKey = fields({
  name: textField("name", 1, 128, { description: "What it is issued for; several keys may share one." }),
  scope: wordField("scope", SCOPES),
  person: optional(idField("person")),
  expires_in_seconds: optional(
    integerField("expires_in_seconds", 60, 10 * YEAR_S, { description: "Left out, it is good until revoked." }),
  ),
  self_respond: optional(booleanField("self_respond", { description: "An agent key that may answer itself." })),
  repos: optional(
    checkedField<string[]>(
      { type: "array", items: { type: "string" }, description: "The repositories an assign key is good for." },
      (value) =>
        Array.isArray(value) && value.every((name) => typeof name === "string")
          ? null
          : { message: "repos must be a list of names", field: "repos", constraint: "type" },
    ),
  ),
});

const Person = z.object({
  id: z.string().meta({ description: "The number that names the person at every door, as GET /humans has it." }),
  name: z.string(),
  role: z.enum(["admin", "member"]),
  sessions: z.number().int(),
  operator: z.boolean().meta({ description: "Runs this server: stays an admin, and cannot be removed." }),
});
const time = z.string().nullable();
const KEY = {
  id: z.string(),
  name: z.string(),
  scope: z.enum(SCOPES),
  person: z.string().nullable(),
  repos: z.array(z.string()).nullable(),
  self_respond: z.boolean(),
  created_at: z.string(),
  last_used_at: time,
  expires_at: time,
  revoked_at: time,
};
const Key = z.object(KEY);
const Refused = z.object({ error: z.object({ code: z.string(), message: z.string() }) });

/** What every administrative route may decline. */
export const ADMIN_REFUSALS = { 401: Refused, 403: Refused } as const;
const withInput = { 400: Refused, ...ADMIN_REFUSALS, 404: Refused } as const;

/**
 * Who may come in: people's roles, sign-in links and sessions, and keys. For a signed-in admin or an `admin` key; what is
 * written down of a person, and how they are reached, stands at the A2H door.
 */
export function adminRoutes(door: DoorContext): (app: Door) => Promise<void> {
  return async (app) => {
    app.addHook("preValidation", async (request) => parseBody(request));
    peopleRoutes(app, door);
    sessionRoutes(app, door);
    keyRoutes(app, door);
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
        response: { 200: z.object({ people: z.array(Person) }), ...ADMIN_REFUSALS },
      },
    },
    async (request) => {
      await administrator(door, request);
      const people = await listPeopleAndSessions(ctx);
      return {
        people: people.map(({ isOperator, formerId: _, ...person }) => ({ ...person, operator: isOperator })),
      };
    },
  );

  app.patch<OneOf>(
    "/admin/people/:id",
    {
      config: { takesBody: true },
      schema: {
        tags: ["administration"],
        summary: "Change a person's role; a former admin's admin keys end",
        body: NewRole,
        response: { 200: Person.pick({ id: true, name: true, role: true }), ...withInput },
      },
    },
    async (request) => {
      const by = await administrator(door, request);
      const { role } = request.body as z.output<typeof NewRole>;
      return changeRole(ctx, { person: personId(request.params.id), role }, by);
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
        response: { 201: z.object({ url: z.string(), expires_at: z.string() }), ...ADMIN_REFUSALS, 404: Refused },
      },
    },
    async (request, reply) => {
      const by = await administrator(door, request);
      const { code, person, expiresAt } = await createSignInLink(ctx, personId(request.params.id), by);
      const url = signInAddress(config.publicUrl, person.role, code);
      return reply.code(201).send({ url, expires_at: timeText(expiresAt) });
    },
  );

  app.delete<OneOf>(
    "/admin/people/:id/sessions",
    {
      schema: {
        tags: ["administration"],
        summary: "Sign a person out everywhere",
        response: { 204: z.null(), ...ADMIN_REFUSALS, 404: Refused },
      },
    },
    async (request, reply) => {
      const by = await administrator(door, request);
      await endSessions(ctx, personId(request.params.id), by);
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
        response: { 200: z.object({ keys: z.array(Key) }), ...ADMIN_REFUSALS },
      },
    },
    async (request) => {
      await administrator(door, request);
      return { keys: (await listKeys(ctx)).map(printKey) };
    },
  );

  app.post(
    "/admin/keys",
    {
      config: { takesBody: true },
      schema: {
        tags: ["administration"],
        summary: "Make a key; its text is shown this once",
        body: NewKey,
        response: { 201: z.object({ ...KEY, key: z.string() }), ...withInput },
      },
    },
    async (request, reply) => reply.code(201).send(await makeKey(door, request)),
  );

  app.delete<OneOf>(
    "/admin/keys/:id",
    {
      schema: {
        tags: ["administration"],
        summary: "Revoke a key: the next request with it is refused",
        response: { 200: Key, ...ADMIN_REFUSALS, 404: Refused },
      },
    },
    async (request) => {
      const by = await administrator(door, request);
      const { id } = request.params;
      if (!isId(id)) throw new Refusal("key_not_found", { id });
      return printKey(await revokeKey(ctx, id, by));
    },
  );
}

interface OneOf {
  Params: { id: string };
}

type Key = Awaited<ReturnType<typeof listKeys>>[number];

function printKey(key: Key): z.output<typeof Key> {
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
async function makeKey(door: DoorContext, request: FastifyRequest) {
  const by = await administrator(door, request);
  const { name, scope, person, expires_in_seconds, self_respond, repos } = request.body as z.output<typeof NewKey>;
  const expiresInMs = expires_in_seconds === undefined ? undefined : expires_in_seconds * 1000;
  const owner = person === undefined ? undefined : personId(person);
  const wish = { name, scope, person: owner, expiresInMs, selfRespond: self_respond, repos };
  const { text, key } = await createKey(door.ctx, wish, by);
  return { ...printKey(key), key: text };
}

function personId(id: string): string {
  if (!isId(id)) throw new Refusal("person_not_found", { person: id });
  return id;
}

export const timeText = (ms: number): string => new Date(ms).toISOString();
const timeOrNull = (ms: number | null): string | null => (ms === null ? null : timeText(ms));
