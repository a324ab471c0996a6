/**
 * Loaded before the server. The parent process sets the clocks of its machine, at the start by its environment, and
 * later
 * by messages. Each message gets a reply once the clocks are set.
 */
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import os from "node:os";

/** A machine's clocks after the wall clock was set, or after the machine slept or was booted. */
export interface ReportedClock {
  /** The time that the machine has slept, in ms. Its wall clock and its uptime count that time. */
  aheadMs: number;
  /** The change of its wall clock, forward or back, in ms. */
  wallMs: number;
}

const { PROOF_CLOCK_AHEAD_MS, PROOF_CLOCK_WALL_MS, PROOF_CLOCK_BOOT: boot } = process.env;
let told: ReportedClock = { aheadMs: Number(PROOF_CLOCK_AHEAD_MS ?? 0), wallMs: Number(PROOF_CLOCK_WALL_MS ?? 0) };

if (told.aheadMs !== 0 || told.wallMs !== 0 || boot !== undefined) {
  const { now } = Date;
  globalThis.Date = new Proxy(Date, {
    construct: (target, given, made) => Reflect.construct(target, given.length > 0 ? given : [target.now()], made),
  });
  Date.now = () => now() + told.aheadMs + told.wallMs;
  const { uptime } = os;
  // Where the machine's clocks are given, the boot is too: its uptime is the kernel's, as on a machine of one's own.
  const awake = boot === undefined ? uptime : () => Number(process.hrtime.bigint()) / 1e9;
  os.uptime = () => awake() + told.aheadMs / 1000;
}

if (boot !== undefined) {
  const { readFileSync } = fs;
  fs.readFileSync = ((path: string, ...more: []) =>
    path === "/proc/sys/kernel/random/boot_id" ? boot : readFileSync(path, ...more)) as typeof readFileSync;
  process.on("message", (clock: ReportedClock) => {
    told = clock;
    process.send?.(clock);
  });
  // Nobody stays for it.
  process.channel?.unref();
}

syncBuiltinESMExports();
