import type { Config } from "../config/config.ts";
import type { Context } from "../context.ts";
import type { Loop } from "../lib/loop.ts";
import { listenSentence } from "../lib/network/listen.ts";
import { whyOthersReach } from "../lib/network/reach.ts";
import { buildApp } from "./app.ts";
import { openListening, type Listening } from "./listening.ts";
import { startLoops } from "./loops.ts";
import { completeOutside, type Outside } from "./outside.ts";
import { openParts, type Parts } from "./parts.ts";
import { policyNotes, startPolicy } from "./policy.ts";
import { startPush } from "./push.ts";
import { makeReady, settleDue, type Readiness } from "./ready.ts";
import { openRelay, type Relay } from "./relay.ts";
import { abandon, openStop, type StopOptions } from "./stop.ts";
import type { ServerWorkshop } from "./workshop.ts";
import { storeSentence } from "../core/store/open-store.ts";

export interface RunningServer {
  /** Where it listens. */
  url: string;
  /** The descriptors of the sockets it listens at, for a process that takes its place. */
  descriptors(): number[];
  ctx: Context;
  /** Notes for the operator. */
  notes: readonly string[];
  /** The first `agent` key, at the very first start only. */
  firstKey: string | null;
  /** One line about the store. */
  describes: string;
  /** Why others than the programs and people of this computer may reach it; null where nothing says so. */
  othersReachIt: string | null;
  /** The workshop that gives coding agents work; null where the settings name no repository. */
  work: Pick<ServerWorkshop, "notices" | "drain"> | null;
  /** Reads the files again that are watched anyway. */
  reload(): Promise<void>;
  /** Waiters are answered, streams end, writes finish, the store is closed; safe to call twice. */
  stop(how?: StopOptions): Promise<void>;
}

/**
 * Opens the store, settles what came due while nobody was looking, and answers requests.
 *
 * @throws {Error} one sentence for the operator, nothing harmed
 */
export async function startServer(config: Config, outside: Partial<Outside> = {}): Promise<RunningServer> {
  const parts = await openParts(config, completeOutside(config, outside));
  const answering = await beginToAnswer(parts).catch(async (error: unknown) => {
    await abandon(parts);
    throw storeSentence(listenSentence(error, config), config);
  });
  const { ready, listening, othersReachIt } = answering;
  const loops = startEveryLoop(parts, answering);

  return {
    url: listening.url,
    descriptors: () => listening.descriptors(),
    ctx: parts.ctx,
    notes: [...parts.store.notes, ...policyNotes(config, parts.policy), ...ready.notes],
    firstKey: ready.firstKey,
    describes: parts.store.db.describes,
    othersReachIt,
    work: parts.workshop,
    reload: async () => {
      await parts.policy.reload();
      await parts.announced.step();
    },
    stop: openStop(parts, listening, loops),
  };
}

/** The parts that exist once requests are answered. */
interface Answering {
  ready: Readiness;
  relay: Relay;
  listening: Listening;
  othersReachIt: string | null;
}

/** Settles overdue asks before the server listens, so that no caller finds one open. */
async function beginToAnswer(parts: Parts): Promise<Answering> {
  const { ctx, config, outside, later } = parts;
  const ready = await makeReady(parts);
  await settleDue(parts);
  const relay = await openRelay(ctx, config, parts);
  later.relay = relay;
  // point: before-listening
  const app = await buildApp(parts, ready.known);
  later.app = app;
  const listening = await openListening(app, ctx, { ...config, inherited: outside.sockets });
  return { ready, relay, listening, othersReachIt: settleReach(parts, listening) };
}

/** Settles the public URL and who reaches the server. @returns why others than this computer do, or null */
function settleReach({ config, settings }: Parts, listening: Listening): string | null {
  // Only now is it known which port was free.
  if (config.publicUrl === "http://127.0.0.1:0") settings.publicUrl = listening.url;
  // The addresses at which the server listens decide who can connect, whatever the settings intend.
  const why = whyOthersReach({ ...config, publicUrl: config.callableUrl }, listening.addresses());
  settings.loopbackOnly = why === null;
  return why;
}

/** Starts all that happens without a request, until each loop is stopped. */
function startEveryLoop(parts: Parts, { ready, relay }: Answering): Loop[] {
  const { ctx, door, settings, delivery, counters, probe, policy, announced, workshop } = parts;
  return [
    ...startLoops(door, delivery, { counters, probe }),
    ...startPush(ctx, settings, ready.push, delivery.guardedFetch),
    ...startPolicy(ctx, policy, announced),
    ...relay.start(),
    ...(workshop ? [workshop.start()] : []),
  ];
}
