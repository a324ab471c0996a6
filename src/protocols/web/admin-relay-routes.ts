import { z } from "zod";
import { JOB_STATES, type JobState } from "../../model/relay.ts";
import { refuseFields } from "../../model/field-problem.ts";
import { Refusal } from "../../refusals.ts";
import { followJob } from "../../verbs/follow-job.ts";
import { readAddressed, readDetails } from "../../verbs/read-addressed.ts";
import { readJob } from "../../verbs/read-job.ts";
import { listHistory } from "../../verbs/read-relay.ts";
import {
  followRelayNews,
  listAllAsks,
  listAllJobs,
  openHourFigures,
  readWholeAsk,
  type ListPlace,
} from "../../verbs/watch-relay.ts";
import type { Door, DoorContext, FastifyRequest } from "../door.ts";
import { parseBody } from "../door-body.ts";
import { fields, optional, textField, wordField } from "../door-fields.ts";
import { administrator, type Administrator } from "../door-principals.ts";
import { lastEventId, sendEvents } from "../door-sse.ts";
import * as wire from "./admin-relay-wire.ts";
import { ADMIN_REFUSALS } from "./admin-routes.ts";
import { wholeAsk } from "./inbox-wire.ts";

const PAGE = 50;
/** What an executor may call its jobs and asks; nothing else is in the store. */
const RELAY_ID = /^[A-Za-z0-9._:-]{1,128}$/;
/** Admins read everything, and nothing becomes theirs by it. */
const ADMIN = { principal: "", readsAll: true, isAdmin: true } as const;
/** Nobody: whoever looks on is asked for nothing. */
const ONLOOKER = { via: "web", person: null, identities: [], seesAll: false } as const;

const cursor = { cursor: optional(textField("cursor", 1, 160, { description: "`next` of the page before." })) };
const AskList = fields({
  status: optional(wordField("status", ["PENDING", "ANSWERED", "REJECTED", "TIMEOUT", "ERROR"])),
  ...cursor,
});
const JobList = fields({ state: optional(wordField("state", ["open", "over"])), ...cursor });
const OfJob = fields(cursor);
const Events = fields({
  after: optional(textField("after", 1, 15, { description: "The number of the last event that is known." })),
});

const Item = z.looseObject({});
const next = z.string().nullable();
const Refused = z.object({ error: z.object({ code: z.string(), message: z.string() }) });
const ONE = { ...ADMIN_REFUSALS, 404: Refused } as const;
const LIST = { 400: Refused, ...ADMIN_REFUSALS } as const;

const OVER: readonly JobState[] = ["SUCCEEDED", "FAILED", "CANCELED", "EXPIRED"];
const STATES = { over: OVER, open: JOB_STATES.filter((state) => !OVER.includes(state)) } as const;

interface OneOf {
  Params: { id: string };
}

