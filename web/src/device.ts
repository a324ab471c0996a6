import { type Store, createStore } from "./store.ts";

/**
 * The values that the browser's storage refused (in a private window, or on a full device), null where one was to be
 * forgotten. They are remembered until the page is closed, and come before what the storage still holds.
 */
const memory = new Map<string, string | null>();

export function recall(name: string): string | null {
  const kept = memory.get(name);
  if (kept !== undefined) return kept;
  try {
    return localStorage.getItem(`parley.${name}`);
  } catch {
    return null;
  }
}

export function remember(name: string, value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(`parley.${name}`);
    else localStorage.setItem(`parley.${name}`, value);
    memory.delete(name);
  } catch {
    memory.set(name, value);
  }
}

/** Returns how many things are remembered whose name begins so. */
export function count(prefix: string): number {
  return namesWith(prefix).filter((name) => recall(name) !== null).length;
}

function namesWith(prefix: string): string[] {
  const kept = new Set(memory.keys());
  try {
    for (const key of Object.keys(localStorage)) if (key.startsWith("parley.")) kept.add(key.slice("parley.".length));
  } catch {
    // Nothing was stored.
  }
  return [...kept].filter((name) => name.startsWith(prefix));
}

/** Forgets everything whose name begins so. */
export function forget(prefix: string): void {
  for (const name of namesWith(prefix)) remember(name, null);
}

/** A setting of one of these values, kept across visits. */
export function setting<T extends string>(name: string, values: readonly T[], initial: T): Store<T> {
  const kept = values.find((value) => value === recall(name));
  const store = createStore<T>(kept ?? initial);
  return {
    ...store,
    set(value) {
      remember(name, value === initial ? null : value);
      store.set(value);
    },
  };
}

/** A random name of this browser: a first answer whose reply was lost is recognised by it when it is sent again. */
export function deviceName(): string {
  const kept = recall("device");
  if (kept !== null) return kept;
  const made = Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(36)).join("-");
  remember("device", made);
  return made;
}
