import pg from "pg";
import type { Clock } from "../../../lib/clock.ts";
import { hostAddresses } from "../../../lib/network/postgres-hosts.ts";
import { READ_ONLY } from "./errors.ts";
import { postgresNumbers, type SentStatement } from "./statement-batch.ts";

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
const PATIENT_CONNECT_MS = 10_000;

/**
 * Returns how every connection to PostgreSQL is opened; `beginSession` sets its limits. Where the address names several
 * hosts, each gets its share of the time.
 */
export function connectionTo(url: string, waitMs: number, name: string): pg.ClientConfig {
  return {
    connectionString: url,
    application_name: name,
    connectionTimeoutMillis: part(waitMs, 5 / 6 / hostAddresses(url).length),
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
 * Returns the limits of a session: nothing on it lasts longer than `waitMs`, on either side, so that a write that
 * cannot go on is refused within two seconds by default (spec/invariants R7). A limit in `other` replaces the usual one;
 * a parameter of the same name in the address stays in force.
 *
 * The database ends a transaction whose server sends nothing for half of the wait. That is below the wait of anybody
 * for a lock, so a caller that needs a row of a frozen server gets it while the wait lasts. It is far above every pause
 * of a server that runs. A server that lost its transaction so runs it again, or reports that nothing was done.
 */
export function sessionLimits(url: string, waitMs: number, other: Partial<SessionLimits> = {}): Partial<SessionLimits> {
  const limits: SessionLimits = {
    statement_timeout: waitMs,
    lock_timeout: part(waitMs, 2 / 3),
    idle_in_transaction_session_timeout: part(waitMs, 1 / 2),
    ...other,
  };
  const addressed = parametersOf(url);
  return Object.fromEntries(Object.entries(limits).filter(([name]) => name in other || !addressed.has(name)));
}

/**
 * Returns the statement that sets limits for the transaction or the batch in which it comes first, and for nobody else
 * to whom a pooler lends the session.
 */
export function localLimits(limits: Partial<SessionLimits>): SentStatement {
  const each = Object.entries(limits).map(([name, ms]) => `set_config('${name}', '${ms}', true)`);
  return { text: `SELECT ${each.join(", ")}`, values: [] };
}

/**
 * Sets the limits of a new connection, by a statement, because poolers pass on no start parameters. Returns the time of
 * the database's machine, in ms.
 *
 * @throws {ReadOnly} the database takes no writes, and the address does not say `target_session_attrs=any`
 */
export async function beginSession(
  client: pg.ClientBase,
  url: string,
  limits: Partial<SessionLimits>,
): Promise<number> {
  const { rows } = await client.query<{ set: string; access: string; now: string }>(BEGIN_SESSION, [
    Object.keys(limits),
    Object.values(limits).map(String),
  ]);
  if (rows[0]?.access === "on" && parametersOf(url).get("target_session_attrs") !== "any") throw new ReadOnly();
  return Number(rows[0]?.now);
}

const parametersOf = (url: string): URLSearchParams => new URLSearchParams(url.split("?")[1]);

const BEGIN_SESSION = `SELECT (SELECT count(set_config(name, ms, false)) FROM unnest($1::text[], $2::text[]) AS w(name, ms)) AS set,
  current_setting('transaction_read_only') AS access, floor(extract(epoch FROM clock_timestamp()) * 1000) AS now`;

/** A standby, or a primary that was told to take no writes. */
class ReadOnly extends Error {
  readonly code = READ_ONLY;

  constructor() {
    super("it takes no writes, as a standby does");
  }
}

/**
 * Opens one connection, to the primary among the hosts of the address, with the limits of a session. Errors of the
 * connection go to `onError`.
 *
 * @throws {Error} the last host's own
 */
export async function openConnection({
  url,
  waitMs,
  name,
  config = {},
  limits,
  onError = () => {},
}: ConnectionOptions): Promise<pg.Client> {
  let failure: unknown;
  for (const address of hostAddresses(url)) {
    const client = new pg.Client({ ...connectionTo(url, waitMs, name), ...config, connectionString: address });
    client.on("error", onError);
    try {
      await client.connect();
      await beginSession(client, url, sessionLimits(url, waitMs, limits));
      return client;
    } catch (error) {
      breakConnection(client);
      failure = error;
    }
  }
  throw failure;
}

interface ConnectionOptions {
  url: string;
  waitMs: number;
  name: string;
  /** Other settings than those of `connectionTo`. */
  config?: pg.ClientConfig;
  limits?: Partial<SessionLimits>;
  onError?: (error: Error) => void;
}

/**
 * Opens a connection for a command that may take long, and that nothing is done without. A connection that breaks
 * between two statements fails the next one.
 */
export function openPatientConnection(
  { url, waitMs }: Pick<ConnectionOptions, "url" | "waitMs">,
  name: string,
  limits: Partial<SessionLimits> = {},
): Promise<pg.Client> {
  return openConnection({
    url,
    waitMs,
    name,
    config: {
      connectionTimeoutMillis: PATIENT_CONNECT_MS,
      query_timeout: LONG_STATEMENT_MS,
      types: postgresNumbers,
    },
    limits: { statement_timeout: LONG_STATEMENT_MS, ...limits },
  });
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
