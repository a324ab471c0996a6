import type { JsonObject } from "../../lib/json/json-body.ts";
import { addressProblem } from "../../lib/network/guarded-fetch.ts";
import { agentName } from "../../requests/model/view.ts";
import { DELIVERY_STATES, WEBHOOK_FORMATS, type WebhookFormat } from "../../notices/model/webhook-events.ts";
import type { ListPosition } from "../../core/model/list-page.ts";
import { Refusal } from "../../refusals.ts";
import * as verbs from "../../notices/webhook-endpoints.ts";
import type { EndpointInput, WebhookEndpoint, WebhookEvent } from "../../notices/webhook-endpoints.ts";
import type { DoorContext, FastifyRequest } from "../http/door.ts";
import { isFromHere } from "../http/reach.ts";
import { actorOf, callerFrom } from "./caller.ts";
import {
  BODY,
  checked,
  checkedBody,
  complain,
  given,
  read,
  readList,
  readMembers,
  type Place,
  type Problem,
} from "./fields.ts";
import { wireTime } from "./print.ts";
import { placeOf, queryText } from "../http/query.ts";
import { badQuery, bodyOf, queryNumber, routeOptions, type A2hRouteInfo, type Mount } from "./route.ts";
import {
  NewWebhookBody,
  WebhookChangeBody,
  WebhookReplayBody,
  WebhookTestBody,
  WireRepeatCount,
  WireWebhook,
  WireWebhookDeliveryPage,
  WireWebhookPage,
  WireWebhookTestReceipt,
  WireWebhookWithSecret,
  webhookEventsField,
  type WireWebhookDelivery,
} from "../../wire/webhook.ts";

interface WithId {
  Params: { id: string; event: string };
}

/** The webhook endpoints of agents, which receive the ends of their requests (spec/a2h 17). */
export function webhookRoutes(mount: Mount): void {
  const about: AboutRoute = (summary, more) => routeOptions(mount, { noun: "webhook endpoint", summary, ...more });
  endpointRoutes(mount, about);
  deliveryRoutes(mount, about);
}

type AboutRoute = (summary: string, more: Partial<A2hRouteInfo>) => ReturnType<typeof routeOptions>;

/** The endpoints themselves: making, looking at and changing them. */
function endpointRoutes({ app, door, prefix }: Mount, about: AboutRoute): void {
  const { ctx } = door;

  app.post(
    "/webhook_endpoints",
    about("Be told how requests end", {
      body: NewWebhookBody,
      reply: WireWebhookWithSecret,
      replies: { 201: "Its secret is shown this once" },
    }),
    async (http, reply): Promise<WireWebhookWithSecret> => {
      const { endpoint, secret } = await createEndpoint(door, http);
      reply.code(201).header("location", `${prefix}/webhook_endpoints/${endpoint.id}`);
      return { ...print(endpoint), secret };
    },
  );

  app.get("/webhook_endpoints", about("Where an agent is told", { reply: WireWebhookPage }), async (http) => {
    return endpointPage(door, http);
  });

  app.get<WithId>("/webhook_endpoints/:id", about("One endpoint", { reply: WireWebhook }), async (http) => {
    return print((await ownEndpoint(door, http)).endpoint);
  });

  app.patch<WithId>(
    "/webhook_endpoints/:id",
    about("Change an endpoint", { body: WebhookChangeBody, reply: WireWebhook }),
    async (http) => {
      const { endpoint, by } = await ownEndpoint(door, http);
      const body = bodyOf(http);
      const input = checked((problems) =>
        readEndpoint(door, http, { ...wireOf(endpoint), ...withoutNulls(body) }, problems),
      );
      return print(await verbs.changeEndpoint(ctx, { ...endpoint, ...input }, by));
    },
  );

  app.delete<WithId>(
    "/webhook_endpoints/:id",
    about("Be told no more", { writes: true, replies: { 204: "Gone" } }),
    async (http, reply) => {
      const { endpoint, by } = await ownEndpoint(door, http);
      await verbs.removeEndpoint(ctx, endpoint, by);
      return reply.code(204).send();
    },
  );

  app.post<WithId>(
    "/webhook_endpoints/:id/rotate_secret",
    about("A new secret; for a day the old one signs too", { writes: true, reply: WireWebhookWithSecret }),
    async (http): Promise<WireWebhookWithSecret> => {
      const { endpoint, by } = await ownEndpoint(door, http);
      return { ...print(endpoint), secret: await verbs.rotateSecret(ctx, endpoint, by) };
    },
  );
}

