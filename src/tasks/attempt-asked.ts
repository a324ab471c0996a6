import { ownTaskOf, type OwnTask } from "../requests/model/task-of-request.ts";
import type { Context } from "../context.ts";
import type { AddressedAsk } from "../requests/model/request.ts";
import type { RequestWords } from "../owner.ts";
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
 * Returns what is asked of people as it is where a coding agent asks by the key of its attempt: it names the task, the
 * repository and the agent. What anybody else asks is returned as it is.
 */
export async function asItsTasks<T extends RequestWords>(
  ctx: Pick<Context, "secrets">,
  on: Queryable,
  wish: T,
): Promise<T> {
  const attemptId = attemptIdOf(wish.asker);
  const attempt = attemptId === null ? undefined : await findAttempt(on, attemptId);
  const task = attempt && (await findTask(on, attempt.repo, attempt.id));
  if (!task) return wish;
  const { repo, id, n, agent, sandbox } = attempt;
  const prompt = await withoutSecrets(ctx, task.prompt);
  const whose = { repo, taskId: id, title: titleOfPrompt(prompt), agent, sandbox: sandbox ?? "none" } as const;
  const own: OwnTask = { repo, id, attempt: n, agent, sandbox };
  const asked = asOwnOf(wish, own, whose);
  const { title, words } = asked;
  const safe = await withoutSecrets(ctx, { title, words });
  const isSafe = safe.title === title && safe.words === words;
  return isSafe ? asked : asOwnOf(wish, { ...own, safe }, whose);
}

/** The log of its task, and the board, tell of a new ask of a coding agent; of any other ask nothing is told. */
export async function tellTaskAskedIn(ctx: Pick<Context, "secrets">, tx: Tx, ask: AddressedAsk): Promise<void> {
  const own = ownTaskOf(ask);
  if (!own) return;
  const event = await withoutSecrets(ctx, sizedEvent(askedEvent(ask)));
  await appendTaskEvents(tx, own, [event]);
}

/** Returns what whoever decided an ask is called: a person's name, a rule, or how somebody unknown answered. */
export async function nameOfDecider(on: Queryable, { outcome }: Pick<AddressedAsk, "outcome">): Promise<string | null> {
  const { by } = outcome ?? {};
  if (!by) return null;
  if (by.kind === "policy") return `policy (${by.id})`;
  const name = by.kind === "person" ? (await findHuman(on, by.id))?.name : undefined;
  return name ?? `somebody by ${by.via}`;
}
