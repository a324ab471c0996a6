import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** A Parley server of its own process, as `npm start` starts it. */
export interface Served extends AsyncDisposable {
  url: string;
  /** The one-time link to the Console that the server printed. */
  startLink: string;
  /** Nobody can reach the server until it is started again, at the same address and on the same data. */
  stop(): Promise<void>;
  start(): Promise<void>;
}

const MAIN = fileURLToPath(new URL("../../src/main.ts", import.meta.url));
const START_WITHIN_MS = 20_000;

/** Starts a server on an empty data directory, which goes when it is disposed of. */
export async function serve(env: Record<string, string> = {}): Promise<Served> {
  const directory = mkdtempSync(join(tmpdir(), "parley-served-"));
  let running = await run(directory, "0", env);
  const served: Served = {
    url: running.url,
    startLink: running.startLink,
    stop: () => running.stop(),
    async start() {
      running = await run(directory, new URL(served.url).port, env);
    },
    async [Symbol.asyncDispose]() {
      await running.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
  return served;
}

async function run(directory: string, port: string, env: Record<string, string>) {
  const child = spawn(process.execPath, [MAIN, "serve", "--port", port, "--data-dir", directory], {
    env: { ...process.env, PARLEY_LOG_LEVEL: "error", ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(child, "exit");
  const stop = async (): Promise<void> => {
    child.kill("SIGTERM");
    await exited;
  };
  const late = setTimeout(() => child.kill("SIGKILL"), START_WITHIN_MS);
  const printed: { url?: string; startLink?: string } = {};
  for await (const line of createInterface(child.stdout)) {
    printed.url ??= /^ +answer +(http:\S+?)\/$/.exec(line)?.[1];
    printed.startLink ??= /^ +you +(http:\S+)/.exec(line)?.[1];
    if (/^ +data /.test(line)) break;
  }
  clearTimeout(late);
  child.stdout.resume();
  const { url, startLink } = printed;
  if (url === undefined || startLink === undefined) throw new Error("the server did not start");
  return { url, startLink, stop };
}
