import type { AskingAgentPage } from "@parley/sdk/admin";
import { useInfiniteQuery } from "../../query/pages.ts";
import { admin } from "../api.ts";

const FRESH_MS = 5000;

export type AskingAgent = AskingAgentPage["agents"][number];

/** Reads the programs that ask, page by page; undefined until the first is there. */
export function useAskingAgents() {
  const result = useInfiniteQuery({
    queryKey: ["console", "asking agents"],
    queryFn: ({ pageParam, signal }) => admin.askingAgents({ cursor: pageParam, signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next ?? undefined,
    staleTime: FRESH_MS,
    refetchInterval: FRESH_MS,
  });
  return { ...result, agents: result.data?.pages.flatMap((page) => page.agents) };
}
