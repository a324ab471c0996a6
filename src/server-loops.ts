import type { Channel } from "./channels/channel.ts";
import type { GuardedFetch } from "./lib/guarded-fetch.ts";
import { startLoop, type Loop } from "./lib/loop.ts";
import type { Deliver } from "./loops/deliver.ts";
import { expireDueAddressed, expireDueAsks } from "./loops/expire.ts";
import { openExpireJobs } from "./loops/expire-jobs.ts";
import { fallBack } from "./loops/fall-back.ts";
import { openRecheck } from "./loops/recheck.ts";
import { sweep } from "./loops/sweep.ts";
import { sweepJobs } from "./loops/sweep-jobs.ts";
import { sweepTasks } from "./loops/sweep-tasks.ts";
import { tellAgents } from "./loops/tell-agents.ts";
import { printEvent } from "./protocols/a2h/events.ts";
import type { DoorContext } from "./protocols/door.ts";
import type { RelayCounters } from "./protocols/ops/relay-metrics.ts";
import { receiverOf } from "./protocols/hooks/hooks.ts";
import type { WebhookEndpoint, WebhookEvent } from "./verbs/webhook-endpoints.ts";

/** How often deadlines are looked at: an ask is settled well within a second of its own. */
const EXPIRE_EVERY_MS = 250;
const DELIVER_EVERY_MS = 500;
const FALL_BACK_EVERY_MS = 1000;
const LISTEN_AGAIN_MS = 5000;
const MERGE_EVERY_MS = 1000;
const TELL_EVERY_MS = 1000;
const RECHECK_EVERY_MS = 1000;
const SWEEP_EVERY_MS = 60_000;

/** Starts what happens without a request, until each loop is stopped. */
export function startLoops(
  door: DoorContext,
  channels: ReadonlyMap<string, Channel>,
  { deliver, guardedFetch, counters }: { deliver: Deliver; guardedFetch: GuardedFetch; counters: RelayCounters },
): Loop[] {
  const { ctx, readLimits } = door;
  const { clock } = ctx;
  const loop = (name: string, idleMs: number, step: (signal: AbortSignal) => Promise<boolean>): Loop =>
    startLoop(step, { clock, idleMs, onError: (err) => ctx.log.error({ err, loop: name }, "a loop step failed") });
  // A channel that listens does so until it is stopped; one that fails listens again after a while.
  const listening = [...channels.values()].flatMap(({ name, inbound }) => {
    if (!inbound?.listen) return [];
    return [
      loop(`listen ${name}`, LISTEN_AGAIN_MS, async (signal) => {
        await inbound.listen?.(receiverOf(door), signal);
        return false;
      }),
    ];
  });
  const telling = {
    guardedFetch,
    print: (endpoint: WebhookEndpoint, event: WebhookEvent) => printEvent(ctx, endpoint, event),
  };
  return [
    ...listening,
    loop("tell agents", TELL_EVERY_MS, (signal) => tellAgents(ctx, telling, signal)),
    loop("expire", EXPIRE_EVERY_MS, (signal) => expireDueAsks(ctx, signal)),
    loop("expire addressed", EXPIRE_EVERY_MS, (signal) => expireDueAddressed(ctx, signal)),
    loop("deliver", DELIVER_EVERY_MS, deliver.step),
    loop("fall back", FALL_BACK_EVERY_MS, (signal) => fallBack(ctx, signal)),
    loop("merge limits", MERGE_EVERY_MS, () => readLimits.merge()),
    loop("recheck", RECHECK_EVERY_MS, openRecheck(ctx)),
    loop("expire jobs", EXPIRE_EVERY_MS, openExpireJobs(ctx, { onLost: counters.leaseLost })),
    loop("sweep", SWEEP_EVERY_MS, () => sweep(ctx)),
    loop("sweep jobs", SWEEP_EVERY_MS, () => sweepJobs(ctx)),
    loop("sweep tasks", SWEEP_EVERY_MS, () => sweepTasks(ctx)),
  ];
}
