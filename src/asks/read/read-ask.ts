import { ASK_TYPES, type AskType } from "../../core/model/ask-type.ts";
import type { Context } from "../../context.ts";
import { isDecision, timeoutText } from "../model/people.ts";
import { shownToAsker } from "../model/still.ts";
import { errorText, type AskAnswer, type Ask } from "../model/ask.ts";
import { Refusal } from "../../refusals.ts";
import { findJob, lockJob } from "../store/jobs.ts";
import { findAnswer, findAnswers, noteDelivered } from "../store/answers.ts";
import { mayNotAllow } from "../jobs/asker.ts";
import * as store from "../store/asks.ts";
import type { AskPosition, AskAt } from "../store/asks.ts";
import { readWhenBack } from "../../core/read-when-back.ts";
import { shareRun } from "../../core/store/share-read.ts";
import { transact } from "../../core/store/transact.ts";
import { askTopic, FREEZES_TOPIC, watch } from "../../core/store/wake.ts";
import { expireRequest } from "../../requests/end/end.ts";
import { expireQuestion } from "../../questions/expire.ts";
import { readersFor } from "../../requests/read/read-request.ts";
import { settleAskIn } from "../end/settle.ts";
import { writeNotes } from "../../core/store/audit.ts";

/** The reader: a principal reads its own asks, an admin everybody's. */
export interface Reader {
  principal: string;
  readsAll: boolean;
}

/** Returns an ask as it is now: past its deadline it is ended first, so that it is never shown as pending. */
async function asOfNow(ctx: Context, found: AskAt): Promise<AskAt> {
  const held = await withAgent(ctx, found);
  const { ask, now, isFrozen } = held;
  if (isFrozen) return shownToAsker(held);
  if (ask.status !== "PENDING" || now < ask.expiresAt) return held;
  if (ask.addressedId !== null) await expireRequest(ctx, ask.addressedId);
  else await expireAsk(ctx, ask.id);
  return (await store.findAsk(ctx.db, ask.id)) ?? held;
}

/** A decision for the frozen agent of an attempt is held back as one for a frozen asker. */
async function withAgent({ db }: Context, held: AskAt): Promise<AskAt> {
  const { ask } = held;
  if (held.isFrozen || ask.status !== "ANSWERED" || !isDecision(ask) || ask.meta["agent"] === undefined) return held;
  const job = await findJob(db, ask.jobId);
  return job ? { ...held, isFrozen: await mayNotAllow(db, held, job.job) } : held;
}

/**
 * Ends an ask whose deadline has passed with TIMEOUT, with the question that stands for it. One without a deadline of its
 * own is not over: machines may have been too slow, and then people are asked.
 */
export async function expireAsk(ctx: Context, id: string): Promise<boolean> {
  const found = await store.findAsk(ctx.db, id);
  if (found && found.ask.questionId !== null)
    return (await expireQuestion(ctx, found.ask.questionId))?.state === "expired";
  if (!found || found.ask.constraints.timeoutS === undefined) return false;
  return transact(ctx, async (tx) => {
    const job = await lockJob(tx, found.ask.jobId);
    const held = await store.lockAsk(tx, id);
    if (!job || held?.ask.status !== "PENDING" || held.now < held.ask.expiresAt || held.isFrozen) return false;
    if (held.ask.addressedId !== null || held.ask.questionId !== null) return false;
    const { ask } = held;
    const settled = await settleAskIn(
      tx,
      { job, ask: held },
      {
        status: "TIMEOUT",
        cacheable: false,
        truncated: false,
        source: "server",
        principal: "",
        errorCode: "E_TIMEOUT",
        error: errorText("E_TIMEOUT", timeoutText(ask)),
      },
      { stage: ask.stage, stages: ask.stages },
    );
    await writeNotes(tx, settled.notes);
    return true;
  });
}

/** Returns asks whose own deadline has passed. */
export async function findDueAsks(ctx: Context, limit: number): Promise<string[]> {
  return store.findDueAsks(ctx.db, limit);
}

/** Returns an ask of the reader's own, as it is now. @throws {Refusal} `ask_not_found` also for somebody else's */
export async function readAsk(ctx: Context, id: string, reader: Reader): Promise<AskAt> {
  const found = await store.findAsk(ctx.db, id);
  if (!found || !(await mayRead(ctx, found.ask, reader))) throw new Refusal("ask_not_found");
  return asOfNow(ctx, found);
}

function readAgain(ctx: Context, id: string): Promise<AskAt> {
  return shareRun(ctx.db, `ask ${id}`, async () => {
    const found = await store.findAsk(ctx.db, id);
    if (!found) throw new Refusal("ask_not_found");
    return asOfNow(ctx, found);
  });
}

async function mayRead(ctx: Context, ask: Ask, { principal, readsAll }: Reader): Promise<boolean> {
  if (readsAll || ask.principal === principal) return true;
  const job = await findJob(ctx.db, ask.jobId);
  return job?.job.owner === principal || job?.job.holder === principal;
}

/** So often an ask is looked at that should be over. */
const OVERDUE_MS = 250;

/** The wake-up of a thaw may be lost. */
const THAWED_WITHIN_MS = 1000;

