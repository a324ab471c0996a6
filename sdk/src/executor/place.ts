import { fromEnvironment, isSameAddress, LOCAL_URL } from "../environment.ts";
import { Connection } from "../http.ts";

/** The server and the identity of the caller. Omitted options are taken from the environment. */
export interface RelayOptions {
  /** Else `PARLEY_URL`, else `ASK_ANSWER_ORIGIN`, else `http://127.0.0.1:3415`. */
  url?: string;
  /** Else `PARLEY_KEY`, which is sent only to the server that the environment names. */
  key?: string;
  /** Replaces the platform's fetch. */
  fetch?: typeof globalThis.fetch;
  signal?: AbortSignal;
}

/** Which job, and what shows that it is held. */
export interface JobOptions extends RelayOptions {
  /** Else `PARLEY_JOB_ID`, else `TASK_RELAY_JOB_ID`. */
  job_id?: string;
  /** Else, where `job_id` is left out too, `PARLEY_LEASE`; an external job has none. */
  lease?: string;
}

/**
 * Returns a connection that tries nothing twice by itself: `persist` does.
 *
 * @throws {Error} a sentence, where the only key is that of the environment, and the server is another
 */
export function connect(options: JobOptions, onReply?: (reply: Response) => void): Connection {
  const known = fromEnvironment("PARLEY_URL", "ASK_ANSWER_ORIGIN") ?? LOCAL_URL;
  const url = options.url ?? known;
  const key = options.key ?? keyFor(url, known);
  const lease = options.lease ?? (options.job_id === undefined ? fromEnvironment("PARLEY_LEASE") : undefined);
  const headers = { authorization: key === undefined ? undefined : `Bearer ${key}`, "parley-lease": lease };
  return new Connection(
    {
      url,
      retries: 0,
      ...(options.fetch && { fetch: options.fetch }),
    },
    () => headers,
    onReply,
  );
}

function keyFor(url: string, known: string): string | undefined {
  const key = fromEnvironment("PARLEY_KEY");
  if (key === undefined || isSameAddress(url, known)) return key;
  throw new Error(`PARLEY_KEY is for the server at ${known}, and not for ${url}: give a key, or set PARLEY_URL to it.`);
}

/**
 * Returns the path of the job that the options or the environment name. @throws {Error} a sentence, when neither does
 */
export function jobPath(options: JobOptions): string {
  return `/jobs/${encodeURIComponent(named("job_id", options.job_id, "PARLEY_JOB_ID", "TASK_RELAY_JOB_ID"))}`;
}

/** Returns what an option or the environment says. @throws {Error} a sentence, when neither does */
export function named(option: string, given: string | undefined, ...variables: string[]): string {
  const value = given ?? fromEnvironment(...variables);
  if (value === undefined) throw new Error(`There is no ${option}: give it, or set ${variables[0]}.`);
  return value;
}

/** How long a first request to a server that cannot be reached is repeated, in ms. */
export const PATIENCE_MS = 300_000;
