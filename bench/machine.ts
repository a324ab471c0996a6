import { closeSync, fdatasyncSync, openSync, rmSync, statfsSync, writeSync } from "node:fs";
import { availableParallelism, cpus, loadavg, totalmem } from "node:os";
import { join } from "node:path";
import { percentile } from "./load.ts";

/** Where a run took place. */
export interface Machine {
  date: string;
  describes: string;
  /** The time of a 4 KiB write to disk: median and 95th percentile. */
  syncMs: readonly [number, number];
  /** How busy it was, in words, as far as one can tell. */
  load(): string;
}

const TMPFS = 0x01021994;

/** Looks at the machine, and at the disk under `directory`. @throws where that is no disk */
export function lookAtMachine(directory: string): Machine {
  if (statfsSync(directory).type === TMPFS) {
    throw new Error(`${directory} is kept in memory, where nothing is durable; name a folder on disk with TMPDIR.`);
  }
  const [before] = loadavg();
  const memory = `${(totalmem() / 2 ** 30).toFixed(0)} GiB`;
  return {
    date: new Date().toISOString().slice(0, 10),
    describes: `${availableParallelism()} cores (${cpus()[0]?.model.trim() ?? "unknown"}), ${memory}, ${process.platform}, Node ${process.version}.`,
    syncMs: probeDisk(directory),
    load: () =>
      `busy to ${before?.toFixed(1)} when the run began and ${loadavg()[0]?.toFixed(1)} when it ended (load average; the run itself keeps about two busy)`,
  };
}

function probeDisk(directory: string): [number, number] {
  const path = join(directory, "probe");
  const file = openSync(path, "w");
  const block = Buffer.alloc(4096);
  const times = Array.from({ length: 300 }, (_, i) => {
    writeSync(file, block, 0, block.length, i * block.length);
    const start = performance.now();
    fdatasyncSync(file);
    return performance.now() - start;
  });
  closeSync(file);
  rmSync(path);
  return [percentile(times, 0.5), percentile(times, 0.95)];
}
