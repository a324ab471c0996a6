/** The choice of what a list shows stands in the address, where a reload, a link and Back find it. */
import { search, useLocation } from "./router.tsx";

/** Changes parts of the choice; an empty part is the usual one, and leaves the address. */
export type Choose = (change: Readonly<Record<string, string>>, how?: { replace: boolean }) => void;

/** Returns each part of the choice by its name, empty where it is the usual one, and how to change some of them. */
export function useFilter(): [partOf: (name: string) => string, choose: Choose] {
  const [, go] = useLocation();
  const chosen = new URLSearchParams(search.use());
  const choose: Choose = (change, how) => {
    // The address may have changed since the list was drawn.
    const query = new URLSearchParams(location.search);
    for (const [name, value] of Object.entries(change)) {
      if (value === "") query.delete(name);
      else query.set(name, value);
    }
    go(location.pathname + (query.size > 0 ? `?${query}` : ""), how);
  };
  return [(name) => chosen.get(name) ?? "", choose];
}

/** Returns the address of a thing beside the list as it was chosen. */
export const besideList = (path: string): string => path + search.get();
