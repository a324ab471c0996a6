import type { ActivityFilter, ActivityHours } from "@parley/sdk/admin";
import { useInfiniteQuery } from "../../query/pages.ts";
import { useQuery } from "../../query/query.ts";
import { admin } from "../api.ts";

const FRESH_MS = 5000;
const NUMBERS_MS = 15_000;

/** Counts the decisions of a span, every fifteen seconds. */
export function useHours(span: ActivityHours["span"]) {
  return useQuery({
    queryKey: ["console", "activity", "hours", span],
    queryFn: ({ signal }) => admin.activityHours(span, { signal }),
    staleTime: NUMBERS_MS,
    refetchInterval: NUMBERS_MS,
  });
}

/** Reads what was decided, or waits, page by page; undefined until the first is there. */
export function useActivity(filter: ActivityFilter) {
  const result = useInfiniteQuery({
    queryKey: ["console", "activity", filter],
    queryFn: ({ pageParam, signal }) => admin.activity({ ...filter, cursor: pageParam, signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next ?? undefined,
    staleTime: FRESH_MS,
  });
  return { ...result, first: result.data?.pages[0], rows: result.data?.pages.flatMap(({ items }) => items) };
}
