import {
  type DefaultedInfiniteQueryObserverOptions,
  type FetchNextPageOptions,
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
  const tracked = observer.trackResult(result) as typeof result;
  return { ...tracked, fetchNextPage: (how) => readOn(observer, how) };
}

/**
 * Reads one page more. A reading of the whole list that goes on is waited for; one that begins meanwhile takes the
 * place of this one, which then begins again.
 */
export async function readOn<T, Param, Key extends QueryKey>(
  observer: InfiniteQueryObserver<T, Error, InfiniteData<T, Param>, Key, Param>,
  how?: FetchNextPageOptions,
): Promise<InfiniteQueryObserverResult<InfiniteData<T, Param>>> {
  const pages = (): number => observer.getCurrentResult().data?.pages.length ?? 0;
  const before = pages();
  for (;;) {
    const result = await observer.fetchNextPage({ ...how, cancelRefetch: false });
    if (result.isError || !result.hasNextPage || pages() > before) return result;
  }
}
