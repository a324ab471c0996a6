import { spawn, type ChildProcess } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { AS_NODE } from "../../lib/own-program.ts";
import { ATTEMPT_VARIABLE, signalProcess, starttimeOf } from "./processes.ts";
import { findProgram, needsOf, SYSTEM_PATH } from "./program-needs.ts";
import { bwrapLine, JAIL, MOST_PROCESSES } from "./bwrap.ts";

/** Where a program runs: in a jail, or as the one who started Parley. */
export interface Sandbox {
  attemptId: string;
  /** The path of bwrap; null runs it without. */
  bwrap: string | null;
  tree: string;
  home: string;
  store: string | null;
  /** A folder of the caller's own with a short path; `run` in it becomes the jail's. */
  folder: string;
  /** Where programs are looked for. */
  path: string;
  /** Paths that no program may see, even if it needs them. */
  hidden: readonly string[];
  /** Ports of 127.0.0.1 in the jail, and the sockets in `run` they lead to. */
  bridges: readonly { port: number; socket: string }[];
  /** More than so many at one time end the jail. */
  mostProcesses?: number;
  /** The command that starts the jail, if another program than this one starts it. */
  through?: readonly string[];
}

/** A program that was started. */
export interface Started {
  /** In a jail that of the jail: when it ends, everything in it does. */
  pid: number;
  starttime: string | null;
  stdin: Writable;
  stdout: Readable;
  stderr: Readable;
  exited: Promise<{ code: number | null; signal: string | null }>;
  /** Sends SIGINT to the program itself. */
  interrupt(): void;
  /** Ends the jail; without one, the program. */
  kill(): void;
}

/** Where the launcher and what it needs stand in the jail, and where they come from. */
const LAUNCHER_FILES = {
  "workshop/sandbox/launcher.ts": new URL("./launcher.ts", import.meta.url),
  "lib/clock.ts": new URL("../../lib/clock.ts", import.meta.url),
};

/** The path of a socket has 108 bytes on Linux, and 104 elsewhere. */
const LONGEST_TEMPORARY = 60;

/** Makes a folder for a sandbox; sockets in it have paths that are short enough. */
export function makeSandboxFolder(): Promise<string> {
  return mkdtemp(join(tmpdir().length <= LONGEST_TEMPORARY ? tmpdir() : "/tmp", "parley-"));
}

/** Puts Parley's own files, which every jail has, into the sandbox's folder. */
export function prepareSandbox(folder: string): void {
  for (const name of ["run", "etc", "program/workshop/sandbox", "program/lib"]) {
    mkdirSync(join(folder, name), { recursive: true, mode: 0o700 });
  }
  const { uid, gid } = userInfo();
  const files = {
    "etc/passwd": `agent:x:${uid}:${gid}:agent:${JAIL.home}:/bin/sh\n`,
    "etc/group": `agent:x:${gid}:\n`,
    "etc/hosts": "127.0.0.1 localhost\n::1 localhost\n",
    "program/package.json": '{"type":"module"}\n',
  };
  for (const [name, text] of Object.entries(files)) {
    // eslint-disable-next-line no-restricted-syntax -- a room is for one run, and no run outlives a loss of power
    writeFileSync(join(folder, name), text, { mode: 0o600 });
  }
  for (const [name, source] of Object.entries(LAUNCHER_FILES)) {
    // eslint-disable-next-line no-restricted-syntax -- the same
    copyFileSync(source, join(folder, "program", name));
    chmodSync(join(folder, "program", name), 0o600);
  }
}

/** Returns the PATH of programs in a sandbox. */
export function pathInside({ bwrap, path, hidden }: Sandbox): string {
  if (bwrap === null) return path;
  const { folders } = needsOf([process.execPath], { path, hidden });
  return [...folders.filter((one) => !SYSTEM_PATH.split(":").includes(one)), SYSTEM_PATH].join(":");
}

/**
 * Starts a program in the sandbox with exactly this environment and the attempt's marker.
 *
 * @throws {Error} when there is no such program, or it does not start
 */
export async function spawnSandboxed(
  sandbox: Sandbox,
  { argv, env }: { argv: readonly [string, ...string[]]; env: Readonly<Record<string, string>> },
): Promise<Started> {
  const marked = { ...env, [ATTEMPT_VARIABLE]: sandbox.attemptId };
  const child =
    sandbox.bwrap === null ? startBare(sandbox, argv, marked) : startJailed(sandbox, sandbox.bwrap, argv, marked);
  const exited = new Promise<{ code: number | null; signal: string | null }>((resolve) => {
    child.on("exit", (code, signal) => resolve({ code, signal }));
  });
  await new Promise<void>((resolve, reject) => {
    child.once("spawn", resolve);
    child.once("error", (error) => reject(new Error(`${argv[0]} cannot be started: ${error.message}`)));
  });
  child.on("error", () => {});
  const { pid, stdin, stdout, stderr } = child;
  const control = child.stdio[4] as Writable | null | undefined;
  if (pid === undefined || !stdin || !stdout || !stderr) throw new Error(`${argv[0]} cannot be started`);
  stdin.on("error", () => {});
  control?.on("error", () => {});
  return {
    pid,
    starttime: starttimeOf(pid),
    stdin,
    stdout,
    stderr,
    exited,
    interrupt: () => (control ? void control.write("interrupt\n") : signalProcess(pid, "SIGINT")),
    kill: () => void child.kill("SIGKILL"),
  };
}

function startBare(sandbox: Sandbox, argv: readonly [string, ...string[]], env: Record<string, string>): ChildProcess {
  const [name, ...args] = argv;
  const program = findProgram(name, sandbox.path);
  if (program === null) throw new Error(`${name} is not on this machine, or not on the PATH`);
  // By the name it was asked for: some programs are several, and do what they are called.
  return spawn(program, args, { argv0: name, cwd: sandbox.tree, env, detached: true, stdio: ["pipe", "pipe", "pipe"] });
}

function startJailed(
  {
    attemptId,
    tree,
    home,
    store,
    folder,
    path,
    hidden,
    bridges,
    through = [],
    mostProcesses = MOST_PROCESSES,
  }: Sandbox,
  bwrap: string,
  given: readonly [string, ...string[]],
  env: Record<string, string>,
): ChildProcess {
  const { argv, reads } = needsOf(given, { path, hidden });
  const launcher = [process.execPath, ...AS_NODE, `${JAIL.program}/workshop/sandbox/launcher.ts`];
  const line = bwrapLine(bwrap, { tree, home, store, run: join(folder, "run"), furniture: folder, reads }, launcher, {
    prlimit: findProgram("prlimit", SYSTEM_PATH),
    marker: [ATTEMPT_VARIABLE, attemptId],
    mostProcesses,
  });
  const [program = bwrap, ...args] = [...through, ...line];
  const child = spawn(program, args, {
    cwd: "/",
    env: { [ATTEMPT_VARIABLE]: attemptId },
    detached: true,
    stdio: ["pipe", "pipe", "pipe", "ignore", "pipe"],
  });
  const inside = bridges.map(({ port, socket }) => ({ port, socket: `${JAIL.run}/${socket}` }));
  const order = { argv, env, bridges: inside, mostProcesses };
  const control = child.stdio[4] as Writable;
  control.on("error", () => {});
  control.write(`${JSON.stringify(order)}\n`);
  return child;
}
