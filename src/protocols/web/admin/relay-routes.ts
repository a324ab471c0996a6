import { z } from "zod";
import { JOB_STATES, type JobState } from "../../../asks/model/ask.ts";
import { followJob } from "../../../asks/follow-job.ts";
import { readRequest, readDetails } from "../../../requests/read.ts";
import { storeNow } from "../../../core/store-now.ts";
import { readJob } from "../../../asks/read-job.ts";
import { listHistory } from "../../../asks/read.ts";
import {
  countJobsIn,
  countWaiting,
  followRelayNews,
  listAllAsks,
  listAllJobs,
  openHourFigures,
  readWholeAsk,
} from "../../../asks/watch.ts";
import type { Door, DoorContext } from "../../http/door.ts";
import { parseBody } from "../../http/body.ts";
import {
  WireAdminAsk,
  WireAdminAskPage,
  WireAdminJob,
  WireAdminJobAskPage,
  WireAdminJobPage,
} from "../../../wire/relay/admin.ts";
import { fields, optional, textField, wordField } from "../../../wire/fields.ts";
import type { WireAskToPeople } from "../../../wire/inbox.ts";
import { sendToAdmin } from "../../http/admin-stream.ts";
import { jsonReply } from "../../http/json-reply.ts";
import { administrator } from "../../http/principals.ts";
import { sinceOf } from "../../http/sse.ts";
import { cursorField, PAGE, pageAfter, placeText } from "./list-pages.ts";
import { ADMIN, adminRelayPages, known, type OneOf, RELAY_ID } from "./relay-lists.ts";
import * as wire from "./print-relay.ts";
import { ADMIN_REFUSALS } from "./access-routes.ts";
import { wholeRequest, type WithArguments } from "../inbox/wire.ts";
import { ErrorBody } from "../../../wire/error.ts";

/** Nobody: whoever looks on is asked for nothing. */
const ONLOOKER = { via: "web", person: null, identities: [], seesAll: false } as const;

const AskList = fields({
  status: optional(wordField("status", ["PENDING", "ANSWERED", "REJECTED", "TIMEOUT", "ERROR"])),
  ...cursorField,
});
const JobList = fields({ state: optional(wordField("state", ["open", "over"])), ...cursorField });
const Of = fields(cursorField);
const Events = fields({
  after: optional(textField("after", 1, 15, { description: "The number of the last event that is known." })),
});

const ONE = { ...ADMIN_REFUSALS, 404: ErrorBody } as const;
const LIST = { 400: ErrorBody, ...ADMIN_REFUSALS } as const;

const OVER: readonly JobState[] = ["SUCCEEDED", "FAILED", "CANCELED", "EXPIRED"];
const STATES = { over: OVER, open: JOB_STATES.filter((state) => !OVER.includes(state)) } as const;

/** Mounts the admin's routes of everybody's asks and jobs: each in full, and a stream of all of them as they change. */
export function adminRelayRoutes(door: DoorContext): (app: Door) => Promise<void> {
  return async (app) => {
    app.addHook("preValidation", async (request) => parseBody(request));
    askRoutes(app, door);
    jobRoutes(app, door);
    jobStream(app, door);
    adminRelayPages(door, app);
    liveStream(app, door);
  };
}

const tags = ["administration"];

/** Mounts the routes of executors' asks. */
function askRoutes(app: Door, door: DoorContext): void {
  const { ctx } = door;

  app.get(
    "/admin/asks",
    {
      schema: {
        tags,
        summary: "What executors asked, the newest first",
        querystring: AskList,
        response: { 200: jsonReply(WireAdminAskPage), ...LIST },
      },
    },
    async (request) => {
      await administrator(door, request);
      const { status, cursor: from } = request.query as z.output<typeof AskList>;
      const found = await listAllAsks(ctx, { ...(status && { status }), ...pageAfter(from, RELAY_ID), limit: PAGE });
      const { open, oldestMs } = await countWaiting(ctx);
      const page = { asks: found.items.map(wire.askLine), next: placeText(found.next) };
      return { ...page, open, oldest_ms: oldestMs } satisfies WireAdminAskPage;
    },
  );

  app.get<OneOf>(
    "/admin/asks/:id",
    {
      schema: {
        tags,
        summary: "The whole life of one ask: its stages, its answer, and what people made of it",
        response: { 200: jsonReply(WireAdminAsk), ...ONE },
      },
    },
    async (request) => {
      await administrator(door, request);
      const { ask, answer, late, sharedBy } = await readWholeAsk(ctx, known(request, "request_not_found"), PAGE);
      const whole: WithArguments<WireAdminAsk> = {
        ...wire.askWhole(ask, answer),
        late: late.items.map(wire.lateAnswer),
        late_next: placeText(late.next),
        shared_by: sharedBy.items.map(({ id }) => id),
        shared_by_next: placeText(sharedBy.next),
        people: ask.addressedId === null ? null : await withPeople(door, ask.addressedId),
      };
      return whole;
    },
  );
}

