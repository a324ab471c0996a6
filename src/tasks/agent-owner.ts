import { ownTaskOf } from "../requests/model/task-of-request.ts";
import { allowCallForGood } from "../requests/allow-for-good.ts";
import type { Context } from "../context.ts";
import type { AddressedAsk } from "../requests/model/request.ts";
import { answeredEvent, attemptIdOf } from "./model/attempt-asked.ts";
import { sizedEvent } from "./model/event-size.ts";
import type { RequestOwner } from "../owner.ts";
import { findAttempt, findAttemptOrphans } from "./store/attempts.ts";
import { appendTaskEvents } from "./store/events.ts";
import type { Queryable, Tx } from "../core/store/db.ts";
import { asItsTasks, nameOfDecider, tellTaskAskedIn } from "./attempt-asked.ts";
import { withoutSecrets } from "../core/without-secrets.ts";

/** What an agent's requests take of the context. */
export type OwningAgent = Pick<Context, "newId" | "addressed" | "secrets">;

/**
 * The agent that asked people for itself, and reads what they said by itself. With the key of an attempt it is a coding
 * agent at work on a task: then the log of the task tells of it, and with the attempt its requests are over.
 */
export function agentOwner(ctx: OwningAgent, door: string): RequestOwner {
  return {
    door,
    present: (on, asked) => asItsTasks(ctx, on, asked),
    stored: (tx, request) => tellTaskAskedIn(ctx, tx, request),
    // Behind whichever door: an attempt's key opens all that agents use.
    listUnwanted: findAttemptOrphans,
    isWanted: isAskerAtWork,
    async ended(tx, over) {
      await allowCallForGood(ctx, tx, over);
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

/** Returns whether the coding agent that asked still works on its task; true of whoever is none. */
async function isAskerAtWork(on: Queryable, ask: Pick<AddressedAsk, "asker" | "wire">): Promise<boolean> {
  const attemptId = ownTaskOf(ask) && attemptIdOf(ask.asker);
  if (!attemptId) return true;
  const attempt = await findAttempt(on, attemptId);
  return attempt !== undefined && attempt.endedAt === null && attempt.state !== "ending";
}

/** The log of its task tells how a request of a coding agent ended. */
async function tellTaskAnsweredIn(ctx: Pick<Context, "secrets">, tx: Tx, over: AddressedAsk): Promise<void> {
  const own = ownTaskOf(over);
  if (!own || !over.outcome) return;
  const by = await nameOfDecider(tx, over);
  const event = await withoutSecrets(ctx, sizedEvent(answeredEvent(over, over.outcome, by)));
  await appendTaskEvents(tx, own, [event]);
}
