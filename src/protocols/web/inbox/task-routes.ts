import { z } from "zod";
import { inForce, isAsked } from "../../../requests/model/audience.ts";
import { Refusal } from "../../../refusals.ts";
import { responderOf } from "../../../requests/decide/decider.ts";
import { namePeople } from "../../../access/name-people.ts";
import { readInInbox } from "../../../requests/read/read-request.ts";
import { storeNow } from "../../../core/store-now.ts";
import { readTaskOfAsk } from "../../../tasks/read-task-of-ask.ts";
import { reviewTask } from "../../../tasks/review.ts";
import type { Door, DoorContext, FastifyRequest } from "../../http/door.ts";
import { parseBody } from "../../http/body.ts";
import { text } from "../../../wire/fields.ts";
import { jsonReply } from "../../http/json-reply.ts";
import { signedInPerson } from "../../http/principals.ts";
import { reviewInputOf } from "../../http/task-input.ts";
import { PersonReviewBody } from "../../../wire/tasks/bodies.ts";
import {
  WireInboxReviewResult,
  WireInboxTask,
  WireInboxTaskAsks,
  type WireWholeTask,
} from "../../../wire/tasks/task.ts";
import { sendDiff, taskAsksOf, wholeTaskOf } from "../../http/work.ts";
import { cursorField } from "../../http/list-pages.ts";
import { ErrorBody } from "../../../wire/error.ts";

const BODY_BYTES = 262_144;

const ONE = { 401: ErrorBody, 404: ErrorBody } as const;
const Of = z.object(cursorField);
const Diff = z.object({
  against: z.enum(["start", "base"]).optional(),
  attempt: text(1, 7).optional(),
});

interface OneAsk {
  Params: { id: string };
}

/**
 * The finished work that somebody is asked to review, for whoever is asked, whether or not they run this server: the task,
 * its patch, and a review that may speak of lines (spec/assignment 12).
 */
export function inboxTaskRoutes(door: DoorContext): (app: Door) => Promise<void> {
  return async (app) => {
    app.addHook("preValidation", async (http) => parseBody(http));
    reviewRoutes(app, door);
  };
}

function reviewRoutes(app: Door, door: DoorContext): void {
  const tags = ["inbox"];

  app.get<OneAsk>(
    "/people/me/asks/:id/task",
    {
      schema: { tags, summary: "The task that is up for review", response: { 200: jsonReply(WireInboxTask), ...ONE } },
    },
    async (http) => {
      const { repo, id } = (await reviewed(door, http)).task;
      return wholeTaskOf(door, repo, id);
    },
  );

  app.get<OneAsk>(
    "/people/me/asks/:id/task/asks",
    {
      schema: {
        tags,
        summary: "What was asked on the way, the oldest first",
        querystring: Of,
        response: { 200: jsonReply(WireInboxTaskAsks), 400: ErrorBody, ...ONE },
      },
    },
    async (http) => taskAsksOf(door, http, (await reviewed(door, http)).task),
  );

  app.get<OneAsk>(
    "/people/me/asks/:id/task/diff",
    {
      schema: { tags, summary: "Its work, as a patch", querystring: Diff, response: { 400: ErrorBody, ...ONE } },
    },
    async (http, reply) => sendDiff(door, http, reply, (await reviewed(door, http)).task),
  );

  app.post<OneAsk>(
    "/people/me/asks/:id/task/review",
    {
      bodyLimit: BODY_BYTES,
      config: { takesBody: true, maxBodyBytes: BODY_BYTES },
      schema: {
        tags,
        summary: "Approve, reject, or ask for changes, line by line",
        body: PersonReviewBody,
        response: { 200: jsonReply(WireInboxReviewResult), 400: ErrorBody, ...ONE, 403: ErrorBody, 409: ErrorBody },
      },
    },
    async (http) => review(door, http),
  );
}

/** Returns the task that is up for review by an ask of the signed-in person. @throws {Refusal} `task_not_found` */
async function reviewed(door: DoorContext, http: FastifyRequest) {
  const { ctx } = door;
  const { person } = await signedInPerson(door, http);
  const request = await readInInbox(ctx, person, (http.params as OneAsk["Params"]).id);
  const task = await readTaskOfAsk(ctx, request);
  if (task?.about !== "review") throw new Refusal("task_not_found");
  return { person, ask: request, task };
}

/** Records what the signed-in person says of the work, and returns the task as it is then. */
async function review(door: DoorContext, http: FastifyRequest): Promise<WireWholeTask> {
  const { ctx } = door;
  const { person, ask: request, task } = await reviewed(door, http);
  const responder = await responderOf(ctx.db, person, "web");
  if (
    !isAsked(
      inForce(request.audience, ctx.addressed.groups),
      responder,
      request.form.kind,
      (await storeNow(ctx.db)) - request.createdAt,
    )
  ) {
    throw new Refusal("not_asked");
  }
  const name = (await namePeople(ctx, [person])).get(person) ?? person;
  const of = { repo: task.repo, id: task.id, person, name };
  await reviewTask(ctx, reviewInputOf(http.body as Record<string, unknown>, of));
  return wholeTaskOf(door, task.repo, task.id);
}
