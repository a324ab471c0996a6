import type { SandboxKind } from "../../core/model/sandbox.ts";
import { once } from "node:events";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import type { Clock } from "../../lib/clock.ts";
import { linesOf } from "../../lib/lines.ts";
import { base62 } from "../../lib/id.ts";
import { AS_NODE } from "../../lib/own-program.ts";
import { systemRandom } from "../../lib/random.ts";
import { closeServer, listen, openDoorsOut } from "./doors-out.ts";
import { findProcesses, killAttempt } from "./processes.ts";
import { findProgram, SYSTEM_PATH } from "./program-needs.ts";
import { harmless } from "../redaction.ts";
import { prepareSandbox, makeSandboxFolder, pathInside, spawnSandboxed, type Sandbox } from "./run.ts";
import { JAIL } from "./bwrap.ts";
import { openSetupLog } from "../setup-log.ts";

/** The sandbox of this machine, which keeps an agent away from everything else on it; or why there is no sandbox. */
export type SandboxFound = { kind: "bubblewrap" } | { kind: "none"; why: string };

/** The notice wherever it matters that there is no sandbox (spec/assignment 5). */
export const NO_SANDBOX =
  "No sandbox: bubblewrap is missing or not permitted. Agents run as you, with your files and your network. Install bubblewrap, or set assignment.sandbox: off to accept this for all agents.";

interface SelfTestOptions {
  /** The folder that a jailed program must not be able to read. */
  dataFolder: string;
  clock: Clock;
  /** Where programs are looked for. */
  path?: string;
}

const SELF_TEST_MS = 15_000;

/** Says what it could do, one word a line, and stays; what it started stays too. */
const PROBE = `
const { connect } = require("node:net");
const { readdirSync } = require("node:fs");
const { spawn } = require("node:child_process");
const [folder, ...places] = process.argv.slice(2);
try { readdirSync(folder); console.log("read"); } catch {}
let left = places.length;
const done = () => { if (--left === 0) console.log("ready"); };
for (const place of places) {
  const [host, port] = place.split("|");
  const socket = connect({ host, port: Number(port), timeout: 2000 });
  socket.on("connect", () => { console.log("reach"); socket.destroy(); });
  socket.on("timeout", () => socket.destroy());
  socket.on("error", () => {});
  socket.on("close", done);
}
spawn("/bin/sh", ["-c", "while :; do sleep 1; done"], { detached: true, stdio: "ignore" });
setInterval(() => {}, 1000);
`;

/**
 * Returns whether a jail can be made here that holds: a program in it could not read the data folder, reach this machine's
 * network, or outlive the process that started it (spec/assignment 5).
 */
export async function selfTest({ dataFolder, clock, path = usualPath() }: SelfTestOptions): Promise<SandboxFound> {
  if (process.platform !== "linux") return { kind: "none", why: "bubblewrap is for Linux only" };
  const bwrap = findProgram("bwrap", `${path}:${SYSTEM_PATH}`);
  if (bwrap === null) return { kind: "none", why: "bubblewrap is not installed" };
  const folder = await makeSandboxFolder();
  const listener = createServer((socket) => socket.destroy());
  const attemptId = `self-test-${base62(systemRandom, 22)}`;
  try {
    await listen(listener, { port: 0 });
    const { port } = listener.address() as AddressInfo;
    const sandbox = await openTestRoom({ attemptId, bwrap, folder, path, dataFolder });
    const env = { PATH: pathInside(sandbox), HOME: JAIL.home };
    const places = addressesHere().map((address) => `${address}|${port}`);
    const program = join(folder, "probe.cjs");
    // eslint-disable-next-line no-restricted-syntax -- a room is for one run, and no run outlives a loss of power
    await writeFile(program, PROBE);
    const argv: [string, ...string[]] = [process.execPath, ...AS_NODE, program, dataFolder, ...places];
    const probe = await spawnSandboxed(sandbox, { argv, env });
    let words = "";
    let complaint = "";
    probe.stdout.on("data", (part: Buffer) => (words += part.toString()));
    probe.stderr.on("data", (part: Buffer) => (complaint += part.toString()));
    const ready = async () => {
      while (!words.includes("ready")) await once(probe.stdout, "data");
    };
    const over = new AbortController();
    const end = await Promise.race([ready().then(() => "ready"), probe.exited, clock.sleep(SELF_TEST_MS, over.signal)]);
    over.abort();
    if (end !== "ready") {
      const [why = "it did not start"] = complaint.trim().split("\n");
      return { kind: "none", why: `bubblewrap does not work here: ${harmless(why || "it did not start")}` };
    }
    // Ends not the jail, but the process that started it.
    probe.kill();
    await probe.exited;
    const outlived = await stillThere(attemptId, clock);
    const broken = [
      words.includes("read\n") && "read the data folder",
      words.includes("reach\n") && "reach the network",
      outlived && "outlive its parent",
    ].filter((one) => one !== false);
    if (broken.length > 0) return { kind: "none", why: `a program in the jail could ${broken.join(", ")}` };
    return { kind: "bubblewrap" };
  } catch (error) {
    return { kind: "none", why: error instanceof Error ? error.message : String(error) };
  } finally {
    await killAttempt(attemptId, { clock, atOnce: true });
    await closeServer(listener);
    await rm(folder, { recursive: true, force: true });
  }
}

