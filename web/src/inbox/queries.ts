import { type InfiniteData, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useEffect, useRef } from "preact/hooks";
import { announce } from "../parts/announcer.tsx";
import { queries } from "../queries.ts";
import { inboxEvents, listAsks, readAsk } from "./api.ts";
import { text } from "./text.ts";
import type { AskPage, ListedAsk } from "./wire.ts";

export type Tab = "open" | "over";

/** What waits for the person who is signed in, or what is over, page after page. */
export function useInbox(tab: Tab) {
  const result = useInfiniteQuery({
    queryKey: ["inbox", tab],
    queryFn: ({ pageParam, signal }) => listAsks(tab, { before: pageParam, signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next ?? undefined,
  });
  return { ...result, asks: result.data?.pages.flatMap((page) => page.asks) };
}

export function useAsk(id: string) {
  return useQuery({ queryKey: ["ask", id], queryFn: ({ signal }) => readAsk(id, signal) });
}

/** Reads lists, and the asks and conversations on screen, anew. */
export function refresh(id: string | null): void {
  void queries.invalidateQueries({ queryKey: ["inbox"] });
  void queries.invalidateQueries({ queryKey: id === null ? ["ask"] : ["ask", id] });
  void queries.invalidateQueries({ queryKey: ["talk"] });
}

/** While the room is on a visible page, what it shows is kept true. */
export function useLiveInbox(): void {
  useEffect(() => {
    let stop = new AbortController();
    const listen = (): void => {
      stop.abort();
      if (document.visibilityState !== "visible") return;
      stop = new AbortController();
      void followInbox(stop.signal);
    };
    document.addEventListener("visibilitychange", listen);
    listen();
    return () => {
      document.removeEventListener("visibilitychange", listen);
      stop.abort();
    };
  }, []);
}

async function followInbox(signal: AbortSignal): Promise<void> {
  try {
    for await (const id of inboxEvents({ signal })) refresh(id);
  } catch {
    // Let go of, or signed out: what is on screen is read again when it is looked at.
  }
}

/** Says when something has come that was not there before. */
export function useArrivals(): void {
  const known = useRef<Set<string> | null>(null);
  const { asks } = useInbox("open");
  useEffect(() => {
    if (!asks) return;
    const before = known.current;
    known.current = new Set([...(before ?? []), ...asks.map(({ id }) => id)]);
    if (before && asks.some(({ id }) => !before.has(id))) announce(text.arrived);
  }, [asks]);
}

/** What the list knows of an ask. */
export function listed(id: string): ListedAsk | undefined {
  return queries
    .getQueriesData<InfiniteData<AskPage>>({ queryKey: ["inbox"] })
    .flatMap(([, data]) => data?.pages.flatMap((page) => page.asks) ?? [])
    .find((one) => one.id === id);
}
