import { spawn } from "node:child_process";
import { once } from "node:events";
import { LeaseLost, type HeldJob, type JobLog } from "@parley/sdk/executor";
import { systemClock } from "../../lib/clock.ts";
import { linesOf } from "../../lib/lines.ts";
import { printable } from "../../lib/printable.ts";
import type { Io } from "../command.ts";

/** The command that runs for a job, and the server address and key in its environment. */
export interface JobCommand {
  program: string;
  args: readonly string[];
  url: string;
  key: string | undefined;
}

/** The command does not exist or cannot be executed. */
export class CannotStart extends Error {}

const STEP = "main";
/** How long a command may take to end by itself after the signal. */
const END_WITHIN_MS = 10_000;
const MOST_ENTRIES = 100;
const MOST_WAITING = 1000;
/** The most characters of one log line, and of all in one request; both far below the server's limits. */
const LONGEST_LINE = 4000;
const MOST_CHARS = 200_000;

/**
 * The command has run for a job, with the job in its environment and the job's spec on its standard input; what it wrote
 * to standard output are the job's logs, and the job ended as it did. Once the job is lost, the command gets a signal.
 *
 * @throws {CannotStart}, or why the job was lost
 */
export async function runJob(held: HeldJob, { program, args, url, key }: JobCommand, io: Io): Promise<void> {
  const spec = held.job.spec === undefined ? "" : JSON.stringify(held.job.spec);
  // A group of its own, so that what the command started ends with it.
  const isGrouped = process.platform !== "win32";
  const child = spawn(program, [...args], {
    stdio: ["pipe", "pipe", "inherit"],
    detached: isGrouped,
    env: { ...io.env, ...environmentOf(held, { url, key, spec }) },
  });
  const kill = (signal: NodeJS.Signals) => {
    try {
      if (isGrouped && child.pid !== undefined) process.kill(-child.pid, signal);
      else child.kill(signal);
    } catch {
      // It has ended already.
    }
  };
  const over = new AbortController();
  const end = async () => {
    kill("SIGTERM");
    await systemClock.sleep(END_WITHIN_MS, over.signal);
    if (!over.signal.aborted) kill("SIGKILL");
  };
  try {
    await once(child, "spawn").catch((error: unknown) => {
      throw new CannotStart(`${program} cannot be started: ${error instanceof Error ? error.message : String(error)}`);
    });
    if (held.signal.aborted) void end();
    else held.signal.addEventListener("abort", () => void end(), { once: true, signal: over.signal });
    child.on("error", (error) => io.tell(`${held.job.job_id}: ${error.message}`));
    // Not every command reads what it is given.
    child.stdin.on("error", () => {});
    child.stdin.end(spec);
    const closed = once(child, "close") as Promise<[number | null, NodeJS.Signals | null]>;
    await keepLines(child.stdout, held, io);
    const [code, signal] = await closed;
    held.signal.throwIfAborted();
    if (code === 0) await held.finish({ state: "SUCCEEDED" });
    else await held.finish({ state: "FAILED", reason: code === null ? `ended by ${signal}` : `exit code ${code}` });
  } finally {
    over.abort();
  }
}

/** A job as the programs of this SDK and of others look for it. */
function environmentOf(
  { job, lease }: HeldJob,
  { url, key, spec }: { url: string; key: string | undefined; spec: string },
): Record<string, string> {
  return {
    PARLEY_URL: url,
    ...(key !== undefined && { PARLEY_KEY: key }),
    PARLEY_JOB_ID: job.job_id,
    PARLEY_STEP_ID: STEP,
    PARLEY_LEASE: lease.token,
    PARLEY_JOB_SPEC: spec,
    ASK_ANSWER_ORIGIN: url,
    TASK_RELAY_JOB_ID: job.job_id,
    TASK_RELAY_STEP_ID: STEP,
    ...(job.repo !== undefined && { TASK_RELAY_REPO: job.repo }),
    ...(job.env !== undefined && { TASK_RELAY_PROFILE: job.env }),
  };
}

/** Each line is shown here and stands among the job's logs, in order; a command that writes faster than that waits. */
async function keepLines(stdout: AsyncIterable<Uint8Array>, held: HeldJob, io: Io): Promise<void> {
  const waiting: JobLog[] = [];
  let isKept = true;
  const keep = async () => {
    while (waiting.length > 0 && isKept) {
      const entries = waiting.splice(0, fitting(waiting));
      await held.log(entries).catch((error: unknown) => {
        isKept = false;
        if (held.signal.aborted || error instanceof LeaseLost) return;
        io.tell(`${held.job.job_id}: no more logs are kept: ${error instanceof Error ? error.message : String(error)}`);
      });
    }
  };
  let keeping: Promise<void> | undefined;
  for await (const line of linesOf(stdout)) {
    io.out(line);
    const message = printable(line).slice(0, LONGEST_LINE).toWellFormed();
    if (message.trim() === "" || !isKept) continue;
    waiting.push({ message });
    keeping ??= keep().finally(() => (keeping = undefined));
    if (waiting.length >= MOST_WAITING) await keeping;
  }
  await keeping;
}

/** Returns how many of these entries fit into one request. */
function fitting(entries: readonly JobLog[]): number {
  let chars = 0;
  const end = entries.findIndex(({ message }, i) => i >= MOST_ENTRIES || (chars += message.length) > MOST_CHARS);
  return end < 0 ? entries.length : Math.max(1, end);
}
