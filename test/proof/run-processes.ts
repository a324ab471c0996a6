import { globSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isAlive, signalProcess } from "../../src/workshop/sandbox/processes.ts";
import type { SupervisorMark } from "../../src/workshop/supervisor/lines.ts";

const MARKER = /(?:^|\0)PARLEY_ATTEMPT=([^\0]*)/;

/** Returns the processes of all attempts, by the attempt that each is marked with. */
export function processesByAttempt(): Map<string, number[]> {
  const found = new Map<string, number[]>();
  for (const pid of pids()) {
    const attempt = MARKER.exec(textOf(pid, "environ"))?.[1];
    if (attempt !== undefined) found.set(attempt, [...(found.get(attempt) ?? []), pid]);
  }
  return found;
}

/** Returns every process that was started with a path of this folder, except this process. */
export function processesOf(home: string): number[] {
  return pids().filter(
    (pid) => pid !== process.pid && ["environ", "cmdline"].some((name) => textOf(pid, name).includes(home)),
  );
}

/** Ends them, and returns how many there were. */
export function endAllOf(home: string): number {
  const found = processesOf(home);
  for (const pid of found) signalProcess(pid, "SIGKILL");
  return found.length;
}

/** Returns the supervisors that are alive, of servers and of workers. */
export function supervisorsOf(home: string): number[] {
  return globSync(join(home, "{work-*,worker-*/worker}/work/*/*/supervisor.json"))
    .map(readMark)
    .flatMap((mark) => (mark && isAlive(mark.pid, mark.starttime) ? [mark.pid] : []));
}

function readMark(path: string): SupervisorMark | null {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as SupervisorMark;
  } catch {
    return null;
  }
}

function pids(): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

function textOf(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, "latin1");
  } catch {
    return "";
  }
}
