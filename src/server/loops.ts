import { startLoop, type Loop } from "../lib/loop.ts";
import { expireDueQuestions } from "../questions/loops/expire.ts";
import { expireDueRequests, renewWaits } from "../requests/loops/expire.ts";
import { giveUpUnreported } from "../requests/loops/unreported.ts";
import { giveUpUnreportedAsks } from "../asks/loops/unreported.ts";
import { openExpireJobs } from "../asks/loops/expire-jobs.ts";
import { fallBack } from "../questions/loops/fall-back.ts";
import { giveUpLapsed } from "../gate/loops/give-up.ts";
import { loopErrors } from "../core/loops/errors.ts";
import type { StoreProbe } from "../core/loops/probe-store.ts";
import { openRecheck } from "./loops/recheck.ts";
import { sweep } from "./loops/sweep.ts";
import { sweepJobs } from "../asks/loops/sweep.ts";
import { sweepTasks } from "../tasks/loops/sweep.ts";
import { eventOutbox } from "../notices/loops/tell-agents.ts";
import { printEvent } from "../protocols/a2h/events.ts";
import type { DoorContext } from "../protocols/http/door.ts";
import type { RelayCounters } from "../protocols/ops/relay-metrics.ts";
import { receiverOf } from "../protocols/hooks/hooks.ts";
import type { OpenedDelivery } from "./channels.ts";
import { sealRecord } from "../core/seal-record.ts";
import { startOutbox } from "../core/loops/outbox.ts";
import type { WebhookEndpoint, WebhookEvent } from "../notices/webhook-endpoints.ts";

/** How often deadlines are looked at: an ask is settled well within a second of its own. */
const EXPIRE_EVERY_MS = 250;
const FALL_BACK_EVERY_MS = 1000;
const LISTEN_AGAIN_MS = 5000;
const MERGE_EVERY_MS = 1000;
const RECHECK_EVERY_MS = 1000;
/** The shortest lease of a wait is twice as long. */
const RENEW_EVERY_MS = 10_000;
const GIVE_UP_EVERY_MS = 1000;
const PROBE_EVERY_MS = 5000;
/** An entry of the record is in the chain within a second. */
const SEAL_EVERY_MS = 500;
const SWEEP_EVERY_MS = 60_000;

type Step = (signal: AbortSignal) => Promise<boolean>;

/** Starts what happens without a request, until each loop is stopped. */
export function startLoops(
  door: DoorContext,
  { channels, deliver, guardedFetch }: OpenedDelivery,
  { counters, probe }: { counters: RelayCounters; probe: StoreProbe },
): Loop[] {
  const { ctx, readLimits } = door;
  const { clock } = ctx;
  const loop = (name: string, idleMs: number, step: Step): Loop =>
    startLoop(step, { clock, idleMs, onError: loopErrors(ctx, name) });
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
    startOutbox(ctx, eventOutbox(ctx, telling)),
    loop("expire", EXPIRE_EVERY_MS, (signal) => expireDueQuestions(ctx, signal)),
    loop("expire addressed", EXPIRE_EVERY_MS, (signal) => expireDueRequests(ctx, signal)),
    loop("unreported", GIVE_UP_EVERY_MS, (signal) => giveUpUnreported(ctx, signal)),
    loop("unreported asks", GIVE_UP_EVERY_MS, (signal) => giveUpUnreportedAsks(ctx, signal)),
    loop("renew waits", RENEW_EVERY_MS, () => renewWaits(ctx)),
    ...deliver.outboxes().map((outbox) => startOutbox(ctx, outbox)),
    loop("fall back", FALL_BACK_EVERY_MS, (signal) => fallBack(ctx, signal)),
    loop("merge limits", MERGE_EVERY_MS, () => readLimits.merge()),
    loop("recheck", RECHECK_EVERY_MS, openRecheck(ctx)),
    loop("expire jobs", EXPIRE_EVERY_MS, openExpireJobs(ctx, { onLost: counters.leaseLost })),
    loop("give up calls", GIVE_UP_EVERY_MS, (signal) => giveUpLapsed(ctx, signal)),
    loop("probe store", PROBE_EVERY_MS, probe.step),
    loop("seal", SEAL_EVERY_MS, () => sealRecord(ctx)),
    loop("sweep", SWEEP_EVERY_MS, () => sweep(ctx)),
    loop("sweep jobs", SWEEP_EVERY_MS, () => sweepJobs(ctx)),
    loop("sweep tasks", SWEEP_EVERY_MS, () => sweepTasks(ctx)),
  ];
}
