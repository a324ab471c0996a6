import type { Context } from "../context.ts";
import { isTaskOver, type Task, type TaskEvent } from "./model/task.ts";
import { Refusal } from "../refusals.ts";
import { findBoardSeq, listBoardEvents, listTaskEvents, type BoardEvent } from "./store/events.ts";
import { findTask } from "./store/tasks.ts";
import { storeNow } from "../core/store/db.ts";
import { boardTopic, taskTopic, watch } from "../core/store/wake.ts";

/** An event for a follower. `reset` replaces events that are no longer stored, up to and including its number. */
export type News<T> = { event: T } | { reset: number };

const EVENTS_PER_READ = 200;
const LONGEST_WAIT_MS = 60_000;
/** For so long after its last event a task that is over is still followed. */
const LINGER_MS = 60_000;

/**
 * Yields everything that happened to a task after event `since`, or from the first that is kept, in commit order, until it
 * has been over for a minute or a signal is aborted. A number that is too old or unknown yields one `reset` to the newest,
 * then what is new (spec/assignment 11; spec/invariants S1 to S4).
 *
 * @throws {Refusal} `task_not_found`
 */
export async function* followTask(
  ctx: Context,
  repo: string,
  id: string,
  { since, signal }: { since?: number; signal: AbortSignal },
): AsyncGenerator<News<TaskEvent>> {
  const task = await findTask(ctx.db, repo, id);
  if (!task) throw new Refusal("task_not_found", { id });
  const [oldest] = since === undefined ? await listTaskEvents(ctx.db, { repo, id }, 0, 1) : [];
  yield* follow(ctx, {
    topic: taskTopic(repo, id),
    signal,
    since: since ?? (oldest ? oldest.seq - 1 : task.seq),
    list: (after) => listTaskEvents(ctx.db, { repo, id }, after, EVENTS_PER_READ),
    async look() {
      const now = await findTask(ctx.db, repo, id);
      return { seq: now?.seq ?? 0, leftMs: now && isTaskOver(now.state) ? await lingerMs(ctx, now) : LONGEST_WAIT_MS };
    },
  });
}

async function lingerMs(ctx: Context, { repo, id, seq, updatedAt }: Task): Promise<number> {
  const [last] = await listTaskEvents(ctx.db, { repo, id }, seq - 1, 1);
  return (last?.at ?? updatedAt) + LINGER_MS - (await storeNow(ctx.db));
}

/** Returns everything that is kept of what happened to a task after event `after`. @throws {Refusal} `task_not_found` */
export async function* readTaskLog(ctx: Context, repo: string, id: string, after: number): AsyncGenerator<TaskEvent> {
  const task = await findTask(ctx.db, repo, id);
  if (!task) throw new Refusal("task_not_found", { id });
  for (let from = after; from < task.seq;) {
    const events = await listTaskEvents(ctx.db, { repo, id }, from, EVENTS_PER_READ);
    yield* events;
    from = events.at(-1)?.seq ?? task.seq;
  }
}

/**
 * Yields the states and questions of all tasks of a repository after event `since`, or from now on, in commit order, until
 * a signal is aborted. A number that is too old or unknown yields one `reset`, then what is new.
 */
export async function* followBoard(
  ctx: Context,
  repo: string,
  { since, signal }: { since?: number; signal: AbortSignal },
): AsyncGenerator<News<BoardEvent>> {
  yield* follow(ctx, {
    topic: boardTopic(repo),
    signal,
    since: since ?? (await findBoardSeq(ctx.db, repo)),
    list: (after) => listBoardEvents(ctx.db, repo, after, EVENTS_PER_READ),
    look: async () => ({ seq: await findBoardSeq(ctx.db, repo), leftMs: LONGEST_WAIT_MS }),
  });
}

async function* follow<T extends { seq: number }>(
  ctx: Context,
  of: {
    topic: string;
    signal: AbortSignal;
    since: number;
    list: (after: number) => Promise<T[]>;
    /** The newest number there is, and how long what is followed has news to wait for. */
    look: () => Promise<{ seq: number; leftMs: number }>;
  },
): AsyncGenerator<News<T>> {
  using changes = watch(ctx, [of.topic], [ctx.stopping, of.signal]);
  let after = of.since;
  while (!ctx.stopping.aborted && !of.signal.aborted) {
    const { seq, leftMs } = await of.look();
    const events = after > seq ? [] : await of.list(after);
    if (events[0] ? events[0].seq !== after + 1 : after !== seq) {
      after = seq;
      yield { reset: seq };
      continue;
    }
    for (const event of events) yield { event };
    after = events.at(-1)?.seq ?? after;
    if (events.length > 0) continue;
    if (leftMs <= 0) return;
    await changes.next(leftMs);
  }
}

/**
 * Yields the states and questions of all tasks of these repositories from now on, until a signal is aborted. Numbers are
 * each repository's own. A follower that connects again begins with the events from then on.
 */
export async function* followBoards(
  ctx: Context,
  repos: readonly string[],
  signal: AbortSignal,
): AsyncGenerator<BoardEvent & { repo: string }> {
  using changes = watch(ctx, repos.map(boardTopic), [ctx.stopping, signal]);
  const after = new Map<string, number>();
  for (const repo of repos) after.set(repo, await findBoardSeq(ctx.db, repo));
  while (!ctx.stopping.aborted && !signal.aborted) {
    let sent = 0;
    for (const [repo, seq] of after) {
      const events = await listBoardEvents(ctx.db, repo, seq, EVENTS_PER_READ);
      for (const event of events) yield { ...event, repo };
      after.set(repo, events.at(-1)?.seq ?? seq);
      sent += events.length;
    }
    if (sent === 0) await changes.next(LONGEST_WAIT_MS);
  }
}
