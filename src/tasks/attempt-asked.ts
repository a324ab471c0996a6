import { ownTaskOf, type OwnTask } from "../requests/model/task-of-request.ts";
import type { Context } from "../context.ts";
import type { Request } from "../requests/model/request.ts";
import type { RequestWords } from "../requester.ts";
import { titleOfPrompt } from "./model/names.ts";
import { askedEvent, asOwnOf, attemptIdOf } from "./model/attempt-asked.ts";
import { sizedEvent } from "./model/event-size.ts";
import { findAttempt } from "./store/attempts.ts";
import { appendTaskEvents } from "./store/events.ts";
import { findTask } from "./store/tasks.ts";
import type { Queryable, Tx } from "../core/store/db.ts";
import { findHuman } from "../access/store/humans.ts";
import { withoutSecrets } from "../core/without-secrets.ts";

/**
 * Returns a request with the task, the repository and the agent named, if a coding agent makes it with the key of its
 * attempt. A request of any other requester is returned as it is.
 */
export async function asItsTasks<T extends RequestWords>(
  ctx: Pick<Context, "secrets">,
  on: Queryable,
  request: T,
): Promise<T> {
  const attemptId = attemptIdOf(request.asker);
  const attempt = attemptId === null ? undefined : await findAttempt(on, attemptId);
  const task = attempt && (await findTask(on, attempt.repo, attempt.id));
  if (!task) return request;
  const { repo, id, n, agent, sandbox } = attempt;
  const prompt = await withoutSecrets(ctx, task.prompt);
  const whose = { repo, taskId: id, title: titleOfPrompt(prompt), agent, sandbox: sandbox ?? "none" } as const;
  const own: OwnTask = { repo, id, attempt: n, agent, sandbox };
  const asked = asOwnOf(request, own, whose);
  const { title, words } = asked;
  const safe = await withoutSecrets(ctx, { title, words });
  const isSafe = safe.title === title && safe.words === words;
  return isSafe ? asked : asOwnOf(request, { ...own, safe }, whose);
}

/** Adds a new request of a coding agent to the log of its task and to the board; does nothing for any other request. */
export async function tellTaskAskedIn(ctx: Pick<Context, "secrets">, tx: Tx, request: Request): Promise<void> {
  const own = ownTaskOf(request);
  if (!own) return;
  const event = await withoutSecrets(ctx, sizedEvent(askedEvent(request)));
  await appendTaskEvents(tx, own, [event]);
}

/** Returns the name of the decider of a request: a person's name, a rule, or how somebody unknown answered. */
export async function nameOfDecider(on: Queryable, { outcome }: Pick<Request, "outcome">): Promise<string | null> {
  const { by } = outcome ?? {};
  if (!by) return null;
  if (by.kind === "policy") return `policy (${by.id})`;
  const name = by.kind === "person" ? (await findHuman(on, by.id))?.name : undefined;
  return name ?? `somebody by ${by.via}`;
}
