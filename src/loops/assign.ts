import type { Context } from "../context.ts";
import type { AssignmentRules } from "../model/assignment-rules.ts";
import { TASKS_TOPIC, watch } from "../store/wake.ts";
import { endLostWork, offerAttempt, withdrawOffers } from "../verbs/offer-attempts.ts";
import { isUseless, readLiveAttempts } from "../verbs/read-attempts.ts";
import { listSettled, noteSettled, type SettledWork } from "../verbs/settle-review.ts";
import { findCommission, startAttempt, type Commission } from "../verbs/start-attempt.ts";
import { openDesk, type AttemptDesk } from "./attempt-desk.ts";
import type { Workshop } from "./workshop.ts";

const LOOK_EVERY_MS = 1000;
/** Of one repository, to workers elsewhere at one time; each takes as many as it likes. */
const MOST_OFFERED = 64;
/** Often enough for a lease of fifteen seconds. */
const KEEP_EVERY_MS = 4000;

/** Starts attempts, and takes up again those that were under way when the server before this one stopped. */
export interface Assign {
  step(signal: AbortSignal): Promise<boolean>;
  /** Starts no attempt any more; resolves when none is at work. */
  drain(): Promise<void>;
  /** Resolves when every attempt is left: their agents go on. */
  leave(): Promise<void>;
}

/** Opens the giving out of work of one server: what it holds, it holds under `holder`, and no other server does. */
export function openAssign(
  ctx: Context,
  rules: AssignmentRules,
  { workshop, holder }: { workshop: Workshop; holder: string },
): Assign {
  const underWay = new Map<string, Promise<void>>();
  let isTakenUp = false;
  let isDraining = false;

  async function takeUp(): Promise<void> {
    await workshop.opened;
    for (const attempt of await readLiveAttempts(ctx, holder)) {
      if (underWay.has(attempt.attemptId)) continue;
      const commission = await findCommission(ctx, attempt);
      if (commission) begin(commission);
    }
    isTakenUp = true;
  }

  function begin(commission: Commission): void {
    const { attemptId, generation } = commission.attempt;
    const desk = openDesk(ctx, rules, commission);
    const work = async (): Promise<void> => {
      // Nobody goes on in the tree of the submission before this one: its last attempt is proven dead.
      if (generation > 1) await workshop.clear({ ...commission.task, generation: generation - 1 });
      await workshop.run(commission, desk);
    };
    const running = keepWhile(ctx, desk, work)
      .catch((err: unknown) => ctx.log.error({ err, attemptId }, "an attempt was dropped"))
      .finally(async () => {
        desk.close();
        if (await isUseless(ctx, attemptId)) await workshop.clear({ ...commission.task, generation }).catch(() => {});
        underWay.delete(attemptId);
      });
    underWay.set(attemptId, running);
  }

  async function settle(work: SettledWork): Promise<void> {
    await noteSettled(ctx, work, await workshop.settleReview(work));
    await workshop.clear(work);
  }

  async function startNext(): Promise<boolean> {
    const ready = rules.agents.filter(({ name }) => "sandbox" in workshop.readiness(name));
    const here = rules.repos.filter(({ path }) => path !== null);
    if (ready.length === 0 || here.length === 0) return false;
    const slots = { repos: here, parallel: rules.parallel, agents: ready.map(({ name }) => name) };
    const commission = await startAttempt(ctx, { holder, slots });
    if (commission) begin(commission);
    return commission !== null;
  }

  /** What workers on other machines may take, and what they do not any more. */
  async function offerElsewhere(signal: AbortSignal): Promise<void> {
    const elsewhere = rules.repos
      .filter(({ path }) => path === null)
      .map((repo) => ({ ...repo, parallel: MOST_OFFERED }));
    if (elsewhere.length === 0) return;
    await withdrawOffers(ctx);
    await endLostWork(ctx);
    const slots = { repos: elsewhere, parallel: Number.MAX_SAFE_INTEGER, agents: null };
    while (!signal.aborted && (await offerAttempt(ctx, slots)));
  }

  return {
    async step(signal) {
      using changes = watch(ctx, [TASKS_TOPIC], [signal, ctx.stopping]);
      if (!isTakenUp) await takeUp();
      for (const work of await listSettled(ctx)) {
        await settle(work).catch((err: unknown) =>
          ctx.log.error({ err, task: work.id }, "a review is not settled yet"),
        );
      }
      while (!isDraining && !signal.aborted && !ctx.stopping.aborted && (await startNext()));
      await offerElsewhere(signal);
      // One that is to end and was dropped, because a process of it would not die, is looked after again.
      for (const attempt of await readLiveAttempts(ctx, holder)) {
        if (underWay.has(attempt.attemptId)) continue;
        const commission = await findCommission(ctx, attempt);
        if (commission && !signal.aborted) begin(commission);
      }
      await changes.next(LOOK_EVERY_MS);
      return true;
    },
    async drain() {
      isDraining = true;
      while ((!isTakenUp || underWay.size > 0) && !ctx.stopping.aborted) {
        await ctx.clock.sleep(LOOK_EVERY_MS, ctx.stopping);
      }
    },
    async leave() {
      await Promise.allSettled(underWay.values());
    },
  };
}

/** Runs an attempt under its lease, which may have run out while no server was there. */
async function keepWhile(ctx: Context, desk: AttemptDesk, run: () => Promise<void>): Promise<void> {
  const over = new AbortController();
  await desk.keep();
  const keeping = (async () => {
    while (!over.signal.aborted && !ctx.stopping.aborted) {
      await desk.keep().catch((err: unknown) => ctx.log.warn({ err }, "the lease of an attempt was not renewed"));
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
