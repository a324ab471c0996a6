import { addressProblem } from "../../lib/guarded-fetch.ts";
import { agentName } from "../../model/ask-view.ts";
import { WEBHOOK_FORMATS, type WebhookFormat } from "../../model/webhook-events.ts";
import { Refusal } from "../../refusals.ts";
import * as verbs from "../../verbs/webhook-endpoints.ts";
import type { EndpointWish, WebhookEndpoint, WebhookEvent } from "../../verbs/webhook-endpoints.ts";
import type { FastifyRequest } from "../door.ts";
import { actorOf, callerFrom } from "./caller.ts";
import {
  checked,
  complain,
  flag,
  given,
  list,
  optional,
  required,
  text,
  word,
  type JsonObject,
  type Loc,
  type Problem,
  type Rule,
} from "./fields.ts";
import { wireTime } from "./print.ts";
import { queryText } from "../door-query.ts";
import { badQuery, bodyOf, queryNumber, routeOptions, type About, type Mount } from "./route.ts";

interface WithId {
  Params: { id: string; event: string };
}

const BODY: Loc = ["body"];
const FORMATS = Object.keys(WEBHOOK_FORMATS) as [WebhookFormat, ...WebhookFormat[]];
const STATES = ["pending", "delivered", "dead"] as const;

/** Where agents are told how their requests ended (contract-a2h.md, section 17). */
export function webhookRoutes(mount: Mount): void {
  const { app, door, prefix } = mount;
  const { ctx, config } = door;
  const about = (summary: string, more: Partial<About> = {}) =>
    routeOptions(mount, { noun: "webhook endpoint", summary, ...more });

  app.post(
    "/webhook_endpoints",
    about("Be told how requests end", { body: "endpoint", replies: { 201: "Its secret is shown this once" } }),
    async (request, reply) => {
      const { agent, by } = await caller(request);
      const body = bodyOf(request);
      const wish = checked((problems) => readWish(body, problems));
      const named = checked((problems) => ({
        agent: agent ?? required(body, "agent", text({ min: 1, max: 128 }), BODY, problems),
      }));
      const whose = agent ?? `agent:${String(named.agent)}`;
      const { endpoint, secret } = await verbs.createEndpoint(ctx, whose, wish, by);
      reply.code(201).header("location", `${prefix}/webhook_endpoints/${endpoint.id}`);
      return { ...print(endpoint), secret };
    },
  );

  app.get("/webhook_endpoints", about("Where an agent is told"), async (request) => {
    const { agent } = await caller(request);
    const wanted = queryText(request.query, "agent");
    const whose = agent ?? (wanted === undefined ? undefined : `agent:${wanted}`);
    return { items: (await verbs.listEndpoints(ctx, whose)).map(print) };
  });

  app.get<WithId>("/webhook_endpoints/:id", about("One endpoint"), async (request) => {
    return print((await own(request)).endpoint);
  });

  app.patch<WithId>("/webhook_endpoints/:id", about("Change an endpoint", { body: "endpoint" }), async (request) => {
    const { endpoint, by } = await own(request);
    const body = bodyOf(request);
    const wish = checked((problems) => readWish({ ...wireOf(endpoint), ...withoutNulls(body) }, problems));
    return print(await verbs.changeEndpoint(ctx, { ...endpoint, ...wish }, by));
  });

  app.delete<WithId>(
    "/webhook_endpoints/:id",
    about("Be told no more", { writes: true, replies: { 204: "Gone" } }),
    async (request, reply) => {
      const { endpoint, by } = await own(request);
      await verbs.removeEndpoint(ctx, endpoint, by);
      return reply.code(204).send();
    },
  );

  app.post<WithId>(
    "/webhook_endpoints/:id/rotate_secret",
    about("A new secret; for a day the old one signs too", { writes: true }),
    async (request) => {
      const { endpoint, by } = await own(request);
      return { ...print(endpoint), secret: await verbs.rotateSecret(ctx, endpoint, by) };
    },
  );

  app.post<WithId>(
    "/webhook_endpoints/:id/test",
    about("Be told something that did not happen", {
      body: "test",
      bodyOptional: true,
      replies: { 202: "It goes out" },
    }),
    async (request, reply) => {
      const { endpoint } = await own(request);
      const body = bodyOf(request);
      const event = checked((problems) => ({
        name:
          optional(body, "event", eventRule(endpoint.format), BODY, problems) ?? WEBHOOK_FORMATS[endpoint.format][0],
      })).name;
      const id = await verbs.sendTestEvent(ctx, endpoint, event);
      return reply.code(202).send({ id, event });
    },
  );

  app.get<WithId>("/webhook_endpoints/:id/deliveries", about("What was told there, newest first"), async (request) => {
    const { endpoint } = await own(request);
    const limit = queryNumber(request, "limit", { min: 1, max: 200, usual: 50 });
    const state = queryText(request.query, "state");
    const known = STATES.find((one) => one === state);
    if (state !== undefined && !known) throw badQuery("state", `must be ${STATES.join(" or ")}`);
    const cursor = queryText(request.query, "cursor");
    const [, at, id] = /^(\d{1,15})\.(\w{1,80})$/.exec(cursor ?? "") ?? [];
    if (cursor !== undefined && id === undefined) throw badQuery("cursor", "is not one of this server's");
    const before = id === undefined ? {} : { before: { at: Number(at), id } };
    const events = await verbs.listWebhookEvents(ctx, endpoint, {
      ...given({ state: known }),
      ...before,
      limit: limit + 1,
    });
    const shown = events.slice(0, limit);
    const last = events.length > limit ? shown.at(-1) : undefined;
    return { items: shown.map(printEvent), ...(last && { next_cursor: `${last.createdAt}.${last.id}` }) };
  });

  app.post<WithId>(
    "/webhook_endpoints/:id/deliveries/:event/retry",
    about("Be told this again", { writes: true, replies: { 202: "It goes out" } }),
    async (request, reply) => {
      const { endpoint } = await own(request);
      return reply
        .code(202)
        .send({ count: await verbs.repeatWebhookEvents(ctx, endpoint, { id: request.params.event }) });
    },
  );

  app.post<WithId>(
    "/webhook_endpoints/:id/replay",
    about("Be told everything again since a time", { body: "replay", replies: { 202: "It goes out" } }),
    async (request, reply) => {
      const { endpoint } = await own(request);
      const body = bodyOf(request);
      const { since } = checked((problems) => ({ since: required(body, "since", time, BODY, problems) ?? 0 }));
      return reply.code(202).send({ count: await verbs.repeatWebhookEvents(ctx, endpoint, { sinceMs: since }) });
    },
  );

  async function caller(request: FastifyRequest) {
    const who = await callerFrom(door, request, ["agent", "admin"]);
    if (who.scope === "agent" && (who.isOpen || who.conversation !== null))
      throw new Refusal("scope_missing", { scope: "agent" });
    return { agent: who.scope === "agent" ? who.principal : undefined, by: actorOf(who) };
  }

  async function own(request: FastifyRequest<WithId>) {
    const { agent, by } = await caller(request);
    return { endpoint: await verbs.readEndpoint(ctx, request.params.id, agent), by };
  }

  function readWish(body: JsonObject, problems: Problem[]): EndpointWish | undefined {
    const url = required(body, "url", urlRule, BODY, problems);
    const format = required(body, "format", word(FORMATS), BODY, problems);
    const events = optional(body, "events", list(eventRule(format), { max: 20 }), BODY, problems);
    const description = optional(body, "description", text({ max: 500 }), BODY, problems);
    const enabled = optional(body, "enabled", flag, BODY, problems);
    if (url === undefined || format === undefined) return undefined;
    return { url, format, events: events ?? [], description: description ?? "", enabled: enabled ?? true };
  }

  function urlRule(value: unknown, loc: Loc, problems: Problem[]): string | undefined {
    const url = text({ max: 2048 })(value, loc, problems);
    const rules = { allow: config.webhooks.allow, loopbackOnly: config.loopbackOnly };
    const problem = url === undefined ? null : addressProblem(url, rules);
    return problem === null ? url : complain(problems, loc, "pattern", `cannot be told anything: ${problem}`);
  }
}

