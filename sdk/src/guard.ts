import {
  type ApprovalOptions,
  type ApprovalRequest,
  approve,
  claim,
  type Decision,
  type ReceiptRules,
} from "./approvals.ts";
import { doneWith, failedWith, isUnknownRoute, reportQuietly } from "./call-report.ts";
import { canonical, copyOf } from "./consent.ts";
import { ParleyError } from "./errors.ts";
import type { Connection } from "./http.ts";
import { newKey } from "./idempotency-key.ts";

/** How to ask before a function runs. */
export interface GuardOptions extends Omit<ApprovalOptions, "signal" | "idempotencyKey" | "reports"> {
  /** The function's name as people read it; left out, the function's own name. */
  name?: string;
}

/** The options of one call: its idempotency key, its reason, and the signal that aborts the wait. */
export type GuardedCall = Pick<ApprovalOptions, "signal" | "idempotencyKey" | "reason">;

/** So many results are kept under idempotency keys. */
const MOST_RESULTS = 1000;

/** Returns the function behind an approval; what `Parley.requireApproval` promises. */
export function requireApproval<Args extends object, Result>(
  connection: Connection,
  run: (args: Args) => Result | Promise<Result>,
  { name = run.name, ...options }: GuardOptions,
  rules: ReceiptRules,
): (args: Args, call?: GuardedCall) => Promise<Result> {
  if (name === "") throw new TypeError("The function has no name that people could read: give it as `name`.");
  /** The runs under idempotency keys, so that one approval is one run; null where the result is no longer kept. */
  const runs = new Map<string, Promise<Result> | null>();
  /** The keys whose result is kept, the oldest first. */
  const kept = new Set<string>();

  return async (given, call = {}) => {
    const args = copyOf(given);
    const key = call.idempotencyKey && `${call.idempotencyKey} ${canonical(args)}`;
    const earlier = key ? runs.get(key) : undefined;
    if (earlier === null)
      throw new Error("This call has run under its idempotency key, and its result is no longer kept.");
    if (earlier) return earlier;
    let isStarted = false;
    const running = (async () => {
      const request: ApprovalRequest<Args> = { ...options, ...call, fn: name, args };
      const decision = await approve(connection, request, rules, "start");
      await start(connection, decision, call.signal);
      isStarted = true;
      return reportedRun(connection, decision, run);
    })();
    if (key) {
      runs.set(key, running);
      const forget = () => {
        if (!isStarted) return runs.delete(key);
        kept.add(key);
        const [oldest = key] = kept;
        return kept.size > MOST_RESULTS && kept.delete(oldest) && runs.set(oldest, null);
      };
      running.then(forget, forget);
    }
    return running;
  };
}

/**
 * Takes the call on the server for this run alone. A server without claims (0.2) lets every run start.
 *
 * @throws {ParleyError} `already_claimed`, `outcome_known`, or the signal's reason: the approval is given back then
 */
async function start(
  connection: Connection,
  { id, fn }: Pick<Decision, "id" | "fn">,
  signal: AbortSignal | undefined,
): Promise<void> {
  try {
    signal?.throwIfAborted();
    await claim(connection, id, { run: newKey(), signal });
  } catch (error) {
    // A start that arrived all the same keeps the call: the server refuses to have it withdrawn then.
    if (signal?.aborted) void reportQuietly(connection, id, { outcome: "withdrawn" });
    else if (isUnknownRoute(error)) return;
    throw refusalOf(fn, error);
  }
}

/** Returns the refusal of a start in words about the function; any other error as it is. */
function refusalOf(fn: string, error: unknown): unknown {
  if (!(error instanceof ParleyError) || error.status !== 409) return error;
  const { code, status, details } = error;
  const why =
    code === "outcome_known"
      ? `its approval has ended (${String(details["state"])})`
      : "another run has started it under this approval, and may have acted";
  return new ParleyError(code, `${fn} did not run: ${why}.`, { status, details, cause: error });
}

/** Runs the function with what was approved, and reports its end. Neither result nor error depends on the report. */
async function reportedRun<Args extends object, Result>(
  connection: Connection,
  { id, args }: Pick<Decision<Args>, "id" | "args">,
  run: (args: Args) => Result | Promise<Result>,
): Promise<Result> {
  let result: Result;
  try {
    result = await run(args);
  } catch (error) {
    await reportQuietly(connection, id, failedWith(error));
    throw error;
  }
  await reportQuietly(connection, id, doneWith(result));
  return result;
}
