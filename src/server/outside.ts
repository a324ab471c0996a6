import { pino, type Logger } from "pino";
import type { Channel } from "../channels/channel.ts";
import type { Config } from "../config/config.ts";
import { systemClock, type Clock } from "../lib/clock.ts";
import type { InheritedSocket } from "../lib/network/inherited-sockets.ts";
import { systemRandom, type Random } from "../lib/random.ts";
import { OWNED_TABLES } from "../backup/store/owned-tables.ts";
import { openStore, type Store } from "../core/store/open-store.ts";

/** The services of the machine that the server uses; tests put their own in their place. */
export interface Outside {
  clock: Clock;
  random: Random;
  fetch: typeof globalThis.fetch;
  log: Logger;
  /** The environment of the user who runs the server: where the agents of this computer are looked for. */
  env: Readonly<Record<string, string | undefined>>;
  /** Called when the data on disk cannot be relied on any more; the process must end. */
  onFatal: (error: Error) => void;
  /** Opens the store in another way, such as in memory. */
  openStore: () => Promise<Store>;
  /** Ways to reach people beside those that are configured. */
  channels: readonly Channel[];
  acceptLoss: boolean;
  /** The machine's clock is right, whatever the store remembers. */
  acceptClock: boolean;
  /** Sockets to listen at, which the process that passed them goes on holding open. */
  sockets: readonly InheritedSocket[];
}

/** Returns `given`, with the machine's own in place of what is left out. */
export function completeOutside(config: Config, given: Partial<Outside>): Outside {
  const { clock = systemClock, random = systemRandom, log = pino({ level: config.log.level }) } = given;
  const { fetch = globalThis.fetch, onFatal = endProcess(log), acceptLoss = false, acceptClock = false } = given;
  const openConfigured = () =>
    openStore(config, {
      clock,
      random,
      log,
      exclusive: true,
      onFatal,
      acceptLoss,
      acceptClock: acceptClock ? OWNED_TABLES : undefined,
    });
  return {
    clock,
    random,
    fetch,
    log,
    env: given.env ?? process.env,
    onFatal,
    openStore: given.openStore ?? openConfigured,
    channels: given.channels ?? [],
    acceptLoss,
    acceptClock,
    sockets: given.sockets ?? [],
  };
}

function endProcess(log: Logger): (error: Error) => void {
  return (error) => {
    log.fatal({ ...(error.cause !== undefined && { err: error.cause }) }, error.message);
    process.exit(70);
  };
}
