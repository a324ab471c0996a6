import assert from "node:assert/strict";
import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { fileURLToPath } from "node:url";

export const MAIN = fileURLToPath(new URL("../src/main.ts", import.meta.url));
/** Everything of these tests stands in here, and goes with it. */
export const ROOT = mkdtempSync(join(tmpdir(), "parley-cli-"));
const running = new Set<ChildProcessWithoutNullStreams>();
after(() => {
  for (const child of running) child.kill("SIGKILL");
  rmSync(ROOT, { recursive: true });
});

let folders = 0;
/** A folder for a data directory; it does not exist yet. */
export const newFolder = () => join(ROOT, `data-${(folders += 1)}`);

/** One command under way, as a user's terminal would have it. */
export interface Run {
  child: ChildProcessWithoutNullStreams;
  out: () => string;
  err: () => string;
  ended: Promise<{ code: number | null; out: string; err: string }>;
}

/** Starts a command with nothing in its environment but what is given. */
export function start(args: readonly string[], env: Record<string, string> = {}): Run {
  const child = spawn(process.execPath, [MAIN, ...args], {
    env: { PATH: process.env["PATH"], HOME: ROOT, ...env },
  });
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

/** Runs a command to its end. */
export const parley = (args: readonly string[], env?: Record<string, string>) => start(args, env).ended;

/** Looks every 50 ms, for half a minute, until there is something. */
export async function until<T>(look: () => T | undefined | null | false, what: string): Promise<T> {
  for (let i = 0; i < 600; i += 1) {
    const found = look();
    if (found) return found;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return assert.fail(`never came: ${what}`);
}

/** Starts a server on a free port and waits until it has greeted. */
export async function serve(
  dataDir: string,
  env: Record<string, string> = {},
  ...flags: string[]
): Promise<Run & { url: string }> {
  const run = start(["serve", "--port", "0", "--data-dir", dataDir, ...flags], env);
  const greeted = () => run.out().includes("  data ") && /^Parley \S+ {2}(http:\S+)/m.exec(run.out())?.[1];
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
