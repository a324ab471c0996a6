import pg from "pg";
import { systemClock } from "../../../lib/clock.ts";
import {
  beginSession,
  breakConnection,
  connectionTo,
  localLimits,
  sessionLimits,
  type SessionLimits,
} from "./connection.ts";
import { isReadOnly, isUnheard } from "./errors.ts";
import type { Hosts } from "./hosts.ts";
import type { SentStatement } from "./statement-batch.ts";
import type { Lent } from "./transaction.ts";

type Callback = (err: Error | undefined, client: pg.PoolClient | undefined, done: (release?: unknown) => void) => void;

interface HostPoolOptions {
  url: string;
  waitMs: number;
  /** Shared by all pools of one address. */
  hosts: Hosts;
  config: pg.PoolConfig;
  /** Other limits of its sessions than the usual ones. */
  limits?: Partial<SessionLimits>;
  /** A pooler may lend one session to several connections: nothing is set for longer than a transaction. */
  isShared: boolean;
}

/** The pool says this when no connection came back in time, which tells nothing about a host. */
const IS_FULL = "timeout exceeded when trying to connect";

/**
 * A pool whose connections go to the primary among several hosts. A new connection tries each host once; a host that
 * takes no writes counts as one that cannot be reached. When another host was found to be the primary, connections to
 * the former one are broken: it may be cut off, and would still answer reads.
 */
export class HostPool extends pg.Pool {
  /** The statements with which each transaction and batch on its connections begins. */
  readonly limits: readonly SentStatement[];
  readonly #hosts: Hosts;

  constructor({ url, waitMs, hosts, config, limits: other, isShared }: HostPoolOptions) {
    const limits = sessionLimits(url, waitMs, other);
    const addressOf = new WeakMap<object, string>();
    class HostClient extends pg.Client {
      constructor(given?: pg.ClientConfig) {
        const address = hosts.current();
        super({ ...given, connectionString: address });
        addressOf.set(this, address);
      }
    }
    // The pool waits for the promise, which its types do not know of.
    const begins: object = {
      async onConnect(client: pg.ClientBase) {
        const sentAt = systemClock.monotonic();
        const nowMs = await beginSession(client, url, isShared ? {} : limits);
        hosts.accept(addressOf.get(client) ?? url, nowMs, sentAt);
      },
    };
    super({ ...connectionTo(url, waitMs, "parley"), ...config, Client: HostClient, ...begins });
    this.limits = isShared ? [localLimits(limits)] : [];
    this.#hosts = hosts;
    const open = new Set<pg.PoolClient>();
    this.on("connect", (client) => void open.add(client));
    this.on("remove", (client) => void open.delete(client));
    hosts.onMove((address) => {
      for (const client of open) if (addressOf.get(client) !== address) breakConnection(client);
    });
  }

  override connect(): Promise<pg.PoolClient>;
  override connect(callback: Callback): void;
  override connect(callback?: Callback): Promise<pg.PoolClient> | void {
    return callback ? super.connect(callback) : this.#connectInTurn();
  }

  async #connectInTurn(): Promise<pg.PoolClient> {
    for (let left = this.#hosts.count; ; left -= 1) {
      const address = this.#hosts.current();
      try {
        return await super.connect();
      } catch (error) {
        if (error instanceof Error && error.message === IS_FULL) throw error;
        this.#hosts.passOver(address);
        if (left <= 1) throw error;
      }
    }
  }
}

/** A connection that was lent for as long as its borrower wants it. */
export type Borrowed = Omit<Lent, "left">;

/**
 * Lends a connection. A connection does not come back to the pool if it broke, has not answered in time, or was dropped
 * by its borrower.
 */
export async function lend<T>(pool: HostPool, use: (borrowed: Borrowed) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  let isDropped = false;
  const drop = (): void => {
    isDropped = true;
    breakConnection(client);
  };
  const onBreak = (error: Error) => (broken ??= error);
  client.on("error", onBreak);
  try {
    return await use({ client, drop, limits: pool.limits });
  } catch (error) {
    if (isUnheard(error) || isReadOnly(error)) onBreak(error);
    // Why the connection ended says more than that it has; of one that was dropped, why it was.
    throw isDropped ? error : (broken ?? error);
  } finally {
    client.off("error", onBreak);
    client.release(broken ?? isDropped);
  }
}
