import { Refusal } from "../../../refusals.ts";

/** The SQLSTATE of a write where nothing may be written. */
export const READ_ONLY = "25006";
const DISK_FULL = "53100";
/** The result of a plan has changed; a statement was not prepared on this connection, or is so no more. */
const STALE_PLANS = new Set(["0A000", "26000"]);
/** The system's calls that lead to a database. */
const WAYS_THERE = new Set<unknown>(["connect", "getaddrinfo"]);

/** Returns the five characters by which PostgreSQL or the system names an error; empty where it has none. */
export function sqlStateOf(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
}

/** The client waited for a reply as long as it may, and none has come: what the connection says next answers nobody. */
export function isUnheard(error: unknown): error is Error {
  return error instanceof Error && error.message === "Query read timeout";
}

/** A connection keeps a plan that is older than a change of the schema, or has lost it: planned anew, the statement runs. */
export function isPlanStale(error: unknown): boolean {
  return STALE_PLANS.has(sqlStateOf(error));
}

/** The database takes no writes any more: the primary is elsewhere, and other connections find it. */
export function isReadOnly(error: unknown): error is Error {
  return sqlStateOf(error) === READ_ONLY;
}

/**
 * Whether the database is away or held up: classes 08 (connection), 53 (resources), 57 (shutdown, and statements that
 * took too long), a lock that was not to be had, a standby, a transaction that stood still, whatever the system says of
 * a host or socket that cannot be connected to, and the client's errors when the wire broke or nothing arrives on it.
 */
export function isAway(error: unknown): boolean {
  if (error instanceof Error && "syscall" in error && WAYS_THERE.has(error.syscall)) return true;
  if (/^(08|53|57|55P03|25006|25P0[34]|ECONN|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENOTFOUND)/.test(sqlStateOf(error)))
    return true;
  const broken = /Connection terminated|timeout exceeded when trying to connect|not queryable|pool after calling end/;
  return isUnheard(error) || (error instanceof Error && broken.test(error.message));
}

/** Returns the refusal that an error of the database amounts to; otherwise the error itself. */
export function translate(error: unknown): unknown {
  if (sqlStateOf(error) === DISK_FULL) return new Refusal("store_full");
  return isAway(error) ? new Refusal("store_unavailable", {}) : error;
}
