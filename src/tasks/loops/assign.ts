import type { Context } from "../../context.ts";
import { openBackOff } from "../../lib/back-off.ts";
import type { AssignmentRules } from "../model/rules.ts";
import { TASKS_TOPIC, watch } from "../../core/store/wake.ts";
import { endSilentWork, noteHolder } from "../lost-workshops.ts";
import { endLostWork, offerAttempt, withdrawOffers } from "../offer-attempts.ts";
import { isEnding, isUseless, readLeftAttempt, readLiveAttempts } from "../read-attempts.ts";
import { listSettled, noteSettled } from "../settle-review.ts";
import { findAssignment, startAttempt, type AttemptAssignment } from "../start-attempt.ts";
import { openLocalAttemptClient, type LocalAttemptClient } from "./local-attempt-client.ts";
import { openTidy } from "./tidy-workshop.ts";
import type { Workshop } from "./workshop.ts";

const LOOK_EVERY_MS = 1000;
/** Of one repository, to workers elsewhere at one time; each takes as many as it likes. */
const MOST_OFFERED = 64;
/** Often enough for a lease of fifteen seconds. */
const KEEP_EVERY_MS = 4000;
/** Often enough for other workshops, which take this one for gone after a minute. */
const NOTE_EVERY_MS = 10_000;

/** Starts attempts, and takes up again those that were under way when the server before this one stopped. */
export interface Assign {
  step(signal: AbortSignal): Promise<boolean>;
  /**
   * Starts no more attempts; resolves when no attempt is at work. With `kill` it ends the agents, and resolves when the
   * last of their processes is gone: the next server takes their work up.
   */
  drain(how: { kill: boolean }): Promise<void>;
  /** Resolves when every attempt is left: their agents go on. */
  leave(): Promise<void>;
}

/** Opens the giving out of work of one server: what it holds, it holds under `holder`, and no other server does. */
export function openAssign(
  ctx: Context,
  rules: AssignmentRules,
  { workshop, holder }: { workshop: Workshop; holder: string },
): Assign {
  const interrupting = new AbortController();
  const shop: Shop = {
    ctx,
    rules,
    workshop,
    holder,
    underWay: new Map(),
    interrupting: interrupting.signal,
    backOff: openBackOff(ctx.clock),
  };
  const lookAround = openLookAround(shop);
  const tidy = openTidy(ctx, rules, workshop);
  let isTakenUp = false;
  let isDraining = false;

  return {
    async step(signal) {
      using changes = watch(ctx, [TASKS_TOPIC], [signal, ctx.stopping]);
      if (!isTakenUp) await takeUp(shop);
      isTakenUp = true;
      await tidy.step();
      await settleReviews(shop);
      while (!isDraining && !signal.aborted && !ctx.stopping.aborted && (await startNext(shop)));
      await offerElsewhere(shop, signal);
      // One that is to end and was dropped, because a process of it would not die, is looked after again.
      await lookAround(!signal.aborted && (await beginHeld(shop)));
      await changes.next(LOOK_EVERY_MS);
      return true;
    },
    async drain({ kill }) {
      isDraining = true;
      if (kill) interrupting.abort();
      const isAtWork = async () =>
        !isTakenUp ||
        shop.underWay.size > 0 ||
        (kill && (await readLiveAttempts(ctx, holder)).some(({ state }) => state === "ending"));
      while (!ctx.stopping.aborted && (await isAtWork())) {
        await ctx.clock.sleep(LOOK_EVERY_MS, ctx.stopping);
      }
    },
    async leave() {
      await Promise.allSettled([...shop.underWay.values(), tidy.leave()]);
    },
  };
}

/** The workshop of this server, and what is at work in it. */
interface Shop {
  ctx: Context;
  rules: AssignmentRules;
  workshop: Workshop;
  holder: string;
  /** By the id of the attempt. */
  underWay: Map<string, Promise<void>>;
  /** Aborted when agents are to end with the server. */
  interrupting: AbortSignal;
  backOff: ReturnType<typeof openBackOff>;
}

/** Everything that was at work here before this server came is under way again, or ended. */
async function takeUp(shop: Shop): Promise<void> {
  const { ctx, workshop, holder, underWay } = shop;
  await workshop.opened;
  await noteHolder(ctx, holder);
  await beginHeld(shop);
  // Attempts that others ended while this workshop was away for too long still have to end on this machine.
  for (const { attemptId, folder } of await workshop.findSupervised()) {
    if (underWay.has(attemptId) || !(await isEnding(ctx, attemptId))) continue;
    const left = await readLeftAttempt(ctx, attemptId);
    const assignment = left && (await findAssignment(ctx, left));
    if (assignment) begin(shop, assignment);
    else await workshop.kill(attemptId, folder);
  }
}

