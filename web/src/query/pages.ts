import {
  type DefaultedInfiniteQueryObserverOptions,
  type InfiniteData,
  InfiniteQueryObserver,
  type InfiniteQueryObserverOptions,
  type InfiniteQueryObserverResult,
  type QueryKey,
} from "@tanstack/query-core";
import { useEffect, useState } from "preact/hooks";
import { queries, useObserver } from "./query.ts";

/** Reads a list page after page under one key, as `useQuery` reads one thing. */
export function useInfiniteQuery<T, Key extends QueryKey, Param>(
  options: InfiniteQueryObserverOptions<T, Error, InfiniteData<T, Param>, Key, Param>,
): InfiniteQueryObserverResult<InfiniteData<T, Param>> {
  const wanted = queries.defaultQueryOptions(options) as DefaultedInfiniteQueryObserverOptions<
    T,
    Error,
    InfiniteData<T, Param>,
    Key,
    Param
  >;
  wanted._optimisticResults = "optimistic";
  const [observer] = useState(() => new InfiniteQueryObserver(queries, wanted));
  const result = observer.getOptimisticResult(wanted);
  useObserver(observer);
  useEffect(() => observer.setOptions(wanted));
  return observer.trackResult(result) as typeof result;
}
