import { spawn } from "node:child_process";
import { once } from "node:events";
import { systemClock } from "../../lib/clock.ts";
import { ownCommandLine } from "../../lib/own-program.ts";
import { findServerProcess, type ServerProcess } from "../server-process.ts";
import { isAlive, signalProcess, starttimeOf } from "../../workshop/sandbox/processes.ts";
import { EXIT, type Io } from "../command.ts";
import { DRAIN_SIGNAL, KILL_SIGNAL } from "./stop.ts";

/** Has a server start another in its place; a program that does not know it is not disturbed by it. */
export const REPLACE_SIGNAL = "SIGURG";
/** Tells a process that it was started to take its parent's place. */
const TAKES_PLACE = "PARLEY_TAKES_PLACE";
const LOOK_EVERY_MS = 100;
/** A shell sets the variable, since its process becomes the server, whose number nobody knows before. */
const AS_LISTENER = 'export LISTEN_PID=$$; exec "$@"';
/** The flags that hold for one start only. */
const ONCE = ["--replace", "--accept-loss", "--accept-clock"];

/** A server that has read its settings, holds the same sockets, and waits for this one to let go of the data. */
export interface Successor {
  process: ServerProcess;
  /** It may open the data now; without this it does once this process has ended. */
  letIn(): void;
}

/**
 * Starts this program again as it was started, from what is on disk now, with its listening sockets.
 *
 * @throws {Error} why it did not come so far as to wait; nothing has changed then
 */
export async function startSuccessor(descriptors: readonly number[]): Promise<Successor> {
  const line = ownCommandLine().filter((word) => !ONCE.includes(word));
  const child = spawn("/bin/sh", ["-c", AS_LISTENER, "sh", ...line], {
    stdio: ["inherit", "inherit", "inherit", ...descriptors, "ipc"],
    env: { ...process.env, LISTEN_FDS: String(descriptors.length), [TAKES_PLACE]: "1" },
  });
  const [code] = (await Promise.race([once(child, "message").then(() => ["waits"]), once(child, "exit")])) as unknown[];
  if (code !== "waits") throw new Error(`it ended with ${code === null ? "a signal" : `exit code ${String(code)}`}`);
  const { pid = 0 } = child;
  return { process: { pid, starttime: starttimeOf(pid) }, letIn: () => void (child.connected && child.disconnect()) };
}

/** Where this process was started to take its parent's place: waits until that has let go of the data, or has ended. */
export async function takePlace(env: NodeJS.ProcessEnv): Promise<boolean> {
  if (env[TAKES_PLACE] === undefined || !process.send) return false;
  Reflect.deleteProperty(env, TAKES_PLACE);
  const letIn = once(process, "disconnect");
  process.send("waits");
  await letIn;
  return true;
}

/** Has the server of a data directory start anew, and returns the exit code once that has come to an end; null where none runs. */
export async function askForReplacement(dataDir: string, io: Io): Promise<number | null> {
  const former = findServerProcess(dataDir);
  if (!former || !isAlive(former.pid, former.starttime)) return null;
  if (!former.replaceable) {
    io.tell(`parley: the server of process ${former.pid} cannot be replaced; stop it, and start it again.`);
    return EXIT.refused;
  }
  signalProcess(former.pid, REPLACE_SIGNAL);
  while (!io.interrupted.aborted) {
    await systemClock.sleep(LOOK_EVERY_MS, io.interrupted);
    const now = findServerProcess(dataDir);
    const isGone = now === null || !isAlive(now.pid, now.starttime);
    if (isGone || (now.failedReplacements ?? 0) > (former.failedReplacements ?? 0)) {
      io.tell(
        `parley: no other server was started${isGone ? "" : ", and the former one goes on"}; its output says why.`,
      );
      return EXIT.refused;
    }
    if (now.pid === former.pid || now.starting) continue;
    io.tell(`Process ${now.pid} has taken the place of process ${former.pid}.`);
    return EXIT.done;
  }
  return EXIT.interrupted;
}

/**
 * Stays, without the data, until the server that has taken this one's place has ended, and whichever takes that one's:
 * whoever started this process and waits for it (npm, a container) still has the server. Signals are passed on.
 */
export async function outlive(dataDir: string): Promise<number> {
  const isAtTerminal = [process.stdin, process.stdout, process.stderr].some((stream) => stream.isTTY);
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", DRAIN_SIGNAL, KILL_SIGNAL] as const) {
    process.removeAllListeners(signal);
    process.on(signal, () => {
      // A terminal gives Ctrl-C to both processes, and twice is another word than once.
      if (signal === "SIGINT" && isAtTerminal) return;
      const current = findServerProcess(dataDir);
      if (current) signalProcess(current.pid, signal);
    });
  }
  for (;;) {
    const current = findServerProcess(dataDir);
    if (!current) return EXIT.done;
    if (!isAlive(current.pid, current.starttime)) return EXIT.refused;
    await systemClock.sleep(LOOK_EVERY_MS);
  }
}
