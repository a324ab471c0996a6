/**
 * The resources that the test files of one process share, such as a browser. The first user starts each; it ends after
 * the last.
 */
import { after } from "node:test";

let isShared = false;
const started = new Map<string, Promise<unknown>>();
const ends: (() => unknown)[] = [];

/** From now on what is begun here stays until `endShared`. Without this call, as in a file that runs alone, nothing is shared. */
export function share(): void {
  isShared = true;
}

/**
 * Returns the shared resource of this name, and starts it if it does not exist yet. Returns null if this process shares
 * nothing.
 */
export function shared<T>(name: string, begin: () => Promise<T>, end: (it: T) => Promise<unknown>): Promise<T> | null {
  if (!isShared) return null;
  const known = started.get(name) as Promise<T> | undefined;
  if (known) return known;
  const begun = begin();
  started.set(name, begun);
  ends.push(async () => end(await begun));
  // The next user tries again to start a resource that did not start.
  begun.catch(() => started.delete(name));
  return begun;
}

/**
 * Does this after the last test of the process. A module that several files import says so instead of `after`, which it
 * would call once, for the file that happens to import it first.
 */
export function afterLast(end: () => unknown): void {
  if (isShared) ends.push(end);
  else after(async () => void (await end()));
}

/** Everything that was shared has ended. */
export async function endShared(): Promise<void> {
  const ended = await Promise.allSettled(ends.map(async (end) => end()));
  for (const one of ended) if (one.status === "rejected") throw one.reason;
}
