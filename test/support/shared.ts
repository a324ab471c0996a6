/** What the test files of one process share, such as a browser: begun by the first that needs it, ended after the last. */
import { after } from "node:test";

let isShared = false;
const started = new Map<string, Promise<unknown>>();
const ends: (() => unknown)[] = [];

/** From now on what is begun here stays until `endShared`. Without this call, as in a file that runs alone, nothing is shared. */
export function share(): void {
  isShared = true;
}

/** Returns the one of this name, which is begun if there is none; null where this process shares nothing. */
export function shared<T>(name: string, begin: () => Promise<T>, end: (it: T) => Promise<unknown>): Promise<T> | null {
  if (!isShared) return null;
  const known = started.get(name) as Promise<T> | undefined;
  if (known) return known;
  const begun = begin();
  started.set(name, begun);
  ends.push(async () => end(await begun));
  // One that did not begin is tried again by whoever asks next.
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
