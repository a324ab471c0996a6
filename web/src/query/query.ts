/** The readings of the server that the screens share, each kept under its key. */
import {
  notifyManager,
  QueryClient,
  type QueryKey,
  QueryObserver,
  type QueryObserverOptions,
  type QueryObserverResult,
} from "@tanstack/query-core";
import { useEffect, useState } from "preact/hooks";

export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      // The server may be on this very computer, so the browser's idea of being offline must not hold a request back.
      networkMode: "always",
      staleTime: 30_000,
      gcTime: Infinity,
      retry: false,
    },
  },
});

/** Reads under a key, and draws the component again whenever what it took from the result has changed. */
export function useQuery<T, Selected = T, Key extends QueryKey = QueryKey>(
  options: QueryObserverOptions<T, Error, Selected, T, Key>,
): QueryObserverResult<Selected> {
  const wanted = queries.defaultQueryOptions(options);
  wanted._optimisticResults = "optimistic";
  const [observer] = useState(() => new QueryObserver<T, Error, Selected, T, Key>(queries, wanted));
  const result = observer.getOptimisticResult(wanted);
  useObserver(observer);
  useEffect(() => observer.setOptions(wanted));
  return observer.trackResult(result);
}

/** Draws the component again when the observer has something new. */
export function useObserver(observer: {
  subscribe: (listener: () => void) => () => void;
  updateResult: () => void;
}): void {
  const [, draw] = useState({});
  useEffect(() => {
    const stop = observer.subscribe(notifyManager.batchCalls(() => draw({})));
    // Something may have come since it was drawn.
    observer.updateResult();
    return stop;
  }, []);
}
