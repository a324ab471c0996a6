import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Clock } from "../../lib/clock.ts";

const TELLS_WITHIN_MS = 10_000;
const MOST_OUTPUT_CHARS = 4096;

/** Asks a program for its version, in a home of its own and not for long. */
export async function versionOf(program: string, path: string, clock: Clock): Promise<string | null> {
  const home = await mkdtemp(join(tmpdir(), "parley-agent-"));
  const late = new AbortController();
  try {
    const child = spawn(program, ["--version"], {
      cwd: home,
      env: { PATH: path, HOME: home, XDG_DATA_HOME: home, XDG_CACHE_HOME: home, XDG_CONFIG_HOME: home },
      stdio: ["ignore", "pipe", "ignore"],
    });
    let output = "";
    child.stdout
      .setEncoding("utf8")
      .on("data", (text: string) => (output = (output + text).slice(0, MOST_OUTPUT_CHARS)));
    const ended = new Promise<void>((resolve) => {
      child.on("error", () => resolve());
      child.on("close", () => resolve());
    });
    void clock.sleep(TELLS_WITHIN_MS, late.signal).then(() => child.kill("SIGKILL"));
    await Promise.race([ended, clock.sleep(2 * TELLS_WITHIN_MS, late.signal)]);
    child.stdout.destroy();
    return /(?<!\d)\d+\.\d+\.\d+[\w.+-]*/.exec(output)?.[0] ?? null;
  } finally {
    late.abort();
    await rm(home, { recursive: true, force: true, maxRetries: 3 });
  }
}