/** Jobs, and what was asked in them. */
function jobRoutes(app: Door, door: DoorContext): void {
  const { ctx } = door;

  app.get(
    "/admin/jobs",
    {
      schema: {
        tags,
        summary: "Everybody's jobs, the newest first",
        querystring: JobList,
        response: { 200: jsonReply(WireAdminJobPage), ...LIST },
      },
    },
    async (request) => {
      await administrator(door, request);
      const { state, cursor: from } = request.query as z.output<typeof JobList>;
      const states = state && { states: STATES[state] };
      const found = await listAllJobs(ctx, { ...states, ...pageAfter(from, RELAY_ID), limit: PAGE });
      const open = await countJobsIn(ctx, STATES.open);
      return { jobs: found.items.map(wire.jobLine), next: placeText(found.next), open } satisfies WireAdminJobPage;
    },
  );

  app.get<OneOf>(
    "/admin/jobs/:id",
    {
      schema: {
        tags,
        summary: "One job; `seq` is the number of its newest event",
        response: { 200: jsonReply(WireAdminJob), ...ONE },
      },
    },
    async (request) => {
      await administrator(door, request);
      const { job, seq } = await readJob(ctx, known(request, "job_not_found"), ADMIN);
      return wire.jobWhole(job, seq);
    },
  );

  app.get<OneOf>(
    "/admin/jobs/:id/asks",
    {
      schema: {
        tags,
        summary: "What was asked in a job, with the answers, the oldest first",
        querystring: Of,
        response: { 200: jsonReply(WireAdminJobAskPage), ...LIST, 404: ErrorBody },
      },
    },
    async (request) => {
      await administrator(door, request);
      const { cursor: from } = request.query as z.output<typeof Of>;
      const id = known(request, "job_not_found");
      const found = await listHistory(ctx, id, ADMIN, { ...pageAfter(from, RELAY_ID), limit: PAGE });
      const asks = found.asks.map(({ ask, answer }) => wire.askWhole(ask, answer));
      return { asks, next: placeText(found.next) } satisfies WireAdminJobAskPage;
    },
  );
}

/** One job as it goes on. */
function jobStream(app: Door, door: DoorContext): void {
  const { ctx } = door;

  app.get<OneOf>(
    "/admin/jobs/:id/events",
    {
      schema: {
        tags,
        summary: "Follow a job (SSE), from after `Last-Event-ID`, or `after`, or now",
        querystring: Events,
        response: { 400: ErrorBody, ...ONE, 429: ErrorBody },
      },
    },
    async (request, reply) => {
      const by = await administrator(door, request);
      const { job } = await readJob(ctx, known(request, "job_not_found"), ADMIN);
      const since = sinceOf(request);
      return sendToAdmin(door, { request, reply, by }, async function* (signal) {
        for await (const news of followJob(ctx, job.id, { signal, ...since })) {
          const { event, data } = wire.jobNews(news);
          yield { event, id: String(news.seq), data: JSON.stringify(data) };
        }
      });
    },
  );
}

/** Everything as it happens. */
function liveStream(app: Door, door: DoorContext): void {
  const { ctx } = door;
  const figures = openHourFigures(ctx);

  app.get(
    "/admin/live",
    {
      schema: {
        tags,
        summary: "The newest asks and jobs and the last hour's figures, whenever they change (SSE)",
        response: { ...ADMIN_REFUSALS, 429: ErrorBody },
      },
    },
    async (request, reply) => {
      const by = await administrator(door, request);
      return sendToAdmin(door, { request, reply, by }, async function* (signal) {
        for await (const news of followRelayNews(ctx, figures, signal)) {
          yield { event: news.kind, data: JSON.stringify(wire.relayNews(news)) };
        }
      });
    },
  );
}

/** Returns what people were asked for an executor's ask, as it is shown to somebody who is not asked. */
async function withPeople({ ctx }: DoorContext, addressedId: string): Promise<WithArguments<WireAskToPeople>> {
  const asked = await readRequest(ctx, addressedId);
  return wholeRequest(asked, await readDetails(ctx, asked), {
    who: ONLOOKER,
    now: await storeNow(ctx.db),
    language: "en",
  });
}
