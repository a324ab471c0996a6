import type pg from "pg";
import type { Clock } from "../../../lib/clock.ts";

/** A connection that received nothing for this long, in ms, is probed: is its other end still there? */
const KEEP_ALIVE_AFTER_MS = 10_000;
/**
 * The limit for statements that take long on purpose and hold nobody else up: examining the whole store, changing the
 * schema.
 */
export const LONG_STATEMENT_MS = 3_600_000;
/** The name of the connection on which a running server is notified by the others; commands have no such connection. */
export const WAKE_CONNECTION = "parley wake";
/** Servers that start together wait for the one that changes the schema. */
const LONG_LOCK_MS = 600_000;

/** Returns how every connection to PostgreSQL is opened; `beginSession` sets its limits. */
export function connectionTo(url: string, waitMs: number, name: string): pg.ClientConfig {
  return {
    connectionString: url,
    application_name: name,
    connectionTimeoutMillis: part(waitMs, 5 / 6),
    query_timeout: waitMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MS,
  };
}

const part = (ms: number, of: number): number => Math.max(1, Math.round(ms * of));

/** The limits of a session by PostgreSQL's names, in ms. */
export interface SessionLimits {
  statement_timeout: number;
  lock_timeout: number;
  idle_in_transaction_session_timeout: number;
}

/**
 * Sets the limits of a new connection: nothing on it lasts longer than `waitMs`, on either side, so that a write that
 * cannot go on is refused within two seconds by default (spec/invariants R7). A limit in `other` replaces the usual one;
 * a parameter of the same name in the address stays in force. A statement sets the limits, because poolers pass on no
 * start parameters.
 *
 * The database ends a transaction whose server sends nothing for half of the wait. That is below the wait of anybody
 * for a lock, so a caller that needs a row of a frozen server gets it while the wait lasts. It is far above every pause
 * of a server that runs. A server that lost its transaction so runs it again, or reports that nothing was done.
 */
export async function beginSession(
  client: pg.ClientBase,
  url: string,
  waitMs: number,
  other: Partial<SessionLimits> = {},
): Promise<void> {
  const limits: SessionLimits = {
    statement_timeout: waitMs,
    lock_timeout: part(waitMs, 2 / 3),
    idle_in_transaction_session_timeout: part(waitMs, 1 / 2),
    ...other,
  };
  const addressed = new URLSearchParams(url.split("?")[1]);
  const wanted = Object.entries(limits).filter(([name]) => name in other || !addressed.has(name));
  await client.query("SELECT set_config(name, ms, false) FROM unnest($1::text[], $2::text[]) AS wanted(name, ms)", [
    wanted.map(([name]) => name),
    wanted.map(([, ms]) => String(ms)),
  ]);
}

/** Begins a transaction that may take long. */
export const BEGIN_LONG = `BEGIN; SET LOCAL statement_timeout = ${LONG_STATEMENT_MS};
  SET LOCAL lock_timeout = ${LONG_LOCK_MS}; SET LOCAL idle_in_transaction_session_timeout = ${LONG_LOCK_MS}`;

/** The connection is closed: politely where its other end still listens, and after `ms` without. */
export async function endConnection(client: pg.Client, clock: Clock, ms: number): Promise<void> {
  const over = new AbortController();
  const ended = client.end().finally(() => over.abort());
  await Promise.race([ended, clock.sleep(ms, over.signal)]);
  breakConnection(client);
}

/** Whatever waits on the connection fails now. */
export function breakConnection(client: pg.ClientBase): void {
  // Not among its declared parts; it is what its own `end` destroys.
  (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
}
