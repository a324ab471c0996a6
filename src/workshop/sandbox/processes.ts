import { readdir, readFile } from "node:fs/promises";
import { existsSync, readFileSync } from "node:fs";
import type { Clock } from "../../lib/clock.ts";
import { findRecorded } from "../recorded-tree.ts";

/** Names every process of an attempt in its environment, and in that of whatever it starts. */
export const ATTEMPT_VARIABLE = "PARLEY_ATTEMPT";

/** The processes of an attempt that could not be ended. */
export interface Swept {
  survivors: readonly number[];
}

interface SweepOptions {
  clock: Clock;
  /** A session whose members belong to the attempt too, also those that dropped the variable. */
  session?: number | undefined;
  /** Nothing is asked to end first: in a jail whose namespace is being ended, all of it goes anyway. */
  atOnce?: boolean;
}

const ASK_FIRST_MS = 2000;
const GIVE_UP_MS = 10_000;
const LOOK_AGAIN_MS = 50;

/**
 * Every process of an attempt is gone, or named: each is asked to end, made to end after two seconds, and two looks in a
 * row have found none (spec/assignment 9). Takes ten seconds at most. Never ends the caller.
 */
export async function killAttempt(attemptId: string, { clock, session, atOnce = false }: SweepOptions): Promise<Swept> {
  const start = clock.monotonic();
  const askedAt = new Map<number, number>();
  for (let empty = 0; ;) {
    const found = await findProcesses(attemptId, session);
    const now = clock.monotonic();
    empty = found.length === 0 ? empty + 1 : 0;
    if (empty === 2) return { survivors: [] };
    if (now - start >= GIVE_UP_MS) return { survivors: found };
    for (const pid of found) {
      const asked = askedAt.get(pid) ?? now;
      askedAt.set(pid, asked);
      signalProcess(pid, atOnce || now - asked >= ASK_FIRST_MS ? "SIGKILL" : "SIGTERM");
    }
    await clock.sleep(LOOK_AGAIN_MS);
  }
}

/** Sends a signal; a process that has gone already is no trouble. */
export function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // Gone, or somebody else's by now.
  }
}

/** Returns when a process started, in the kernel's count; null where there is no such process, or no /proc. */
export function starttimeOf(pid: number): string | null {
  const fields = statOf(pid);
  return fields === null || fields.state === "Z" ? null : fields.starttime;
}

/** Whether this very process still runs, and no other of the same number. */
export function isAlive(pid: number, starttime: string | null): boolean {
  if (starttime !== null) return starttimeOf(pid) === starttime;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** Whether the system says of each process what it carries in its environment. */
export const HAS_PROC = existsSync("/proc/self/environ");

/**
 * Returns the processes of an attempt: those that carry its marker, and those of its session; without /proc, those that
 * were recorded.
 */
export async function findProcesses(attemptId: string, session?: number): Promise<number[]> {
  if (!HAS_PROC) return (await findRecorded(attemptId)).filter((pid) => pid !== process.pid);
  const marker = Buffer.from(`${ATTEMPT_VARIABLE}=${attemptId}\0`);
  const names = await readdir("/proc").catch(() => [] as string[]);
  const pids = names.filter((name) => /^\d+$/.test(name)).map(Number);
  const found: number[] = [];
  for (const pid of pids) {
    if (pid === process.pid) continue;
    const environ = await readFile(`/proc/${pid}/environ`).catch(() => null);
    const isMarked = environ !== null && holds(environ, marker);
    if (isMarked || (session !== undefined && isOfSession(pid, session))) found.push(pid);
  }
  return found;
}

/** A variable begins where the one before has ended. */
function holds(environ: Buffer, variable: Buffer): boolean {
  for (let at = environ.indexOf(variable); at !== -1; at = environ.indexOf(variable, at + 1)) {
    if (at === 0 || environ[at - 1] === 0) return true;
  }
  return false;
}

function isOfSession(pid: number, session: number): boolean {
  const fields = statOf(pid);
  return fields !== null && fields.session === session && fields.state !== "Z";
}

/** The name, which stands in brackets, may hold brackets and spaces itself: what follows the last is counted. */
function statOf(pid: number): { state: string; session: number; starttime: string } | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    const [state = "", , , session = ""] = fields;
    return { state, session: Number(session), starttime: fields[19] ?? "" };
  } catch {
    return null;
  }
}
