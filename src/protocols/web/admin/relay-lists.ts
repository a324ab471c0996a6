import { z } from "zod";
import { Refusal } from "../../../refusals.ts";
import { readJobEvents } from "../../../asks/follow-job.ts";
import { readJob } from "../../../asks/read-job.ts";
import { readAsk } from "../../../asks/read.ts";
import { listLateAnswers, listSharedBy } from "../../../asks/watch.ts";
import type { Door, DoorContext, FastifyRequest } from "../../http/door.ts";
import { WireJobHistoryPage, WireLateAnswerPage, WireSharingAskPage } from "../../../wire/relay/admin.ts";
import { fields } from "../../../wire/fields.ts";
import { jsonReply } from "../../http/json-reply.ts";
import { administrator } from "../../http/principals.ts";
import { cursorField, PAGE, pageAfter, pageAfterNumber, placeText } from "./list-pages.ts";
import { jobEvent, lateAnswer } from "./print-relay.ts";
import { ADMIN_REFUSALS } from "./access-routes.ts";
import { ErrorBody } from "../../../wire/error.ts";

/** The form of an executor's ids for jobs and asks. The store holds no others. */
export const RELAY_ID = /^[A-Za-z0-9._:-]{1,128}$/;
/** Admins read everything, and nothing becomes theirs by it. */
export const ADMIN = { principal: "", readsAll: true, isAdmin: true } as const;

export interface OneOf {
  Params: { id: string };
}

const tags = ["administration"];
const Of = fields(cursorField);
const LIST = { 400: ErrorBody, ...ADMIN_REFUSALS, 404: ErrorBody } as const;

/** Lists of one ask and of one job that may be longer than a page, each to its end. */
export function adminRelayPages(door: DoorContext, app: Door): void {
  const { ctx } = door;

  app.get<OneOf>(
    "/admin/asks/:id/late",
    {
      schema: {
        tags,
        summary: "What was answered when an ask was over, the oldest first",
        querystring: Of,
        response: { 200: jsonReply(WireLateAnswerPage), ...LIST },
      },
    },
    async (request) => {
      await administrator(door, request);
      const skipped = pageAfterNumber((request.query as z.output<typeof Of>).cursor) ?? 0;
      const { ask } = await readAsk(ctx, known(request, "request_not_found"), ADMIN);
      const found = await listLateAnswers(ctx, ask.id, { skipped, limit: PAGE });
      return { late: found.items.map(lateAnswer), next: placeText(found.next) } satisfies WireLateAnswerPage;
    },
  );

  app.get<OneOf>(
    "/admin/asks/:id/shared_by",
    {
      schema: {
        tags,
        summary: "The ids of asks that share an ask's answer, the oldest first",
        querystring: Of,
        response: { 200: jsonReply(WireSharingAskPage), ...LIST },
      },
    },
    async (request) => {
      await administrator(door, request);
      const from = pageAfter((request.query as z.output<typeof Of>).cursor, RELAY_ID);
      const { ask } = await readAsk(ctx, known(request, "request_not_found"), ADMIN);
      const found = await listSharedBy(ctx, ask.id, { ...from, limit: PAGE });
      const page: WireSharingAskPage = { shared_by: found.items.map(({ id }) => id), next: placeText(found.next) };
      return page;
    },
  );

  app.get<OneOf>(
    "/admin/jobs/:id/history",
    {
      schema: {
        tags,
        summary: "What happened to a job and is still kept, the newest first",
        querystring: Of,
        response: { 200: jsonReply(WireJobHistoryPage), ...LIST },
      },
    },
    async (request) => {
      await administrator(door, request);
      const before = pageAfterNumber((request.query as z.output<typeof Of>).cursor);
      const { job } = await readJob(ctx, known(request, "job_not_found"), ADMIN);
      const found = await readJobEvents(ctx, job.id, { ...(before && { before }), limit: PAGE });
      return { events: found.events.map(jobEvent), next: placeText(found.next) } satisfies WireJobHistoryPage;
    },
  );
}

/** Returns the id that the path names; one that cannot be is unknown. @throws {Refusal} */
export function known(request: FastifyRequest, missing: "request_not_found" | "job_not_found"): string {
  const { id } = request.params as OneOf["Params"];
  if (!RELAY_ID.test(id)) throw new Refusal(missing);
  return id;
}
