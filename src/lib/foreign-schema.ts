import { Worker } from "node:worker_threads";
import { readSchema, type SchemaProblem } from "./schema-rules.ts";

export type { SchemaProblem } from "./schema-rules.ts";

/** Judges values by JSON Schemas that somebody else wrote: interpreted, never compiled to code, and never for long. */
export interface ForeignSchemas {
  /** Returns why a schema cannot be used, or nothing (contract-a2h.md, section 5.6). */
  examine(schema: unknown): SchemaProblem | null;
  /** Returns where a value does not fit; an examination that takes too long is a problem too. */
  validate(schema: Readonly<Record<string, unknown>>, value: unknown): Promise<readonly SchemaProblem[]>;
  close(): Promise<void>;
}

/** Processor time of the worker, so that a busy machine refuses nobody's answer. */
const MOST_CPU_MS = 100;
/** What no examination may last, however busy the machine is. */
const MOST_MS = 5000;
const LOOK_EVERY_MS = 50;
const TOO_LONG: SchemaProblem = { path: "", message: "took too long to compare with the schema" };

interface Running {
  worker: Worker;
  ready: Promise<void>;
}

/**
 * Returns a judge that works one value at a time in a thread of its own, which starts with the first value and is
 * killed after 100 ms of its processor's time; the next value gets a new one.
 */
export function openForeignSchemas(): ForeignSchemas {
  let running: Running | null = null;
  let line: Promise<unknown> = Promise.resolve();

  async function end(): Promise<void> {
    const { worker } = running ?? {};
    running = null;
    await worker?.terminate();
  }

  async function judge(bare: unknown, value: unknown): Promise<readonly SchemaProblem[]> {
    const { worker, ready } = (running ??= startWorker());
    try {
      await ready;
      const before = await worker.cpuUsage();
      const verdict = verdictOf(worker);
      worker.postMessage({ schema: JSON.stringify(bare), value: JSON.stringify(value ?? null) });
      for (let waitedMs = 0; waitedMs < MOST_MS; waitedMs += LOOK_EVERY_MS) {
        const problems = await Promise.race([verdict, pause(LOOK_EVERY_MS)]);
        if (problems) return problems;
        const { user, system } = await worker.cpuUsage(before);
        if (user + system > MOST_CPU_MS * 1000) break;
      }
      const late = await Promise.race([verdict, pause(0)]);
      if (late) return late;
    } catch {
      // The thread ran out of memory or could not start: whatever it was, the value was not found to fit.
    }
    await end();
    return [TOO_LONG];
  }

  return {
    examine: (schema) => {
      const read = readSchema(schema);
      return "problem" in read ? read.problem : null;
    },
    async validate(schema, value) {
      const read = readSchema(schema);
      if ("problem" in read) return [read.problem];
      const verdict = line.then(() => judge(read.bare, value));
      line = verdict.catch(() => undefined);
      return verdict;
    },
    async close() {
      await line;
      await end();
    },
  };
}

function startWorker(): Running {
  const worker = new Worker(new URL("./schema-worker.ts", import.meta.url), {
    resourceLimits: { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 },
    stdout: true,
    stderr: true,
  });
  worker.unref();
  const ready = new Promise<void>((resolve, reject) => {
    const onExit = () => reject(new Error("the thread ended before it began"));
    worker.once("exit", onExit);
    worker.once("message", () => {
      worker.off("exit", onExit);
      resolve();
    });
  });
  // Whoever waits hears of it; a thread that nobody waits for may fail in silence.
  ready.catch(() => undefined);
  worker.on("error", () => undefined);
  return { worker, ready };
}

function verdictOf(worker: Worker): Promise<readonly SchemaProblem[]> {
  const verdict = new Promise<readonly SchemaProblem[]>((resolve, reject) => {
    const onExit = () => reject(new Error("the thread ended"));
    worker.once("exit", onExit);
    worker.once("message", (problems: readonly SchemaProblem[]) => {
      worker.off("exit", onExit);
      resolve(problems);
    });
  });
  verdict.catch(() => undefined);
  return verdict;
}

function pause(ms: number): Promise<undefined> {
  return new Promise((resolve) => setTimeout(resolve, ms, undefined));
}