/** What executors ask and how it goes, for admins: everybody's asks and jobs, each whole, and all of it as it happens. */
export function adminRelayRoutes(door: DoorContext): (app: Door) => Promise<void> {
  const { ctx, config } = door;
  const tags = ["administration"];
  const figures = openHourFigures(ctx);

  return async (app) => {
    app.addHook("preValidation", async (request) => parseBody(request));

    app.get(
      "/admin/asks",
      {
        schema: {
          ...{ tags, summary: "What executors asked, the newest first", querystring: AskList },
          response: { 200: z.object({ asks: z.array(Item), next }), ...LIST },
        },
      },
      async (request) => {
        await administrator(door, request);
        const { status, cursor: from } = request.query as z.output<typeof AskList>;
        const found = await listAllAsks(ctx, { ...(status && { status }), ...placeOf(from), limit: PAGE });
        return { asks: found.asks.map(wire.askLine), next: found.next && wire.placeText(found.next) };
      },
    );

    app.get<OneOf>(
      "/admin/asks/:id",
      {
        schema: {
          ...{ tags, summary: "The whole life of one ask: its stages, its answer, and what people made of it" },
          response: { 200: Item, ...ONE },
        },
      },
      async (request) => {
        await administrator(door, request);
        const { ask, answer, late, sharedBy } = await readWholeAsk(ctx, known(request, "request_not_found"));
        return {
          ...wire.askWhole(ask),
          answer: answer && wire.answerWhole(answer),
          late: late.map(wire.lateAnswer),
          shared_by: sharedBy,
          people: ask.addressedId === null ? null : await withPeople(ask.addressedId),
        };
      },
    );

    app.get(
      "/admin/jobs",
      {
        schema: {
          ...{ tags, summary: "Everybody's jobs, the newest first", querystring: JobList },
          response: { 200: z.object({ jobs: z.array(Item), next }), ...LIST },
        },
      },
      async (request) => {
        await administrator(door, request);
        const { state, cursor: from } = request.query as z.output<typeof JobList>;
        const states = state && { states: STATES[state] };
        const found = await listAllJobs(ctx, { ...states, ...placeOf(from), limit: PAGE });
        return { jobs: found.jobs.map(wire.jobLine), next: found.next && wire.placeText(found.next) };
      },
    );

    app.get<OneOf>(
      "/admin/jobs/:id",
      {
        schema: {
          ...{ tags, summary: "One job; `seq` is the number of its newest event" },
          response: { 200: Item, ...ONE },
        },
      },
      async (request) => {
        await administrator(door, request);
        const { job, seq } = await readJob(ctx, known(request, "job_not_found"), ADMIN);
        return { ...wire.jobWhole(job), seq };
      },
    );

    app.get<OneOf>(
      "/admin/jobs/:id/asks",
      {
        schema: {
          ...{ tags, summary: "What was asked in a job, with the answers, the oldest first", querystring: OfJob },
          response: { 200: z.object({ asks: z.array(Item), next }), ...LIST, 404: Refused },
        },
      },
      async (request) => {
        await administrator(door, request);
        const { cursor: from } = request.query as z.output<typeof OfJob>;
        const id = known(request, "job_not_found");
        const found = await listHistory(ctx, id, ADMIN, { ...placeOf(from), limit: PAGE });
        const asks = found.asks.map(({ ask, answer }) => ({
          ...wire.askWhole(ask),
          answer: answer && wire.answerWhole(answer),
        }));
        return { asks, next: found.next && wire.placeText(found.next) };
      },
    );

    app.get<OneOf>(
      "/admin/jobs/:id/events",
      {
        schema: {
          ...{
            tags,
            summary: "Follow a job (SSE), from after `Last-Event-ID`, or `after`, or now",
            querystring: Events,
          },
          response: { 400: Refused, ...ONE, 429: Refused },
        },
      },
      async (request, reply) => {
        const by = await administrator(door, request);
        const { job } = await readJob(ctx, known(request, "job_not_found"), ADMIN);
        const since = lastEventId(request) ?? numberOf((request.query as z.output<typeof Events>).after);
        using _place = door.parked.park("admin streams", by.id, config.limits.humanStreams);
        await sendEvents(door, request, reply, async function* (signal) {
          for await (const news of followJob(ctx, job.id, { signal, ...(since !== undefined && { since }) })) {
            if (!(await isStill(request, by))) return;
            const { event, data } = wire.jobNews(news);
            yield { event, id: String(news.seq), data: JSON.stringify(data) };
          }
        });
        return reply;
      },
    );

    app.get(
      "/admin/live",
      {
        schema: {
          ...{ tags, summary: "The newest asks and jobs and the last hour's figures, whenever they change (SSE)" },
          response: { ...ADMIN_REFUSALS, 429: Refused },
        },
      },
      async (request, reply) => {
        const by = await administrator(door, request);
        using _place = door.parked.park("admin streams", by.id, config.limits.humanStreams);
        await sendEvents(door, request, reply, async function* (signal) {
          for await (const news of followRelayNews(ctx, figures, signal)) {
            if (!(await isStill(request, by))) return;
            yield { event: news.kind, data: JSON.stringify(wire.relayNews(news)) };
          }
        });
        return reply;
      },
    );

    async function withPeople(addressedId: string): Promise<object> {
      const asked = await readAddressed(ctx, addressedId);
      return wholeAsk(asked, await readDetails(ctx, asked), ONLOOKER, ctx.clock.now());
    }

    /** Whoever is no admin any more hears nothing more. */
    async function isStill(request: FastifyRequest, by: Administrator): Promise<boolean> {
      return (await administrator(door, request).catch(() => null))?.id === by.id;
    }
  };
}

function known(request: FastifyRequest, missing: "request_not_found" | "job_not_found"): string {
  const { id } = request.params as OneOf["Params"];
  if (!RELAY_ID.test(id)) throw new Refusal(missing);
  return id;
}

function numberOf(after: string | undefined): number | undefined {
  if (after === undefined || /^\d+$/.test(after)) return after === undefined ? undefined : Number(after);
  throw refuseFields([{ message: "after is not an event's number", field: "after", constraint: "format" }]);
}

function placeOf(cursor: string | undefined): { after?: ListPlace } {
  if (cursor === undefined) return {};
  const [, at, id = ""] = /^(\d{1,15})_(.*)$/.exec(cursor) ?? [];
  if (at !== undefined && RELAY_ID.test(id)) return { after: { at: Number(at), id } };
  throw refuseFields([{ message: "cursor is not a page's next", field: "cursor", constraint: "format" }]);
}