/** Testing an endpoint, listing its deliveries, and repeating them. */
function deliveryRoutes({ app, door }: Mount, about: AboutRoute): void {
  const { ctx } = door;

  app.post<WithId>(
    "/webhook_endpoints/:id/test",
    about("Be told something that did not happen", {
      body: WebhookTestBody,
      bodyOptional: true,
      reply: WireWebhookTestReceipt,
      replies: { 202: "It goes out" },
    }),
    async (http, reply) => {
      const { endpoint } = await ownEndpoint(door, http);
      const event = testEventIn(bodyOf(http), endpoint);
      const id = await verbs.sendTestEvent(ctx, endpoint, event);
      return reply.code(202).send({ id, event } satisfies WireWebhookTestReceipt);
    },
  );

  app.get<WithId>(
    "/webhook_endpoints/:id/deliveries",
    about("What was told there, newest first", { reply: WireWebhookDeliveryPage }),
    async (http) => {
      const { endpoint } = await ownEndpoint(door, http);
      return eventPage(door, http, endpoint);
    },
  );

  app.post<WithId>(
    "/webhook_endpoints/:id/deliveries/:event/retry",
    about("Be told this again", { writes: true, reply: WireRepeatCount, replies: { 202: "It goes out" } }),
    async (http, reply) => {
      const { endpoint } = await ownEndpoint(door, http);
      const count = await verbs.repeatWebhookEvents(ctx, endpoint, { id: http.params.event });
      return reply.code(202).send({ count } satisfies WireRepeatCount);
    },
  );

  app.post<WithId>(
    "/webhook_endpoints/:id/replay",
    about("Be told everything again since a time", {
      body: WebhookReplayBody,
      reply: WireRepeatCount,
      replies: { 202: "It goes out" },
    }),
    async (http, reply) => {
      const { endpoint } = await ownEndpoint(door, http);
      const { since } = checkedBody(WebhookReplayBody, bodyOf(http));
      const count = await verbs.repeatWebhookEvents(ctx, endpoint, { sinceMs: Date.parse(since) });
      return reply.code(202).send({ count } satisfies WireRepeatCount);
    },
  );
}

/** Returns the agent that asks; nobody for an admin, who may name any. @throws {Refusal} `scope_missing` */
async function callerOf(door: DoorContext, http: FastifyRequest) {
  const who = await callerFrom(door, http, ["agent", "admin"]);
  if (who.scope === "agent" && (who.isOpen || who.conversation !== null))
    throw new Refusal("scope_missing", { scope: "agent" });
  return { agent: who.scope === "agent" ? who.principal : undefined, by: actorOf(who) };
}

async function ownEndpoint(door: DoorContext, http: FastifyRequest<WithId>) {
  const { agent, by } = await callerOf(door, http);
  return { endpoint: await verbs.readEndpoint(door.ctx, http.params.id, agent), by };
}

/** Admins name the agent; agents ask for themselves. */
const NEW_ENDPOINT = NewWebhookBody.omit({ agent: true });
const OWNER = NewWebhookBody.pick({ agent: true }).required();

/** Reads what an endpoint shall be, of a body or of what it is with the body's members over it. */
function readEndpoint(
  { config }: DoorContext,
  http: FastifyRequest,
  body: JsonObject,
  problems: Problem[],
): EndpointInput | undefined {
  const found = readMembers(
    NEW_ENDPOINT,
    body,
    { loc: BODY, problems },
    {
      url: urlRule(config.webhooks.allow, isFromHere(config, http)),
      events: (value, place, { format }) => readList(webhookEventsField, value, place, eventRule(format)),
    },
  );
  const { url, format, events = [], description = "", enabled = true } = found;
  return url === undefined || format === undefined ? undefined : { url, format, events, description, enabled };
}

/** Checks an endpoint's address. A caller from elsewhere may not name an address of this computer. */
function urlRule(allow: DoorContext["config"]["webhooks"]["allow"], loopbackOnly: boolean) {
  return (value: unknown, place: Place): string | undefined => {
    const url = read(NEW_ENDPOINT.shape.url, value, place);
    const problem = url === undefined ? null : addressProblem(url, { allow, loopbackOnly });
    if (problem === null) return url;
    return complain(place.problems, place.loc, "pattern", `cannot be told anything: ${problem}`);
  };
}

