/** The address of the app, as the screens see and change it. */
import type { ComponentProps } from "preact";
import { createStore } from "./store.ts";

/** How an address is gone to: as a new step of the history or in the place of this one, and with what state. */
interface Going {
  replace?: boolean | undefined;
  state?: unknown;
}

const path = createStore(location.pathname);
/** The part of the address from its `?` on, as screens watch it. */
export const search = createStore(location.search);
function read(): void {
  path.set(location.pathname);
  search.set(location.search);
}
addEventListener("popstate", read);

/** Returns the name that stands in a part of a path; a part that cannot be decoded is taken as it stands. */
export function nameAt(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Goes to an address of the app without loading the page. */
function go(to: string, { replace = false, state = null }: Going = {}): void {
  history[replace ? "replaceState" : "pushState"](state, "", to);
  read();
}

/** Returns the path of the address, as it stands there, and how to go to another address. */
export function useLocation(): [path: string, go: (to: string, how?: Going) => void] {
  return [path.use(), go];
}

/** A link within the app. A press with a modifier key is left to the browser, as is one that `onClick` prevents. */
export function Link({ replace, onClick, ...rest }: ComponentProps<"a"> & { href: string; replace?: boolean }) {
  return (
    <a
      {...rest}
      onClick={(event) => {
        if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey || event.button !== 0) return;
        onClick?.(event);
        if (event.defaultPrevented) return;
        event.preventDefault();
        go(rest.href, { replace });
      }}
    />
  );
}
