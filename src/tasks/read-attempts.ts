import type { Context } from "../context.ts";
import { Refusal } from "../refusals.ts";
import { findAttempt, findLiveAttempts, listAttempts, type StoredAttempt } from "./store/attempts.ts";
import { findTask } from "./store/tasks.ts";

/** Returns the attempts of one holder whose processes are not proven dead, the oldest first. */
export function readLiveAttempts(ctx: Pick<Context, "db">, holder: string): Promise<StoredAttempt[]> {
  return findLiveAttempts(ctx.db, holder);
}

/** Returns the attempts of a task, the first one first. @throws {Refusal} `task_not_found` */
export async function readAttempts({ db }: Pick<Context, "db">, repo: string, id: string): Promise<StoredAttempt[]> {
  if (!(await findTask(db, repo, id))) throw new Refusal("task_not_found", { id });
  return listAttempts(db, repo, id);
}

/** Returns whether an attempt is to end, or has ended. */
export async function isEnding(ctx: Pick<Context, "db">, attemptId: string): Promise<boolean> {
  const attempt = await findAttempt(ctx.db, attemptId);
  return attempt === undefined || attempt.state === "ending" || attempt.endedAt !== null;
}

/** Returns whether an attempt has ended in a way after which nobody goes on in its tree. */
export async function isUseless(ctx: Pick<Context, "db">, attemptId: string): Promise<boolean> {
  const attempt = await findAttempt(ctx.db, attemptId);
  return attempt === undefined || (attempt.endedAt !== null && attempt.outcome !== "completed");
}

/**
 * Returns an attempt that ended without its workshop, as one that is to end: what still runs of it is killed, and what it
 * has done is kept. Nothing for one that went to its end with it, or is not known.
 */
export async function readLeftAttempt(ctx: Pick<Context, "db">, attemptId: string): Promise<StoredAttempt | undefined> {
  const attempt = await findAttempt(ctx.db, attemptId);
  const isLeft = attempt?.endedAt !== null && LEFT.has(attempt?.outcome ?? "");
  return isLeft && attempt ? { ...attempt, state: "ending" } : undefined;
}

const LEFT: ReadonlySet<string> = new Set(["lost", "canceled", "superseded"]);
