import { clientOptions, deliveryError, SILENT } from "./web.ts";
import { pauseAfter } from "../../lib/back-off.ts";
import type { Clock } from "../../lib/clock.ts";
import type { SlackOutside, SlackSettings } from "./settings.ts";

/** Slack closes connections as a matter of course, with notice; the next one is opened at once. */
const USUAL_PAUSE_MS = 100;
const HELLO_WITHIN_MS = 30_000;
const CLOSE_WITHIN_MS = 2000;

/**
 * Keeps a Socket Mode connection until aborted. A press is acknowledged as it comes, words once they are on disk.
 *
 * Reconnects by itself: the client's own way waits five seconds before it opens the next connection, and lets a failure
 * then become an unhandled rejection, which ends the process.
 */
export async function keepSocket(
  appToken: string,
  take: (payload: unknown) => Promise<boolean> | null,
  { settings, outside, signal }: { settings: SlackSettings; outside: SlackOutside; signal: AbortSignal },
): Promise<void> {
  const { SocketModeClient } = await import("@slack/socket-mode");
  const { clock, log } = outside;
  let failures = 0;

  while (!signal.aborted) {
    const ended = new AbortController();
    const until = AbortSignal.any([signal, ended.signal]);
    const client = new SocketModeClient({
      appToken,
      autoReconnectEnabled: false,
      clientOptions: clientOptions(settings, outside, signal),
      logger: SILENT,
    });
    client.on("disconnected", () => ended.abort());
    client.on("slack_event", ({ ack, body }: { ack: () => Promise<void>; body: unknown }) => {
      // Slack sends an event again that is not acknowledged in time. It is then recognized by its id.
      const acknowledge = (isKept: boolean) => (isKept ? ack().catch(() => undefined) : undefined);
      void (take(body)?.then(acknowledge) ?? acknowledge(true));
    });
    const started = client.start();
    try {
      await firstOf(started, clock.sleep(HELLO_WITHIN_MS, until));
      failures = 0;
      log.info({ channel: "slack" }, "listening to Slack by Socket Mode");
      await aborted(until);
    } catch (error) {
      failures += 1;
      const code = deliveryError(error).providerCode;
      if (!signal.aborted) log.warn({ channel: "slack", code }, "Slack could not be listened to; trying again");
    }
    ended.abort();
    // A connection that is let go of while it opens would be opened all the same.
    await atMost(started, clock);
    await atMost(client.disconnect(), clock);
    await clock.sleep(failures === 0 ? USUAL_PAUSE_MS : pauseAfter(failures), signal);
  }
}

/** @throws when the time is over first */
async function firstOf(work: Promise<unknown>, over: Promise<void>): Promise<void> {
  const late = over.then(() => {
    throw new Error("no greeting in time");
  });
  await Promise.race([work, late]);
}

/** Resolves when the work has ended, one way or another, or has taken too long. */
async function atMost(work: Promise<unknown>, clock: Clock): Promise<void> {
  const ended = new AbortController();
  const end = () => ended.abort();
  work.then(end, end);
  await clock.sleep(CLOSE_WITHIN_MS, ended.signal);
}

/** Resolves when a signal is aborted. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
