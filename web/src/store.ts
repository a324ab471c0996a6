import { useLayoutEffect, useState } from "preact/hooks";

/** A value outside the component tree that components can watch. */
export interface Store<T> {
  get(): T;
  set(value: T): void;
  use(): T;
}

export function createStore<T>(initial: T): Store<T> {
  let value = initial;
  const watchers = new Set<() => void>();
  const get = (): T => value;
  return {
    get,
    set(next) {
      if (Object.is(next, value)) return;
      value = next;
      for (const watcher of watchers) watcher();
    },
    use() {
      const [, draw] = useState(get);
      useLayoutEffect(() => {
        const watcher = (): void => draw(get);
        watchers.add(watcher);
        // It may have changed since it was drawn.
        watcher();
        return () => void watchers.delete(watcher);
      }, []);
      return value;
    },
  };
}
