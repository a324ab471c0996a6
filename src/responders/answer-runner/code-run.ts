import { Worker } from "node:worker_threads";
import type { Clock } from "../../lib/clock.ts";
import type { CodeJob, CodeResult } from "./code-worker.ts";

const MOST_MS = 2000;
const MOST_START_MS = 10_000;

/**
 * Runs a program of the model's in QuickJS, without access to files, network, clock or random numbers, in a thread that
 * is killed after two seconds. Resolves with its last value as JSON, or with the error of the program: the model may
 * correct its program, so such an error is never a failure of the tool.
 */
export async function runCode(job: CodeJob, clock: Clock, signal: AbortSignal): Promise<string> {
  const worker = new Worker(new URL("./code-worker.ts", import.meta.url), {
    workerData: job,
    env: {},
    stdin: false,
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 16 },
  });
  const over = new AbortController();
  const stop = AbortSignal.any([over.signal, signal]);
  try {
    const started = new Promise<void>((resolve) => worker.once("message", () => resolve()));
    const ended = new Promise<CodeResult>((resolve) => {
      // The first message says that the interpreter is there, the second what the program gave.
      worker.on("message", (message: CodeResult | "ready") => message !== "ready" && resolve(message));
      worker.once("error", (error) => resolve({ error: error instanceof Error ? error.message : String(error) }));
      worker.once("exit", () => resolve({ error: "it used more memory than it may" }));
    });
    const late = Promise.race([started, clock.sleep(MOST_START_MS, stop)])
      .then(() => clock.sleep(MOST_MS, stop))
      .then((): CodeResult => ({ error: `it did not end within ${MOST_MS / 1000} s` }));
    const result = await Promise.race([ended, late]);
    return "error" in result ? `Error: ${result.error}` : result.json;
  } finally {
    over.abort();
    await worker.terminate();
  }
}