async function openTestRoom(test: {
  attemptId: string;
  bwrap: string;
  folder: string;
  path: string;
  dataFolder: string;
}): Promise<Sandbox> {
  const { folder, dataFolder, ...rest } = test;
  const [tree, home] = [join(folder, "tree"), join(folder, "home")];
  for (const place of [tree, home]) await mkdir(place, { mode: 0o700 });
  prepareSandbox(folder);
  // A shell between this process and the jail stands for a supervisor that is killed.
  const through = ["/bin/sh", "-c", '"$@" & wait', "sh"];
  return { ...rest, folder, tree, home, store: null, hidden: [dataFolder], bridges: [], through };
}

function addressesHere(): string[] {
  const all = Object.values(networkInterfaces()).flatMap((one) => one ?? []);
  return ["127.0.0.1", ...all.filter(({ internal, scopeid }) => !internal && !scopeid).map(({ address }) => address)];
}

async function stillThere(attemptId: string, clock: Clock): Promise<boolean> {
  const start = clock.monotonic();
  while (clock.monotonic() - start < 3000) {
    if ((await findProcesses(attemptId)).length === 0) return false;
    await clock.sleep(20);
  }
  return true;
}

interface SetupOptions {
  /** A line for the shell. */
  command: string;
  sandbox: SandboxKind;
  tree: string;
  home: string;
  store: string;
  attemptId: string;
  clock: Clock;
  /** The file that its output is added to. */
  log: string;
  onLine(text: string): Promise<void>;
  signal: AbortSignal;
  /** Hosts it may reach. */
  egress?: readonly string[];
  env?: Readonly<Record<string, string>>;
  limitMs?: number;
  path?: string;
}

const SETUP_MS = 1_800_000;
const PARTS_WAIT_MS = 1000;
/** How long the receiver may take to accept the last lines. */
const LAST_LINES_WITHIN_MS = 10_000;
const LONGEST_LINE = 65_536;

/**
 * Runs the command that prepares a tree, in the sandbox if the machine has one. Returns its exit code; if the command
 * was stopped, the code is null and `why` is the reason. Ends every process that it started. Its lines go to the log
 * and to `onLine`.
 */
export async function runSetup(options: SetupOptions): Promise<{ code: number | null; why?: string }> {
  const { command, sandbox, tree, home, store, attemptId, clock, log, onLine, signal, path = usualPath() } = options;
  const limitMs = options.limitMs ?? SETUP_MS;
  const isJailed = sandbox === "bubblewrap";
  const bwrap = isJailed ? findProgram("bwrap", `${path}:${SYSTEM_PATH}`) : null;
  if (isJailed && bwrap === null) return { code: null, why: "bubblewrap is not on this machine any more" };
  const folder = await makeSandboxFolder();
  try {
    prepareSandbox(folder);
    const setupLog = openSetupLog(log, onLine);
    await using doors = await openDoorsOut({
      isJailed,
      folder,
      egress: options.egress ?? [],
      mcp: null,
      model: null,
      onRefused: (place) => void setupLog.append(`The sandbox let nothing through to ${harmless(place)}.`),
    });
    const room = { attemptId, bwrap, tree, home, store, folder, path, hidden: [tree, store], bridges: doors.bridges };
    const env = {
      ...options.env,
      PATH: pathInside(room),
      HOME: isJailed ? JAIL.home : home,
      LANG: "C.UTF-8",
      TERM: "dumb",
      ...doors.env,
    };
    const started = await spawnSandboxed(room, { argv: ["/bin/sh", "-c", command], env });
    started.stdin.end();
    const read = async (stream: AsyncIterable<Uint8Array>) => {
      for await (const line of linesOf(stream, { longest: LONGEST_LINE })) await setupLog.append(harmless(line));
    };
    const allRead = Promise.all([read(started.stdout), read(started.stderr)]).catch(() => {});
    const stopped = new Promise<"stopped">((resolve) => {
      if (signal.aborted) resolve("stopped");
      signal.addEventListener("abort", () => resolve("stopped"), { once: true });
    });
    const late = new AbortController();
    const end = await Promise.race([
      started.exited,
      stopped,
      clock.sleep(limitMs, late.signal).then(() => "late" as const),
    ]);
    late.abort();
    if (isJailed) started.kill();
    await killAttempt(attemptId, { clock, atOnce: isJailed, session: isJailed ? undefined : started.pid });
    await Promise.race([allRead, clock.sleep(PARTS_WAIT_MS)]);
    for (const stream of [started.stdout, started.stderr]) stream.destroy();
    const long = new AbortController();
    await Promise.race([setupLog.close(), stopped, clock.sleep(LAST_LINES_WITHIN_MS, long.signal)]);
    long.abort();
    if (end === "stopped") return { code: null, why: "it was stopped" };
    if (end === "late") return { code: null, why: `it took longer than ${Math.round(limitMs / 1000)} seconds` };
    return end.signal === null ? { code: end.code } : { code: end.code, why: `it was ended by ${end.signal}` };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function usualPath(): string {
  return process.env["PATH"] ?? SYSTEM_PATH;
}
