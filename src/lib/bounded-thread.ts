import { Worker } from "node:worker_threads";

/** Does one job after the other, none of them for long. */
export interface BoundedThread<Job, Result extends object> {
  /**
   * Returns what the thread says of the job; nothing when it took too long, or more memory than it has. The time of a
   * processor that the job took goes to `noteCost`.
   */
  work(job: Job, noteCost?: (cpuMs: number) => void): Promise<Result | undefined>;
  close(): Promise<void>;
}

export interface ThreadLimits {
  /** Processor time of one job, so that a busy machine fails nobody's. */
  mostCpuMs: number;
  /** Its memory, in megabytes. */
  mostHeapMb: number;
}

/**
 * The longest time that one job may take. A job that takes longer waits for something that never comes. No usable
 * machine is so busy that a job gets no processor time for this long.
 */
const MOST_MS = 60_000;
const LOOK_EVERY_MS = 50;

interface Running {
  worker: Worker;
  ready: Promise<unknown>;
}

/**
 * Returns a thread of its own that works one job at a time. It starts with the first job and is killed when one takes
 * too long; the next job gets a new one. Its file posts one message when everything is loaded, and then one for each
 * job.
 */
export function openBoundedThread<Job, Result extends object>(
  file: URL,
  limits: ThreadLimits,
): BoundedThread<Job, Result> {
  let running: Running | null = null;
  let line: Promise<unknown> = Promise.resolve();

  async function end(): Promise<void> {
    const { worker } = running ?? {};
    running = null;
    await worker?.terminate();
  }

  async function workOn(job: Job, noteCost?: (cpuMs: number) => void): Promise<Result | undefined> {
    const { worker, ready } = (running ??= startWorker(file, limits));
    // A program that waits for nothing else stays for the result; between two jobs it may end.
    worker.ref();
    try {
      await ready;
      const before = await worker.cpuUsage();
      const result = nextMessage<Result>(worker);
      worker.postMessage(job);
      for (let waitedMs = 0; waitedMs < MOST_MS; waitedMs += LOOK_EVERY_MS) {
        const inTime = await Promise.race([result, pause(LOOK_EVERY_MS)]);
        if (inTime && !noteCost) return inTime;
        const { user, system } = await worker.cpuUsage(before);
        if (inTime) {
          noteCost?.((user + system) / 1000);
          return inTime;
        }
        if (user + system > limits.mostCpuMs * 1000) break;
      }
      noteCost?.(limits.mostCpuMs);
      const late = await Promise.race([result, pause(0)]);
      if (late) return late;
    } catch {
      // The thread ran out of memory or could not start: nothing was found out.
      noteCost?.(limits.mostCpuMs);
    } finally {
      worker.unref();
    }
    await end();
    return undefined;
  }

  return {
    work(job, noteCost) {
      const result = line.then(() => workOn(job, noteCost));
      line = result.catch(() => undefined);
      return result;
    },
    async close() {
      await line;
      await end();
    },
  };
}

function startWorker(file: URL, { mostHeapMb }: ThreadLimits): Running {
  const worker = new Worker(file, {
    resourceLimits: { maxOldGenerationSizeMb: mostHeapMb, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 },
    stdout: true,
    stderr: true,
  });
  worker.unref();
  const ready = nextMessage(worker);
  worker.on("error", () => undefined);
  return { worker, ready };
}

function nextMessage<Message>(worker: Worker): Promise<Message> {
  const message = new Promise<Message>((resolve, reject) => {
    const onExit = () => reject(new Error("the thread ended"));
    worker.once("exit", onExit);
    worker.once("message", (message: Message) => {
      worker.off("exit", onExit);
      resolve(message);
    });
  });
  // A caller that waits receives the error. A thread that nobody waits for may fail silently.
  message.catch(() => undefined);
  return message;
}

function pause(ms: number): Promise<undefined> {
  return new Promise((resolve) => setTimeout(resolve, ms, undefined));
}
