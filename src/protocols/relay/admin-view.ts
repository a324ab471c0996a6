import { readJobEvents } from "../../asks/jobs/follow-job.ts";
import { ASK_STATUSES, isOver, JOB_STATES, type JobState } from "../../asks/model/ask.ts";
import { readAsk } from "../../asks/read/read-ask.ts";
import { readAskOutcome } from "../../asks/outcome/report-ask-outcome.ts";
import { readJob } from "../../asks/jobs/read-job.ts";
import {
  countJobsIn,
  countWaiting,
  listAllAsks,
  listAllJobs,
  listLateAnswers,
  listSharedBy,
  readWholeAsk,
} from "../../asks/read/all-asks.ts";
import {
  WireJobHistoryPage,
  WireLateAnswerPage,
  WireSharingAskPage,
  type WireAskLinePage,
  type WireJobLinePage,
  type WireWholeJob,
} from "../../wire/relay/admin-view.ts";
import { RELAY_ID } from "../../wire/relay/fields.ts";
import type { Door, DoorContext, FastifyRequest } from "../http/door.ts";
import { PAGE, pageAfter, pageAfterNumber, placeText } from "../http/list-pages.ts";
import { administrator } from "../http/principals.ts";
import { queryTexts } from "../http/query.ts";
import { ADMIN, askIdOf, jobIdOf, statesOf } from "./job-requests.ts";
import {
  askLineWire,
  askOutcomeWire,
  jobEventWire,
  jobLineWire,
  lateWire,
  wholeAskWire,
  wholeJobWire,
} from "./print.ts";
import { queryChoice, queryNumber, routeOptions } from "./request.ts";

/** Shows a request to people, by its id, to somebody who is not asked. */
export type ShowRequest = (requestId: string) => Promise<object>;

type Of = { Params: { id: string } };

/** The states of a job that is not over. */
export const OPEN: readonly JobState[] = JOB_STATES.filter((state) => !isOver(state));

/** Mounts the lists beside an ask and a job that admins alone may read (spec/relay 5.1). */
export function adminRoutes(app: Door, door: DoorContext): void {
  app.get<Of>(
    "/asks/:id/late",
    routeOptions({ summary: "What was answered when an ask was over, the oldest first", reply: WireLateAnswerPage }),
    async (http) => latePage(door, http),
  );
  app.get<Of>(
    "/asks/:id/shared_by",
    routeOptions({ summary: "The asks that share an ask's answer, the oldest first", reply: WireSharingAskPage }),
    async (http) => sharingPage(door, http),
  );
  app.get<Of>(
    "/jobs/:id/history",
    routeOptions({ summary: "What happened to a job and is still kept, the newest first", reply: WireJobHistoryPage }),
    async (http) => historyPage(door, http),
  );
}

/** Returns a page of everybody's asks, the newest first. */
export async function askPage(door: DoorContext, http: FastifyRequest): Promise<WireAskLinePage> {
  await administrator(door, http);
  const status = queryChoice(http, "status", ASK_STATUSES);
  const found = await listAllAsks(door.ctx, { status, ...afterOf(http), limit: limitOf(http) });
  const { open, oldestMs } = await countWaiting(door.ctx);
  return { asks: found.items.map(askLineWire), ...nextOf(found), open, oldest_ms: oldestMs };
}

/** Returns the whole life of one ask. @throws {Refusal} `ask_not_found` */
export async function wholeAsk(door: DoorContext, http: FastifyRequest, show: ShowRequest): Promise<object> {
  await administrator(door, http);
  const history = await readWholeAsk(door.ctx, askIdOf(http), PAGE);
  const { addressedId } = history.ask;
  const outcome = await readAskOutcome(door.ctx, history);
  return {
    ...wholeAskWire(history),
    ...(outcome && { outcome: askOutcomeWire(outcome) }),
    ...(addressedId !== null && { people: await show(addressedId) }),
  };
}

/** Returns a page of what came too late for anybody's ask, the oldest first. @throws {Refusal} `ask_not_found` */
export async function latePage(door: DoorContext, http: FastifyRequest): Promise<WireLateAnswerPage> {
  await administrator(door, http);
  const skipped = pageAfterNumber(cursorIn(http)) ?? 0;
  const { ask } = await readAsk(door.ctx, askIdOf(http), ADMIN);
  const found = await listLateAnswers(door.ctx, ask.id, { skipped, limit: PAGE });
  return { late: found.items.map(lateWire), ...nextOf(found) };
}

/** Returns a page of the asks that share the answer of anybody's ask. @throws {Refusal} `ask_not_found` */
export async function sharingPage(door: DoorContext, http: FastifyRequest): Promise<WireSharingAskPage> {
  await administrator(door, http);
  const after = afterOf(http);
  const { ask } = await readAsk(door.ctx, askIdOf(http), ADMIN);
  const found = await listSharedBy(door.ctx, ask.id, { ...after, limit: PAGE });
  return { shared_by: found.items.map(({ id }) => id), ...nextOf(found) };
}

/** Returns a page of everybody's jobs, the newest first. */
export async function jobPage(
  door: DoorContext,
  http: FastifyRequest,
  statesIn: (http: FastifyRequest) => readonly JobState[] | undefined = statesOf,
): Promise<WireJobLinePage> {
  await administrator(door, http);
  const states = statesIn(http);
  const found = await listAllJobs(door.ctx, { states, ...afterOf(http), limit: limitOf(http) });
  return { jobs: found.items.map(jobLineWire), ...nextOf(found), open: await countJobsIn(door.ctx, OPEN) };
}

/** Returns anybody's job with all there is to know of it. @throws {Refusal} `job_not_found` */
export async function wholeJob(door: DoorContext, http: FastifyRequest): Promise<WireWholeJob> {
  await administrator(door, http);
  const { job, seq } = await readJob(door.ctx, jobIdOf(http), ADMIN);
  return wholeJobWire(job, seq);
}

/** Returns a page of what happened to a job, the newest first. @throws {Refusal} `job_not_found` */
export async function historyPage(door: DoorContext, http: FastifyRequest): Promise<WireJobHistoryPage> {
  await administrator(door, http);
  const before = pageAfterNumber(cursorIn(http));
  const { job } = await readJob(door.ctx, jobIdOf(http), ADMIN);
  const { events, next } = await readJobEvents(door.ctx, job.id, { ...(before && { before }), limit: PAGE });
  return { events: events.map(jobEventWire), ...nextOf({ next }) };
}

const limitOf = (http: FastifyRequest) => queryNumber(http, "limit", { min: 1, max: 100, usual: PAGE });
const afterOf = (http: FastifyRequest) => pageAfter(cursorIn(http), RELAY_ID);

/** Returns the cursor of a query, which is no page's next where it is empty or repeated. */
function cursorIn(http: FastifyRequest): string | undefined {
  const texts = queryTexts(http.query, "cursor");
  return texts.length === 0 ? undefined : texts.join();
}

function nextOf({ next }: { next: Parameters<typeof placeText>[0] }): { next_cursor?: string } {
  const text = placeText(next);
  return text === null ? {} : { next_cursor: text };
}