/** Everything that is held here is under way; what is ended on demand waits for who comes next. */
async function beginHeld(shop: Shop): Promise<boolean> {
  const { ctx, holder, underWay, interrupting, backOff } = shop;
  const held = await readLiveAttempts(ctx, holder);
  for (const attempt of held) {
    const { attemptId, state } = attempt;
    const mayBegin = !interrupting.aborted || state === "ending";
    if (underWay.has(attemptId) || !mayBegin || !backOff.isDue(attemptId)) continue;
    const assignment = await findAssignment(ctx, attempt);
    if (assignment && !ctx.stopping.aborted) begin(shop, assignment);
  }
  return held.length > 0;
}

function begin({ ctx, rules, workshop, underWay, interrupting, backOff }: Shop, assignment: AttemptAssignment): void {
  const { attemptId, generation } = assignment.attempt;
  const client = openLocalAttemptClient(ctx, rules, assignment, interrupting);
  const work = async (): Promise<void> => {
    // Nobody goes on in the tree of the submission before this one: its last attempt is proven dead.
    if (generation > 1) await workshop.clear({ ...assignment.task, generation: generation - 1 });
    await workshop.run(assignment, client);
    backOff.forget(attemptId);
  };
  const running = keepWhile(ctx, client, work)
    .catch((err: unknown) => {
      if (backOff.failed(attemptId)) ctx.log.error({ err, attemptId }, "an attempt was dropped");
    })
    .finally(async () => {
      client.close();
      if (await isUseless(ctx, attemptId)) await workshop.clear({ ...assignment.task, generation }).catch(() => {});
      underWay.delete(attemptId);
    });
  underWay.set(attemptId, running);
}

/** Does in git what reviews require, for repositories on this machine. A worker elsewhere asks for its own reviews. */
async function settleReviews({ ctx, rules, workshop, backOff }: Shop): Promise<void> {
  const here = rules.repos.filter(({ path }) => path !== null).map(({ name }) => name);
  for (const work of await listSettled(ctx, { repos: here })) {
    const key = `${work.repo}/${work.id}`;
    if (!backOff.isDue(key)) continue;
    try {
      await noteSettled(ctx, work, await workshop.settleReview(work));
      await workshop.clear(work);
      backOff.forget(key);
    } catch (err) {
      if (backOff.failed(key)) ctx.log.error({ err, task: work.id }, "a review is not settled yet");
    }
  }
}

async function startNext(shop: Shop): Promise<boolean> {
  const { ctx, rules, workshop, holder } = shop;
  const ready = rules.agents.filter(({ name }) => "sandbox" in workshop.readiness(name));
  const here = rules.repos.filter(({ path }) => path !== null);
  if (ready.length === 0 || here.length === 0) return false;
  const slots = { repos: here, parallel: rules.parallel, agents: ready.map(({ name }) => name) };
  const assignment = await startAttempt(ctx, { holder, slots });
  if (assignment) begin(shop, assignment);
  return assignment !== null;
}

/** Offers attempts to workers on other machines, withdraws stale offers, and ends attempts whose workers are lost. */
async function offerElsewhere({ ctx, rules }: Shop, signal: AbortSignal): Promise<void> {
  const elsewhere = rules.repos
    .filter(({ path }) => path === null)
    .map((repo) => ({ ...repo, parallel: MOST_OFFERED }));
  if (elsewhere.length === 0) return;
  await withdrawOffers(ctx);
  await endLostWork(ctx);
  const slots = { repos: elsewhere, parallel: Number.MAX_SAFE_INTEGER, agents: null };
  while (!signal.aborted && (await offerAttempt(ctx, slots)));
}

/** Others see that this workshop is there as long as it holds anything, and it sees which of them are not. */
function openLookAround({ ctx, workshop, holder }: Shop): (holdsAny: boolean) => Promise<void> {
  let notedAt = -Infinity;
  return async (holdsAny) => {
    if (holdsAny && ctx.clock.monotonic() - notedAt >= NOTE_EVERY_MS) {
      await noteHolder(ctx, holder);
      notedAt = ctx.clock.monotonic();
    }
    await endSilentWork(ctx, holder, (attemptId) => workshop.kill(attemptId));
  };
}

/** Runs an attempt under its lease, which may have run out while no server was there. */
async function keepWhile(ctx: Context, client: LocalAttemptClient, run: () => Promise<void>): Promise<void> {
  const over = new AbortController();
  await client.keep();
  const keeping = (async () => {
    while (!over.signal.aborted && !ctx.stopping.aborted) {
      await client.keep().catch((err: unknown) => ctx.log.warn({ err }, "the lease of an attempt was not renewed"));
      await ctx.clock.sleep(KEEP_EVERY_MS, AbortSignal.any([over.signal, ctx.stopping]));
    }
  })();
  try {
    await run();
  } finally {
    over.abort();
    await keeping;
  }
}
