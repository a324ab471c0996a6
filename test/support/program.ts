import assert from "node:assert/strict";
import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { runCommandLine } from "../../src/cli/command-line.ts";
import { findServerProcess } from "../../src/cli/server-process.ts";
import { hookProgram } from "../../src/lib/own-program.ts";
import { isAlive } from "../../src/workshop/sandbox/processes.ts";
import { until } from "./contract.ts";
import { builtHook, isHook } from "./hook-program.ts";
import { greetingsIn } from "./log-lines.ts";
import { reservePort } from "./ports.ts";
import { afterLast } from "./shared.ts";

export const MAIN = fileURLToPath(new URL("../../src/main.ts", import.meta.url));
/** The program that installed hooks name. */
export const HOOK_PROGRAM = hookProgram();
/** Everything of these tests stands in here, and goes with it. */
export const ROOT = mkdtempSync(join(tmpdir(), "parley-cli-"));
const running = new Set<ChildProcessWithoutNullStreams>();
afterLast(() => {
  for (const child of running) child.kill("SIGKILL");
  for (const name of readdirSync(ROOT)) endServerOf(join(ROOT, name));
  rmSync(ROOT, { recursive: true });
});

/**
 * Ends the server of a data directory. A server that replaced another one is not a child of this process, and would
 * keep its output open after a failed test.
 */
export function endServerOf(dataDir: string): void {
  const server = findServerProcess(dataDir);
  if (server && isAlive(server.pid, server.starttime)) process.kill(server.pid, "SIGKILL");
}

export { until };

let folders = 0;
/** A folder for a data directory; it does not exist yet. */
export const newFolder = () => join(ROOT, `data-${(folders += 1)}`);

/** One command under way, as a user's terminal would have it. */
export interface Run {
  child: ChildProcessWithoutNullStreams;
  out: () => string;
  err: () => string;
  ended: Promise<Ended>;
}

/** How a command ended, and what it has written. */
export interface Ended {
  code: number | null;
  out: string;
  err: string;
}

/** The machine may be slow; tests of this wait set their own. */
const PATIENT = { PARLEY_DATABASE_WAIT_MS: "60000" };
/** Where temporary files are, and where Node keeps what it compiled, are for the test run to say. */
const PLACES = Object.fromEntries(
  ["TMPDIR", "NODE_COMPILE_CACHE"].flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])),
);

/** The environment of a program: what is given, those places, patience with PostgreSQL, and nothing else. */
export const environment = (env: Record<string, string> = {}) => ({
  PATH: process.env["PATH"],
  HOME: ROOT,
  ...PLACES,
  ...PATIENT,
  ...env,
});

/** Starts a command in the environment of a program; a hook by the program of hooks, as agents do. */
export function start(args: readonly string[], env: Record<string, string> = {}): Run {
  const program = isHook(args) ? builtHook(join(ROOT, "hook", "parley.cjs")) : MAIN;
  const child = spawn(process.execPath, [program, ...args], { env: environment(env) });
  running.add(child);
  let [out, err] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (err += text));
  const ended = once(child, "close").then(([code]) => {
    running.delete(child);
    return { code: code as number | null, out, err };
  });
  return { child, out: () => out, err: () => err, ended };
}

/** They read the standard input, are ended by signals, or start programs: each is a process of its own. */
const PROCESSES = new Set(["serve", "mcp", "gate", "hook", "connect", "exec", "work", "forward"]);

/**
 * Runs a command to its end, as the program does. Most of them run in this process, which has their modules already: a
 * process of its own takes half a second of processor time for each. `start(...).ended` gives a command one.
 */
export async function parley(args: readonly string[], env: Record<string, string> = {}): Promise<Ended> {
  if (PROCESSES.has(args[0] ?? "")) return start(args, env).ended;
  let [out, err] = ["", ""];
  const code = await runCommandLine(args, {
    env: environment(env),
    out: (line) => void (out += `${line}\n`),
    tell: (line) => void (err += `${line}\n`),
    progress: () => undefined,
    interrupted: new AbortController().signal,
  });
  return { code, out, err };
}

/** Starts a server and waits until it has greeted; on a port that it can have again, unless `flags` name another. */
export async function serve(
  dataDir: string,
  env: Record<string, string> = {},
  ...flags: string[]
): Promise<Run & { url: string }> {
  const port = flags.includes("--port") ? [] : ["--port", String(await reservePort())];
  const run = start(["serve", ...port, "--data-dir", dataDir, ...flags], env);
  const greeted = () => greetingsIn(run.out())[0]?.url;
  const url = await Promise.race([
    until(greeted, "the greeting"),
    run.ended.then(({ err }) => assert.fail(`the server ended: ${err}`)),
  ]);
  return { ...run, url };
}

/** Tells a command to stop, and returns its exit code. */
export async function stop(run: Run): Promise<number | null> {
  run.child.kill("SIGTERM");
  return (await run.ended).code;
}

export const post = (url: string, path: string, body: unknown, headers: Record<string, string> = {}) =>
  fetch(`${url}${path}`, {
    method: "POST",
    body: JSON.stringify(body),
    headers: { "content-type": "application/json", ...headers },
  });
