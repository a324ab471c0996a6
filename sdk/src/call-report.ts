import { canonical, checkTexts, copyOf, digestOf } from "./consent.ts";
import { ParleyError } from "./errors.ts";
import type { CallOptions, Connection } from "./http.ts";
import { request } from "./outcome.ts";
import { AWAY_MS } from "./persist.ts";

/** The way an approved call ended. People read it beside the approval. */
export interface CallReport extends CallOptions {
  /** Words for people, at most 500 characters. The server takes secrets out. */
  text?: string;
  /** The result. Its digest is sent, and not the result. A value that JSON cannot carry has no digest. */
  result?: unknown;
  /** The digest of the result, `sha256:…`, in the place of `result`. */
  resultDigest?: string;
}

/** The reports about a call that has started. A report is accepted once, and repeating it changes nothing. */
export interface EndReports {
  /** The call ran, and did what it was approved for. @throws {ParleyError} `outcome_known` after another report */
  done(report?: CallReport): Promise<void>;
  /** The call ran, and failed. @throws {ParleyError} `outcome_known` after another report */
  failed(report?: CallReport): Promise<void>;
}

/** The reports about a call that is approved. A server that knows no reports (0.2) takes none, which is no error. */
export interface CallReports extends EndReports {
  /** The call will not run. @throws {ParleyError} `outcome_started`, `outcome_known` */
  withdrawn(text?: string, options?: CallOptions): Promise<void>;
}

/** An end of a call, as it travels. */
interface End {
  outcome: "done" | "failed" | "withdrawn";
  text?: string | undefined;
  result_digest?: string | undefined;
}

/** Returns the reports about the call of this id. */
export function reportsOn(connection: Connection, id: string): CallReports {
  const ended = (outcome: End["outcome"]) => async (report: CallReport) => {
    const { text, signal } = report;
    checkTexts({ text });
    await send(connection, id, { outcome, text, result_digest: await digestIn(report) }, signal);
  };
  return {
    done: (report = {}) => ended("done")(report),
    failed: (report = {}) => ended("failed")(report),
    withdrawn: (text, options = {}) => ended("withdrawn")({ ...options, ...(text !== undefined && { text }) }),
  };
}

/** Returns the same object with the reports on it, which are none of its members when it is compared, copied or stored. */
export function withReports<T extends object>(decision: T, reports: CallReports): T & CallReports {
  const methods = Object.entries(reports).map(([name, value]) => [name, { value: value as unknown }] as const);
  return Object.defineProperties(decision, Object.fromEntries(methods)) as T & CallReports;
}

/** So long the result of a function waits for the report about it, which goes on afterwards. */
const REPORT_HOLD_MS = 2000;

/**
 * Reports an end without an effect on whoever waits: a server that is away is tried for up to a minute, the promise
 * resolves after 2 seconds at the latest, and a refusal changes nothing.
 */
export async function reportQuietly(connection: Connection, id: string, report: Promise<End> | End): Promise<void> {
  const sent = (async () => send(connection, id, await report))().catch(() => undefined);
  const over = new AbortController();
  await Promise.race([sent, connection.clock.sleep(REPORT_HOLD_MS, over.signal)]);
  over.abort();
}

/** Returns the report of a function that returned this. */
export async function doneWith(result: unknown): Promise<End> {
  return { outcome: "done", result_digest: await digestIn({ result }) };
}

/** Returns the report of a function that threw this: its name alone, since its message may hold a secret. */
export function failedWith(error: unknown): End {
  const name = error instanceof Error ? String(error.name) : typeof error;
  return { outcome: "failed", text: name.slice(0, 100) };
}

async function send(connection: Connection, id: string, end: End, signal?: AbortSignal): Promise<void> {
  try {
    const patience = { signal, patienceMs: AWAY_MS };
    await request(connection, `/function_calls/${encodeURIComponent(id)}/outcome`, end, patience);
  } catch (error) {
    if (!isUnknownRoute(error)) throw error;
  }
}

/** True for the refusal of a server that does not have the route: the call itself was read there before. */
export function isUnknownRoute(error: unknown): boolean {
  return error instanceof ParleyError && error.status === 404 && error.code === "not_found";
}

async function digestIn({ result, resultDigest }: CallReport): Promise<string | undefined> {
  if (resultDigest !== undefined) return resultDigest;
  try {
    return await digestOf(canonical(copyOf(result)));
  } catch {
    return undefined;
  }
}