/** An event of a format; the format's name may stand before it. */
function eventRule(format: WebhookFormat | undefined): Rule<string> {
  return (value, loc, problems) => {
    const known: readonly string[] =
      format === undefined ? Object.values(WEBHOOK_FORMATS).flat() : WEBHOOK_FORMATS[format];
    const name = typeof value === "string" ? value.replace(/^v1beta[123]\./, "") : "";
    return known.includes(name) ? name : complain(problems, loc, "pattern", `must be one of ${known.join(", ")}`);
  };
}

const time: Rule<number> = (value, loc, problems) => {
  const at = typeof value === "string" && /^\d{4}-\d{2}-\d{2}T/.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(at) ? complain(problems, loc, "pattern", "must be a time such as 2026-11-20T10:00:00Z") : at;
};

function withoutNulls(body: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null));
}

function wireOf({ url, format, events, description, enabled }: WebhookEndpoint) {
  return { url, format, events, description, enabled };
}

function print(endpoint: WebhookEndpoint): object {
  const { id, agent, createdAt } = endpoint;
  return { id, agent: agentName(agent), ...wireOf(endpoint), created_at: wireTime(createdAt) };
}

function printEvent({ id, event, state, attempt, status, error, createdAt, dueAt }: WebhookEvent): object {
  return {
    ...{ id, event, state, attempts: attempt, created_at: wireTime(createdAt) },
    ...given({ status: status ?? undefined, error: error ?? undefined }),
    ...(state === "pending" && { next_attempt_at: wireTime(dueAt) }),
  };
}
