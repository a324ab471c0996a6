import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { greetingsIn } from "../support/log-lines.ts";
import { reservePort } from "../support/ports.ts";

/** A Parley server of its own process, as `npm start` starts it. */
export interface Served extends AsyncDisposable {
  url: string;
  /** A one-time link to the Console, as `parley link` prints it. */
  newStartLink(): Promise<string>;
  /** Nobody can reach the server until it is started again, at the same address and on the same data. */
  stop(): Promise<void>;
  start(): Promise<void>;
}

const MAIN = fileURLToPath(new URL("../../src/main.ts", import.meta.url));
const START_WITHIN_MS = 90_000;

/** Starts a server on an empty data directory, which goes when it is disposed of. */
export async function serve(env: Record<string, string> = {}): Promise<Served> {
  const directory = mkdtempSync(join(tmpdir(), "parley-served-"));
  const port = String(await reservePort());
  let running = await run(directory, port, env);
  const served: Served = {
    url: running.url,
    newStartLink: () => link(directory, running.url, env),
    stop: () => running.stop(),
    async start() {
      running = await run(directory, port, env);
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
  let url: string | undefined;
  for await (const line of createInterface(child.stdout)) {
    url = greetingsIn(`${line}\n`)[0]?.url;
    if (url !== undefined) break;
  }
  clearTimeout(late);
  child.stdout.resume();
  if (url === undefined) throw new Error("the server did not start");
  return { url, stop };
}

async function link(directory: string, url: string, env: Record<string, string>): Promise<string> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [MAIN, "link", "--url", url, "--data-dir", directory],
    {
      env: { ...process.env, ...env },
    },
  );
  return stdout.trim();
}
