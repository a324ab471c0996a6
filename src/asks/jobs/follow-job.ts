import type { Context } from "../../context.ts";
import { isOver, type AskAnswer, type Ask } from "../model/ask.ts";
import { Refusal } from "../../refusals.ts";
import { findJob, listJobEvents, listJobEventsBack, type JobAt, type JobEvent } from "../store/jobs.ts";
import { findAnswers, noteAllDelivered } from "../store/answers.ts";
import { findHeldBack, listPendingOfJob } from "../store/asks.ts";
import { shareRun } from "../../core/store/share-read.ts";
import { transact } from "../../core/store/transact.ts";
import { FREEZES_TOPIC, jobTopic, watch } from "../../core/store/wake.ts";
import { statusOf } from "../end/settle.ts";

type Body = Readonly<Record<string, unknown>>;

/** One message to a follower of a job; `seq` is the number of the newest event it covers. */
export type JobNews =
  | { kind: "status" | "log"; seq: number; body: Body }
  | { kind: "answer"; seq: number; answer: AskAnswer }
  /** How the job is, for whoever follows from now on. */
  | { kind: "snapshot"; seq: number; body: Body }
  /** The same, in full, for a follower whose past events are gone. */
  | { kind: "reset"; seq: number; body: Body; job: JobAt["job"]; pending: readonly Ask[] };

const EVENTS_PER_READ = 200;
const LONGEST_WAIT_MS = 60_000;
/** For so long after its last event a job that has ended is still followed. */
const LINGER_MS = 60_000;
/** The wake-up of a thaw may be lost. */
const THAWED_WITHIN_MS = 1000;

/** Whether a follower counts as given what it is sent, and whether approvals of the frozen are held back from it. */
interface Following {
  delivers: boolean;
  holdsBack: boolean;
}

/**
 * Yields everything that happens to a job after event `since`, in commit order, until it has been over for a minute or a
 * signal is aborted. Without `since` it begins with how the job is. A number that is too old or unknown yields one
 * `reset`, then what is new (spec/relay 5; spec/invariants S1 to S4). Whether the job may be seen is known.
 *
 * With `delivers` the follower is an executor, and an event counts as delivered before it is sent: a decision that
 * may have been acted upon is never given to the next holder. With `holdsBack` the follower is no admin: before a
 * decision that allows something to a frozen asker, it waits for the thaw.
 *
 * @throws {Refusal} `job_not_found`
 */
export async function* followJob(
  ctx: Context,
  id: string,
  { since, signal, ...how }: { since?: number; signal: AbortSignal } & Partial<Following>,
): AsyncGenerator<JobNews> {
  using changes = watch(ctx, [jobTopic(id), FREEZES_TOPIC], [ctx.stopping, signal]);

  const start = await findJob(ctx.db, id);
  if (!start) throw new Refusal("job_not_found");
  let after = since ?? start.seq;
  if (since === undefined) yield { kind: "snapshot", seq: after, body: statusOf(start, null).body };
  else if (after > start.seq || after < start.keptFrom - 1) {
    after = start.seq;
    yield resetAt(start, await listPendingOfJob(ctx.db, id));
  }

  while (!ctx.stopping.aborted && !signal.aborted) {
    const read = await readAfter(ctx, id, after, how);
    if (!read) return;
    const { job, events, news, hasGap, isHeldBack } = read;
    if (hasGap) {
      // Retention overtook a reader who was slow.
      after = job.seq;
      yield resetAt(job, await listPendingOfJob(ctx.db, id));
      continue;
    }
    yield* news;
    after = events.at(-1)?.seq ?? after;
    if (events.length > 0) continue;
    if (isHeldBack) {
      await changes.next(THAWED_WITHIN_MS);
      continue;
    }
    const leftMs = isOver(job.job.state) ? (await lastEventAt(ctx, job)) + LINGER_MS - job.now : LONGEST_WAIT_MS;
    if (leftMs <= 0) return;
    await changes.next(leftMs);
  }
}

/**
 * Returns one page of what happened to a job and is still kept, the newest first; the next one is what came before event
 * `next`. Whether the job may be seen is known.
 */
export async function readJobEvents(
  ctx: Context,
  id: string,
  { limit, ...from }: { before?: number; limit: number },
): Promise<{ events: JobNews[]; next: number | null }> {
  const found = await listJobEventsBack(ctx.db, id, { ...from, limit: limit + 1 });
  const shown = found.slice(0, limit);
  return { events: await newsOf(ctx, shown, false), next: found.length > limit ? (shown.at(-1)?.seq ?? null) : null };
}

function resetAt(at: JobAt, pending: Awaited<ReturnType<typeof listPendingOfJob>>): JobNews {
  const { job, seq } = at;
  return { kind: "reset", seq, body: statusOf(at, null).body, job, pending: pending.map(({ ask }) => ask) };
}

/** A job and its events after a number, up to one that is held back. */
interface ReadEvents {
  job: JobAt;
  events: readonly JobEvent[];
  news: readonly JobNews[];
  /** Events between the number and the first one are gone. */
  hasGap: boolean;
  isHeldBack: boolean;
}

/** Reads a job and its events after a number; the followers whom one commit wakes share the read. */
function readAfter(
  ctx: Context,
  id: string,
  after: number,
  { delivers = false, holdsBack = false }: Partial<Following>,
): Promise<ReadEvents | null> {
  return shareRun(ctx.db, `job ${after} ${delivers} ${holdsBack} ${id}`, async () => {
    const job = await findJob(ctx.db, id);
    if (!job) return null;
    const all = await listJobEvents(ctx.db, id, after, EVENTS_PER_READ);
    const hasGap = all[0] ? all[0].seq !== after + 1 : after < job.seq;
    const held = holdsBack ? await findHeldBack(ctx.db, answeredIn(all)) : [];
    const end = all.findIndex((one) => one.event === "answer" && held.includes(askIdOf(one)));
    const events = end < 0 ? all : all.slice(0, end);
    return { job, events, news: hasGap ? [] : await newsOf(ctx, events, delivers), hasGap, isHeldBack: end >= 0 };
  });
}

const askIdOf = ({ body }: JobEvent): string => String(body["ask_id"]);

const answeredIn = (events: readonly JobEvent[]): string[] => [
  ...new Set(events.filter(({ event }) => event === "answer").map(askIdOf)),
];

async function newsOf(ctx: Context, events: readonly JobEvent[], delivers: boolean): Promise<JobNews[]> {
  const ids = answeredIn(events);
  const answers = await findAnswers(ctx.db, ids);
  if (delivers && ids.length > 0) await transact(ctx, (tx) => noteAllDelivered(tx, ids));
  return events.map((event) => {
    const { seq, body } = event;
    if (event.event !== "answer") return { kind: event.event, seq, body };
    const answer = answers.get(askIdOf(event));
    if (!answer) throw new Error("a job event names an answer that does not exist");
    return { kind: "answer", seq, answer };
  });
}

async function lastEventAt(ctx: Context, { job, seq }: JobAt): Promise<number> {
  const [last] = await listJobEvents(ctx.db, job.id, seq - 1, 1);
  return last?.at ?? job.updatedAt;
}
