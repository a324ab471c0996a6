import { execFile } from "node:child_process";
import { readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Clock } from "../lib/clock.ts";
import { writeWhole } from "../lib/files/durable-files.ts";

/** A process as `ps` knows it: another of the same number has begun at another time. */
interface Listed {
  pid: number;
  parent: number;
  began: string;
}

const EVERY_MS = 1000;
const pathOf = (attemptId: string): string => join(tmpdir(), `parley-processes-${attemptId}.json`);

/**
 * Where no /proc says which processes carry an attempt's marker: looks each second at what `root` and its children have
 * started, and writes it down, so that a child whose parents have gone is found all the same, also by a later server
 * (spec/assignment 9).
 */
export function recordTree(attemptId: string, root: number, clock: Clock): { close(): Promise<void> } {
  const closed = new AbortController();
  let known: Listed[] = [];
  const look = async () => {
    known = withChildren(await listProcesses(), known, root);
    await writeWhole(pathOf(attemptId), JSON.stringify(known));
  };
  const watch = async () => {
    while (!closed.signal.aborted) {
      await look();
      await clock.sleep(EVERY_MS, closed.signal);
    }
  };
  // Without `ps` nothing can be known.
  const watching = watch().catch(() => {});
  return {
    async close() {
      closed.abort();
      await watching;
      await look().catch(() => {});
    },
  };
}

/** Returns those of the attempt's recorded processes, and of their children, that still run. */
export async function findRecorded(attemptId: string): Promise<number[]> {
  const text = await readFile(pathOf(attemptId), "utf8").catch(() => null);
  if (text === null) return [];
  const left = withChildren(await listProcesses(), JSON.parse(text) as Listed[], null);
  if (left.length === 0) await rm(pathOf(attemptId), { force: true });
  return left.map(({ pid }) => pid);
}

function withChildren(all: readonly Listed[], known: readonly Listed[], root: number | null): Listed[] {
  const isKnown = (one: Listed) => known.some(({ pid, began }) => pid === one.pid && began === one.began);
  const found = all.filter((one) => one.pid === root || isKnown(one));
  for (const { pid } of found) found.push(...all.filter((one) => one.parent === pid && !found.includes(one)));
  return found;
}

async function listProcesses(): Promise<Listed[]> {
  const { stdout } = await promisify(execFile)("ps", ["-A", "-o", "pid=,ppid=,stat=,lstart="], {
    env: { PATH: "/bin:/usr/bin", LC_ALL: "C" },
  });
  return stdout.split("\n").flatMap((line) => {
    const [, pid, parent, state = "", began = ""] = /^(\d+)\s+(\d+)\s+(\S+)\s+(\S.*)$/.exec(line.trim()) ?? [];
    return pid === undefined || state.startsWith("Z") ? [] : [{ pid: Number(pid), parent: Number(parent), began }];
  });
}
