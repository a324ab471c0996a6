import { stat } from "node:fs/promises";
import type { Clock } from "../lib/clock.ts";

const LOOK_EVERY_MS = 5000;

/** Calls `onGone` once when a folder is not there any more, unless `signal` is aborted first. */
export async function watchFolder(
  folder: string,
  clock: Clock,
  signal: AbortSignal,
  onGone: () => void,
): Promise<void> {
  while (!signal.aborted) {
    await clock.sleep(LOOK_EVERY_MS, signal);
    if (signal.aborted) return;
    const error = await stat(folder).then(
      () => null,
      (reason: unknown) => reason,
    );
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return onGone();
  }
}
