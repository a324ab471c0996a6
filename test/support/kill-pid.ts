import { systemClock } from "../../src/lib/clock.ts";

/** The process is gone when this returns. */
export async function killPid(pid: number): Promise<void> {
  try {
    process.kill(pid, "SIGKILL");
    for (;;) {
      process.kill(pid, 0);
      await systemClock.sleep(5);
    }
  } catch {
    // Gone.
  }
}
