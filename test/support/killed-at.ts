import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { environment, MAIN } from "./program.ts";

const PRELOAD = fileURLToPath(new URL("../proof/kill-at-point.ts", import.meta.url));

/** Runs a command, which is killed when it comes to the point for the `hit`th time. */
export async function killedAt(
  point: string,
  hit: number,
  args: readonly string[],
  more: Record<string, string> = {},
): Promise<void> {
  const env = environment({ ...more, PROOF_POINT: point, PROOF_POINT_HIT: String(hit) });
  const child = spawn(process.execPath, ["--import", PRELOAD, MAIN, ...args], { env, stdio: "ignore" });
  const [, signal] = (await once(child, "close")) as [number | null, string | null];
  assert.equal(signal, "SIGKILL", `${args.join(" ")} never came to ${point} for the ${hit}. time`);
}