/** Returns where a page begins, of a cursor that this server gave. @throws {Refusal} for any other */
function cursorOf(http: FastifyRequest): ListPosition | undefined {
  const cursor = queryText(http.query, "cursor");
  if (cursor === undefined) return undefined;
  const place = placeOf(cursor, ".");
  if (place && /^\w{1,80}$/.test(place.id)) return place;
  throw badQuery("cursor", "is not one of this server's");
}

/** Makes an endpoint of the agent that asks, or of the one whom an admin names. */
async function createEndpoint(door: DoorContext, http: FastifyRequest) {
  const { agent, by } = await callerOf(door, http);
  const body = bodyOf(http);
  const input = checked((problems) => readEndpoint(door, http, body, problems));
  const whose = agent ?? `agent:${checkedBody(OWNER, body).agent}`;
  return verbs.createEndpoint(door.ctx, whose, input, by);
}

/** Returns a page of the agent's own endpoints; for admins, of the agent's whom they name, or of all. */
async function endpointPage(door: DoorContext, http: FastifyRequest): Promise<WireWebhookPage> {
  const { agent } = await callerOf(door, http);
  const wanted = queryText(http.query, "agent");
  const whose = agent ?? (wanted === undefined ? undefined : `agent:${wanted}`);
  const limit = queryNumber(http, "limit", { min: 1, max: 200, usual: 100 });
  const { items, next } = await verbs.listEndpointsFrom(door.ctx, whose, {
    ...given({ after: cursorOf(http) }),
    limit,
  });
  return { items: items.map(print), ...(next && { next_cursor: cursorText(next) }) };
}

/** Returns the event that an endpoint is tried with: the one that is named, or the first of its format. */
function testEventIn(body: JsonObject, { format }: WebhookEndpoint): string {
  const { event } = checked((problems) =>
    readMembers(WebhookTestBody, body, { loc: BODY, problems }, { event: eventRule(format) }),
  );
  return event ?? WEBHOOK_FORMATS[format][0];
}

/** Returns a page of an endpoint's deliveries, of one state or of all. */
async function eventPage(
  { ctx }: DoorContext,
  http: FastifyRequest,
  endpoint: WebhookEndpoint,
): Promise<WireWebhookDeliveryPage> {
  const limit = queryNumber(http, "limit", { min: 1, max: 200, usual: 50 });
  const state = queryText(http.query, "state");
  const known = DELIVERY_STATES.find((one) => one === state);
  if (state !== undefined && !known) throw badQuery("state", `must be ${DELIVERY_STATES.join(" or ")}`);
  const events = await verbs.listWebhookEvents(ctx, endpoint, {
    ...given({ state: known }),
    ...given({ before: cursorOf(http) }),
    limit: limit + 1,
  });
  const shown = events.slice(0, limit);
  const last = events.length > limit ? shown.at(-1) : undefined;
  const next = last && { at: last.createdAt, id: last.id };
  return { items: shown.map(printEvent), ...(next && { next_cursor: cursorText(next) }) };
}

const cursorText = ({ at, id }: ListPosition): string => `${at}.${id}`;

/** An event of a format; the format's name may stand before it. */
function eventRule(format: WebhookFormat | undefined) {
  const known: readonly string[] =
    format === undefined ? Object.values(WEBHOOK_FORMATS).flat() : WEBHOOK_FORMATS[format];
  return (value: unknown, { loc, problems }: Place): string | undefined => {
    const name = typeof value === "string" ? value.replace(/^v1beta[123]\./, "") : "";
    return known.includes(name) ? name : complain(problems, loc, "pattern", `must be one of ${known.join(", ")}`);
  };
}

function withoutNulls(body: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null));
}

function wireOf({ url, format, events, description, enabled }: WebhookEndpoint) {
  return { url, format, events: [...events], description, enabled };
}

function print(endpoint: WebhookEndpoint): WireWebhook {
  const { id, agent, createdAt, failingSince, lastError } = endpoint;
  const failing = { failing_since: failingSince === null ? null : wireTime(failingSince), last_error: lastError };
  return { id, agent: agentName(agent), ...wireOf(endpoint), created_at: wireTime(createdAt), ...failing };
}

function printEvent({ id, event, state, attempt, status, error, createdAt, dueAt }: WebhookEvent): WireWebhookDelivery {
  return {
    id,
    event,
    state,
    attempts: attempt,
    created_at: wireTime(createdAt),
    ...given({ status: status ?? undefined, error: error ?? undefined }),
    ...(state === "pending" && { next_attempt_at: wireTime(dueAt) }),
  };
}
