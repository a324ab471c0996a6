import { type Store, createStore } from "./store.ts";

/** The values that this browser remembers. Without storage (a private window) it remembers them until it is closed. */
const memory = new Map<string, string>();

export function recall(name: string): string | null {
  try {
    return localStorage.getItem(`parley.${name}`);
  } catch {
    return memory.get(name) ?? null;
  }
}

export function remember(name: string, value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(`parley.${name}`);
    else localStorage.setItem(`parley.${name}`, value);
  } catch {
    if (value === null) memory.delete(name);
    else memory.set(name, value);
  }
}

/** Returns how many things are remembered whose name begins so. */
export function count(prefix: string): number {
  try {
    return Object.keys(localStorage).filter((key) => key.startsWith(`parley.${prefix}`)).length;
  } catch {
    return [...memory.keys()].filter((name) => name.startsWith(prefix)).length;
  }
}

/** Forgets everything whose name begins so. */
export function forget(prefix: string): void {
  for (const name of [...memory.keys()]) if (name.startsWith(prefix)) memory.delete(name);
  try {
    for (const key of Object.keys(localStorage)) if (key.startsWith(`parley.${prefix}`)) localStorage.removeItem(key);
  } catch {
    // Nothing was stored.
  }
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
