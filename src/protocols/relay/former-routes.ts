import { z } from "zod";
import type { Ask, AskAnswer } from "../../asks/model/ask.ts";
import { isOver, JOB_STATES } from "../../asks/model/ask.ts";
import { listHistory } from "../../asks/read/read-ask.ts";
import { readWholeAsk } from "../../asks/read/all-asks.ts";
import { ErrorBody } from "../../wire/error.ts";
import { text } from "../../wire/fields.ts";
import { WireFormerReply } from "../../wire/relay/admin-view.ts";
import { RELAY_ID } from "../../wire/relay/fields.ts";
import { parseBody } from "../http/body.ts";
import type { Door, DoorContext, FastifyRequest } from "../http/door.ts";
import { jsonReply } from "../http/json-reply.ts";
import { cursorField, PAGE, pageAfter, placeText } from "../http/list-pages.ts";
import { administrator } from "../http/principals.ts";
import * as view from "./admin-view.ts";
import { followAsAdmin } from "./job-events.ts";
import { ADMIN, askIdOf, jobIdOf } from "./job-requests.ts";
import { answerWire, askWire, lateWire } from "./print.ts";

/** Former members in their order, each with the relay's own where that has another name. */
const ASK_LINE =
  "id=ask_id job=job_id step=step_id type=ask_type prompt by=asked_by status stage source answered_by error_code created_at ended_at";
const ASK =
  "id=ask_id job=job_id step=step_id type=ask_type prompt by=asked_by status stage stages epoch meta envelope=context_envelope role=role_id constraints context_hash joined_to decision_key consent_digest question_id created_at expires_at answer";
const ANSWER =
  "status source by answered_by text=answer_text json=answer_json artifacts error error_code ask_back policy_trace attestation cacheable truncated at=created_at";
const LATE = "by=answered_by status text=answer_text at";
const JOB_LINE = "id=job_id title kind state reason epoch external owner holder pending_asks created_at updated_at";
const JOB =
  "id=job_id title kind state reason epoch attempts external owner holder env repo labels priority max_attempts pending_asks artifacts spec result lease_until=lease_expires_at created_at updated_at ttl_until=expires_at seq";

const Of = z.object(cursorField);
const AskList = z.object({
  status: z.enum(["PENDING", "ANSWERED", "REJECTED", "TIMEOUT", "ERROR"]).optional(),
  ...cursorField,
});
const JobList = z.object({ state: z.enum(["open", "over"]).optional(), ...cursorField });
const Events = z.object({
  after: text(1, 15).describe("The number of the last event that is known.").optional(),
});

/**
 * Mounts the routes by which admins read asks and jobs before the relay's own showed them everything. Clients of this
 * major version may still read them; the next one drops them.
 */
export function formerRoutes(door: DoorContext, show: view.ShowRequest): (app: Door) => Promise<void> {
  return async (app) => {
    app.addHook("preValidation", async (http) => parseBody(http));
    askRoutes(app, door, show);
    jobRoutes(app, door);
  };
}

function askRoutes(app: Door, door: DoorContext, show: view.ShowRequest): void {
  app.get("/admin/asks", former("GET /asks?view=admin", AskList), async (http) => {
    const { asks, next_cursor: next = null, ...counts } = await view.askPage(door, http);
    return { asks: asks.map(formerAskLine), next, ...counts };
  });

  app.get("/admin/asks/:id", former("GET /asks/ID?view=admin"), async (http) => {
    await administrator(door, http);
    const { ask, answer, late, sharedBy } = await readWholeAsk(door.ctx, askIdOf(http), PAGE);
    return {
      ...formerAsk(ask, answer),
      late: late.items.map((one) => formerly(LATE, lateWire(one))),
      late_next: placeText(late.next),
      shared_by: sharedBy.items.map(({ id }) => id),
      shared_by_next: placeText(sharedBy.next),
      people: ask.addressedId && (await show(ask.addressedId)),
    };
  });

  app.get("/admin/asks/:id/late", former("GET /asks/ID/late", Of), async (http) => {
    const { late, next_cursor: next = null } = await view.latePage(door, http);
    return { late: late.map((one) => formerly(LATE, one)), next };
  });

  app.get("/admin/asks/:id/shared_by", former("GET /asks/ID/shared_by", Of), async (http) => {
    const { next_cursor: next = null, ...page } = await view.sharingPage(door, http);
    return { ...page, next };
  });
}

function jobRoutes(app: Door, door: DoorContext): void {
  app.get("/admin/jobs", former("GET /jobs?view=admin", JobList), async (http) => {
    const { jobs, next_cursor: next = null, open } = await view.jobPage(door, http, statesOf);
    return { jobs: jobs.map(formerJobLine), next, open };
  });

  app.get("/admin/jobs/:id", former("GET /jobs/ID?view=admin"), async (http) =>
    formerly(JOB, { labels: {}, artifacts: [], ...(await view.wholeJob(door, http)) }),
  );

  app.get("/admin/jobs/:id/asks", former("GET /jobs/ID/asks?view=admin", Of), async (http) => {
    await administrator(door, http);
    const { cursor } = http.query as { cursor?: string };
    const page = { ...pageAfter(cursor, RELAY_ID), limit: PAGE };
    const { asks, next } = await listHistory(door.ctx, jobIdOf(http), ADMIN, page);
    return { asks: asks.map(({ ask, answer }) => formerAsk(ask, answer)), next: placeText(next) };
  });

  app.get("/admin/jobs/:id/history", former("GET /jobs/ID/history", Of), async (http) => {
    const { events, next_cursor: next = null } = await view.historyPage(door, http);
    return { events, next };
  });

  app.get("/admin/jobs/:id/events", former("GET /jobs/ID/events?view=admin", Events), async (http, reply) =>
    followAsAdmin(door, http, reply),
  );
}

/** Returns the description of a route that repeats one of the relay's. */
function former(route: string, querystring = z.object({})): { schema: object } {
  const refused = { 400: ErrorBody, 401: ErrorBody, 403: ErrorBody, 404: ErrorBody };
  const response = { 200: jsonReply(WireFormerReply), ...refused };
  return {
    schema: { tags: ["administration"], deprecated: true, summary: `Formerly ${route}`, querystring, response },
  };
}

/** Returns a body of the relay with the former names, texts of times, and null for what is absent. */
function formerly(members: string, body: object): Readonly<Record<string, unknown>> {
  const given = new Map<string, unknown>(Object.entries(body));
  const entries = members.split(" ").map((member) => {
    const [name = "", own = name] = member.split("=");
    const value = given.get(own) ?? null;
    const isTime = typeof value === "number" && /^at$|_(at|until)$/.test(name);
    return [name, isTime ? new Date(value).toISOString() : value] as const;
  });
  return Object.fromEntries(entries);
}

export const formerAskLine = (line: object) => formerly(ASK_LINE, line);
export const formerJobLine = (line: object) => formerly(JOB_LINE, line);

function formerAsk(ask: Ask, answer: AskAnswer | null): object {
  const { principal, stages, decisionKey, questionId, constraints } = ask;
  return formerly(ASK, {
    meta: {},
    ...askWire(ask),
    asked_by: principal,
    stages,
    constraints,
    decision_key: decisionKey,
    question_id: questionId,
    answer:
      answer && formerly(ANSWER, { artifacts: [], truncated: false, by: answer.principal, ...answerWire(answer) }),
  });
}

function statesOf(http: FastifyRequest) {
  const { state } = http.query as { state?: "open" | "over" };
  return state && JOB_STATES.filter((one) => isOver(one) === (state === "over"));
}