/** The result of a long poll. */
export interface Polled {
  ask: Ask;
  /** Nothing while the ask is pending. */
  answer: AskAnswer | null;
}

/**
 * Waits at most `waitMs` for an ask's answer. An answer from before the wait is found too: the function subscribes,
 * reads, waits, and reads again.
 *
 * @throws {Refusal} `ask_not_found`
 */
export async function waitForAnswer(
  ctx: Context,
  id: string,
  reader: Reader,
  { waitMs, signal, onTurn }: { waitMs: number; signal: AbortSignal; onTurn?: (ask: Ask) => Promise<number> },
): Promise<Polled> {
  const until = ctx.clock.monotonic() + waitMs;
  using changes = watch(ctx, [askTopic(id), FREEZES_TOPIC], [signal, ctx.stopping]);
  let { ask, now, isFrozen } = await readAsk(ctx, id, reader);
  for (;;) {
    if (ask.status !== "PENDING") return { ask, answer: await deliverAnswer(ctx, ask, reader) };
    const leftMs = until - ctx.clock.monotonic();
    if (leftMs <= 0 || signal.aborted || ctx.stopping.aborted) return { ask, answer: null };
    const turnMs = (await onTurn?.(ask)) ?? Number.POSITIVE_INFINITY;
    // One without a deadline of its own is not over with its machines' time.
    const dueMs = ask.expiresAt > now ? ask.expiresAt - now : OVERDUE_MS;
    await changes.next(Math.min(leftMs, turnMs, isFrozen ? THAWED_WITHIN_MS : dueMs));
    ({ ask, now, isFrozen } = await readWhenBack(ctx, () => readAgain(ctx, id), { waitMs: leftMs, signal }));
  }
}

function deliverAnswer(ctx: Context, ask: Ask, reader: Reader): Promise<AskAnswer> {
  return shareRun(ctx.db, `answer ${ask.id} ${reader.readsAll}`, async () => {
    const found = await findAnswer(ctx.db, ask.id);
    if (!found) throw new Error("an ask that is over has no answer");
    await noteAllDelivered(ctx, [ask], reader);
    return found.answer;
  });
}

/**
 * Notes that whoever works on a job was given answers. Only the next holder of a job goes by it, so a job that is never
 * claimed needs no such row.
 */
async function noteAllDelivered(ctx: Context, asks: readonly Ask[], { readsAll }: Reader): Promise<void> {
  const reported = readsAll ? [] : asks.filter(({ epoch, status }) => epoch > 0 && status !== "PENDING");
  if (reported.length === 0) return;
  await transact(ctx, async (tx) => {
    for (const { id, epoch } of reported) await noteDelivered(tx, id, epoch);
  });
}

/** Returns a job's asks with their answers, oldest first. @throws {Refusal} `job_not_found` */
export async function listHistory(
  ctx: Context,
  jobId: string,
  reader: Reader,
  page: { after?: AskPosition; limit: number },
): Promise<{ asks: { ask: Ask; answer: AskAnswer | null }[]; next: AskPosition | null }> {
  const job = await findJob(ctx.db, jobId);
  const isOwn = job && (reader.readsAll || [job.job.owner, job.job.holder].includes(reader.principal));
  if (!isOwn) throw new Refusal("job_not_found");
  const found = await store.listAsksOfJob(ctx.db, jobId, { ...page, limit: page.limit + 1 });
  const shown = await Promise.all(found.slice(0, page.limit).map((one) => asOfNow(ctx, one)));
  const answers = await findAnswers(
    ctx.db,
    shown.map(({ ask }) => ask.id),
  );
  await noteAllDelivered(
    ctx,
    shown.map(({ ask }) => ask),
    reader,
  );
  const last = shown.at(-1)?.ask;
  return {
    asks: shown.map(({ ask }) => ({ ask, answer: ask.status === "PENDING" ? null : (answers.get(ask.id) ?? null) })),
    next: found.length > page.limit && last ? { at: last.createdAt, id: last.id } : null,
  };
}

/** The types that a service may answer. */
const OF_SERVICES: readonly AskType[] = ["CLARIFICATION", "CHOICE", "RESOURCE_FETCH"];

/** Returns pending asks that a person or a service may answer, the one that ends first first. */
export async function listAnswerable(
  ctx: Context,
  who: { person: string | null; principal: string },
  page: { type?: AskType; after?: AskPosition; limit: number },
): Promise<{ asks: Ask[]; next: AskPosition | null }> {
  const all = who.person === null ? OF_SERVICES : ASK_TYPES;
  const found = await store.listPendingAsks(ctx.db, {
    types: all.filter((type) => page.type === undefined || type === page.type),
    readers: who.person === null ? null : await readersFor(ctx.db, who.person),
    limit: page.limit + 1,
    ...(page.after && { after: page.after }),
  });
  const shown = found.slice(0, page.limit).map(({ ask }) => ask);
  const last = shown.at(-1);
  return {
    asks: shown.filter(({ principal }) => principal !== who.principal),
    next: found.length > page.limit && last ? { at: last.expiresAt, id: last.id } : null,
  };
}
