import { isRunning, type Process, type Site } from "./kill-process.ts";
import type { Step } from "./kill-story.ts";

const LOOK_EVERY_MS = 100;

/** Starts a server that dies at a point, or at none. @throws {Error} when it does not come up */
export async function started(site: Site, at?: Step["at"]): Promise<Process> {
  const outcome = await site.start(at && { at });
  if (!isRunning(outcome)) throw new Error(`the server did not start: ${JSON.stringify(outcome)}`);
  return outcome;
}

export async function ended(server: Process, signal: NodeJS.Signals): Promise<void> {
  server.signal(signal);
  await server.ended;
}

/** Looks again and again until something holds, for no longer than this. */
export async function until(withinMs: number, holds: () => Promise<boolean>): Promise<void> {
  for (const end = performance.now() + withinMs; performance.now() < end && !(await holds());) {
    await pause(LOOK_EVERY_MS);
  }
}

export const pause = (ms: number): Promise<undefined> =>
  new Promise((resolve) => {
    setTimeout(() => resolve(undefined), ms);
  });
