import { statfs } from "node:fs/promises";
import { Gauge, type Registry } from "prom-client";
import { readOldestPendingMs } from "../../asks/read/figures.ts";
import { VERSION } from "../../lib/version.ts";
import { readWebhookQueue } from "../../notices/observe.ts";
import { readOldestOpenMs } from "../../questions/observe.ts";
import { readWaiting } from "../../requests/read/figures.ts";
import type { DoorContext } from "../http/door.ts";
import type { Metrics } from "./metrics.ts";

const gauge = <Label extends string>(
  registers: Registry[],
  { name, help, labels = [] }: { name: string; help: string; labels?: readonly Label[] },
): Gauge<Label> => new Gauge({ name, help, labelNames: [...labels], registers });

/**
 * Measures what whoever runs the server wants to be woken for: that it is not ready, that its disk fills up, that
 * messages do not go out, and how long the oldest of each kind has been waiting for an answer.
 */
export function measureHealth(
  { registry, looks }: Metrics,
  { ctx, config }: DoorContext,
  readiness: () => Promise<string>,
): void {
  const registers = [registry];
  const build = gauge(registers, {
    name: "parley_build_info",
    help: "Is 1; says which version runs, and on what.",
    labels: ["version", "database"],
  });
  build.set({ version: VERSION, database: ctx.db.dialect }, 1);
  const ready = gauge(registers, {
    name: "parley_ready",
    help: "1 while this server should be sent requests, else 0.",
  });
  const free = gauge(registers, {
    name: "parley_data_free_bytes",
    help: "Room left on the disk of the data directory.",
  });
  const oldest = gauge(registers, {
    name: "parley_oldest_waiting_seconds",
    help: "How long the oldest has been waiting that nobody has answered; 0 where none waits.",
    labels: ["kind"],
  });
  const requests = gauge(registers, { name: "parley_requests_open", help: "Requests to people that are open." });
  const webhooks = gauge(registers, {
    name: "parley_webhooks_waiting",
    help: "Events that agents' webhooks have not taken yet.",
  });
  const failing = gauge(registers, {
    name: "parley_webhook_endpoints_failing",
    help: "Webhook endpoints whose last try failed.",
  });
  const deliveries = measureDeliveries(registers);

  async function lookAtStore(): Promise<void> {
    const [waiting, queue, questionMs, askMs] = await Promise.all([
      readWaiting(ctx),
      readWebhookQueue(ctx),
      readOldestOpenMs(ctx),
      readOldestPendingMs(ctx),
    ]);
    requests.set(waiting.open);
    oldest.set({ kind: "request" }, waiting.oldestMs / 1000);
    oldest.set({ kind: "question" }, questionMs / 1000);
    oldest.set({ kind: "ask" }, askMs / 1000);
    deliveries(waiting.channels);
    webhooks.set(queue.waiting);
    failing.set(queue.failingEndpoints);
  }
  looks.push(lookAtStore);
  looks.push(async () => ready.set((await readiness()) === "ready" ? 1 : 0));
  looks.push(async () => {
    const { bavail, bsize } = await statfs(config.dataDir);
    free.set(bavail * bsize);
  });
}

/** Opens the figures of messages by channel. A channel that has nothing to send any more says 0. */
function measureDeliveries(registers: Registry[]) {
  const labels = ["channel"] as const;
  const waiting = gauge(registers, {
    name: "parley_deliveries_waiting",
    help: "Messages that are to be sent or closed.",
    labels,
  });
  const retrying = gauge(registers, {
    name: "parley_deliveries_retrying",
    help: "Messages that were tried and did not go out.",
    labels,
  });
  const late = gauge(registers, {
    name: "parley_deliveries_late_seconds",
    help: "By how much the message that is due longest is late.",
    labels,
  });
  const known = new Set<string>();
  return (channels: readonly { channel: string; waiting: number; retrying: number; lateMs: number }[]): void => {
    for (const { channel } of channels) known.add(channel);
    for (const channel of known) {
      const found = channels.find((one) => one.channel === channel);
      waiting.set({ channel }, found?.waiting ?? 0);
      retrying.set({ channel }, found?.retrying ?? 0);
      late.set({ channel }, (found?.lateMs ?? 0) / 1000);
    }
  };
}
