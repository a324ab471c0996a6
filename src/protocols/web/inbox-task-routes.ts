import { z } from "zod";
import { isAsked } from "../../model/audience.ts";
import { Refusal } from "../../refusals.ts";
import { responderOf } from "../../verbs/decide-ask.ts";
import { namePeople } from "../../verbs/name-people.ts";
import { readInInbox } from "../../verbs/read-addressed.ts";
import { readTaskOfAsk } from "../../verbs/read-task-of-ask.ts";
import { reviewTask } from "../../verbs/review-task.ts";
import type { Door, DoorContext, FastifyRequest } from "../door.ts";
import { parseBody } from "../door-body.ts";
import { fields, optional, textField, wordField } from "../door-fields.ts";
import { signedInPerson } from "../door-principals.ts";
import { ReviewBody } from "../door-task-fields.ts";
import { reviewWishOf } from "../door-task-wish.ts";
import { sendDiff, wholeTaskOf } from "../door-work.ts";

const BODY_BYTES = 262_144;

const Item = z.looseObject({});
const Refused = z.object({ error: z.object({ code: z.string(), message: z.string() }) });
const ONE = { 401: Refused, 404: Refused } as const;
const Diff = fields({
  against: optional(wordField("against", ["start", "base"])),
  attempt: optional(textField("attempt", 1, 7)),
});

interface OneAsk {
  Params: { id: string };
}

/**
 * The finished work that somebody is asked to review, for whoever is asked, whether or not they run this server: the task,
 * its patch, and a review that may speak of lines (contract-assignment.md, section 12).
 */
export function inboxTaskRoutes(door: DoorContext): (app: Door) => Promise<void> {
  const { ctx } = door;
  const tags = ["inbox"];

  return async (app) => {
    app.addHook("preValidation", async (request) => parseBody(request));

    app.get<OneAsk>(
      "/people/me/asks/:id/task",
      { schema: { tags, summary: "The task that is up for review", response: { 200: Item, ...ONE } } },
      async (request) => {
        const { repo, id } = (await reviewed(request)).task;
        return wholeTaskOf(door, repo, id);
      },
    );

    app.get<OneAsk>(
      "/people/me/asks/:id/task/diff",
      {
        schema: { tags, summary: "Its work, as a patch", querystring: Diff, response: { 400: Refused, ...ONE } },
      },
      async (request, reply) => sendDiff(door, request, reply, (await reviewed(request)).task),
    );

    app.post<OneAsk>(
      "/people/me/asks/:id/task/review",
      {
        bodyLimit: BODY_BYTES,
        config: { takesBody: true, maxBodyBytes: BODY_BYTES },
        schema: {
          ...{ tags, summary: "Approve, reject, or ask for changes, line by line", body: ReviewBody },
          response: { 200: Item, 400: Refused, ...ONE, 403: Refused, 409: Refused },
        },
      },
      async (request) => {
        const { person, ask, task } = await reviewed(request);
        const responder = await responderOf(ctx.db, person, "web");
        if (!isAsked(ask.audience, responder, ask.form.kind, ctx.clock.now() - ask.createdAt)) {
          throw new Refusal("not_asked");
        }
        const name = (await namePeople(ctx, [person])).get(person) ?? person;
        const of = { repo: task.repo, id: task.id, person, name };
        await reviewTask(ctx, reviewWishOf(request.body as Record<string, unknown>, of));
        return wholeTaskOf(door, task.repo, task.id);
      },
    );

    async function reviewed(request: FastifyRequest) {
      const { person } = await signedInPerson(door, request);
      const ask = await readInInbox(ctx, person, (request.params as OneAsk["Params"]).id);
      const task = await readTaskOfAsk(ctx, ask);
      if (task?.about !== "review") throw new Refusal("task_not_found");
      return { person, ask, task };
    }
  };
}
