import { ownTaskOf } from "../requests/model/task-of-request.ts";
import { grantCall } from "../requests/decide/grant-call.ts";
import type { Context } from "../context.ts";
import type { Request } from "../requests/model/request.ts";
import { answeredEvent, attemptIdOf } from "./model/attempt-asked.ts";
import { sizedEvent } from "./model/event-size.ts";
import type { Requester } from "../requester.ts";
import { findAttempt, findAttemptOrphans } from "./store/attempts.ts";
import { appendTaskEvents } from "./store/events.ts";
import type { Queryable, Tx } from "../core/store/db.ts";
import { asItsTasks, nameOfDecider, tellTaskAskedIn } from "./attempt-asked.ts";
import { withoutSecrets } from "../core/without-secrets.ts";

/** The parts of the context that an agent's requests use. */
export type OwningAgent = Pick<Context, "newId" | "addressed" | "secrets">;

/**
 * The owner of requests that an agent makes itself, and whose answers it reads itself. An agent with the key of an
 * attempt is a coding agent at work on a task. The log of the task then reports its requests, and they end with the
 * attempt.
 */
export function agentRequester(ctx: OwningAgent, door: string): Requester {
  return {
    door,
    present: (on, asked) => asItsTasks(ctx, on, asked),
    stored: (tx, request) => tellTaskAskedIn(ctx, tx, request),
    // Behind whichever door: an attempt's key opens all that agents use.
    listUnwanted: findAttemptOrphans,
    changesNoOtherRows: (request) => ownTaskOf(request) === null,
    isWanted: isAskerAtWork,
    async ended(tx, over) {
      await grantCall(ctx, tx, over);
      await tellTaskAnsweredIn(ctx, tx, over);
    },
    taskOf(_, request) {
      const own = ownTaskOf(request);
      if (!own) return Promise.resolve(null);
      const { repo, id, attempt, agent, sandbox } = own;
      return Promise.resolve({ repo, id, attempt, about: "wish", agent, sandbox });
    },
  };
}

/** Returns whether the coding agent that asked still works on its task; true for every other requester. */
async function isAskerAtWork(on: Queryable, request: Pick<Request, "asker" | "wire">): Promise<boolean> {
  const attemptId = ownTaskOf(request) && attemptIdOf(request.asker);
  if (!attemptId) return true;
  const attempt = await findAttempt(on, attemptId);
  return attempt !== undefined && attempt.endedAt === null && attempt.state !== "ending";
}

/** Adds the end of a coding agent's request to the log of its task. */
async function tellTaskAnsweredIn(ctx: Pick<Context, "secrets">, tx: Tx, over: Request): Promise<void> {
  const own = ownTaskOf(over);
  if (!own || !over.outcome) return;
  const by = await nameOfDecider(tx, over);
  const event = await withoutSecrets(ctx, sizedEvent(answeredEvent(over, over.outcome, by)));
  await appendTaskEvents(tx, own, [event]);
}
