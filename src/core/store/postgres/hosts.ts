import type { Clock } from "../../../lib/clock.ts";
import { hostAddresses } from "../../../lib/network/postgres-hosts.ts";

/**
 * The hosts of one address of PostgreSQL, one of which is the primary. Connections go to the host that was the primary
 * last, until it fails, and then to the others in turn.
 */
export interface Hosts {
  readonly count: number;
  /** The address to which the next connection goes. */
  current(): string;
  /** Connections to this address fail or take no writes: the next one goes elsewhere. */
  passOver(address: string): void;
  /**
   * A connection to this address takes writes, and its clock said `nowMs` after the moment `sentAt` of this machine's
   * monotonic clock.
   *
   * @throws {ClockBehind} its clock is behind that of the primary which failed: the store's time would go back
   */
  accept(address: string, nowMs: number, sentAt: number): void;
  /** The listener is called when another address than before was accepted. */
  onMove(listener: (address: string) => void): void;
}

/** A new primary whose clock is still behind the last moment that the former one can have given. */
class ClockBehind extends Error {
  /** The database cannot be connected to, for now. */
  readonly code = "08001";

  constructor(ms: number) {
    super(
      `the clock of the new primary is ${Math.ceil(ms)} ms behind that of the former one, and nothing is written until it has caught up`,
    );
  }
}

export function openHosts(url: string, clock: Pick<Clock, "monotonic">): Hosts {
  const addresses = hostAddresses(url);
  const listeners: ((address: string) => void)[] = [];
  let next = 0;
  let primary: { address: string; nowMs: number; sentAt: number } | undefined;
  /** The last moment that the primary, which has failed since, can have given, in its own time. */
  let lastMs = 0;
  const current = (): string => addresses[next] ?? url;

  return {
    count: addresses.length,
    current,
    passOver(address) {
      if (address === primary?.address && lastMs === 0) lastMs = primary.nowMs + clock.monotonic() - primary.sentAt;
      if (address === current()) next = (next + 1) % addresses.length;
    },
    accept(address, nowMs, sentAt) {
      if (nowMs < lastMs) throw new ClockBehind(lastMs - nowMs);
      const former = primary?.address;
      lastMs = 0;
      primary = { address, nowMs, sentAt };
      if (former !== undefined && former !== address) for (const listener of listeners) listener(address);
    },
    onMove: (listener) => void listeners.push(listener),
  };
}
