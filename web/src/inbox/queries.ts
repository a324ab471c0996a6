import type { InfiniteData } from "@tanstack/query-core";
import { queries, useQuery } from "../query/query.ts";
import { useInfiniteQuery } from "../query/pages.ts";
import { useEffect, useRef } from "preact/hooks";
import { announce } from "../parts/announcer.tsx";
import { number } from "../format.ts";
import { createStore } from "../store.ts";
import { useTitle } from "../title.ts";
import { inbox } from "./api.ts";
import type { Tab } from "./chosen.ts";
import { text } from "./text.ts";
import type { AskPage, Counts, ListedAsk, Wanted, WholeAsk } from "./wire.ts";

/** The ask that was decided or put aside here last, as it was afterwards; none since the app was opened. */
export const decided = createStore<WholeAsk | null>(null);

const ALL: Wanted = {};

/**
 * The asks that wait for the person who is signed in, or the past ones, page after page: all, or those that match
 * `wanted`.
 */
export function useInbox(tab: Tab, wanted = ALL) {
  const result = useInfiniteQuery({
    queryKey: ["inbox", tab, wanted],
    queryFn: ({ pageParam, signal }) => inbox.asks({ state: tab, ...wanted, before: pageParam, signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next ?? undefined,
    // While somebody goes on writing what to look for, what was found stays.
    placeholderData: (found, before) => (wanted.q !== undefined && before?.queryKey[1] === tab ? found : undefined),
  });
  const pages = result.data?.pages;
  const counts: Counts | null | undefined = pages?.[0]?.counts;
  return { ...result, asks: pages?.flatMap((page) => page.asks), counts };
}

export function useAsk(id: string) {
  return useQuery({ queryKey: ["ask", id], queryFn: ({ signal }) => inbox.ask(id, { signal }) });
}

/**
 * Reads the lists anew, as far as they were read. Changes meanwhile are read afterwards: a list of many pages that
 * began anew at every change would not come to its end while changes come in.
 */
async function refreshLists(): Promise<void> {
  isStale = true;
  if (isReading) return;
  isReading = true;
  while (isStale) {
    isStale = false;
    await queries.invalidateQueries({ queryKey: ["inbox"] });
  }
  isReading = false;
}
let isStale = false;
let isReading = false;

/** Reads lists, and the asks and conversations on screen, anew. */
export function refresh(id: string | null): void {
  void refreshLists();
  void queries.invalidateQueries({ queryKey: id === null ? ["ask"] : ["ask", id] });
  void queries.invalidateQueries({ queryKey: ["batch"] });
  void queries.invalidateQueries({ queryKey: ["talk"] });
  void queries.invalidateQueries({ queryKey: ["run"] });
  void queries.invalidateQueries({ queryKey: ["freezes"] });
  if (id === null) void queries.invalidateQueries({ queryKey: ["away"] });
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
  let isBack = false;
  // The stream tells nothing of changes while it was cut.
  const onConnect = (): void => {
    if (isBack) refresh(null);
    isBack = true;
  };
  try {
    for await (const id of inbox.events({ signal, onConnect })) refresh(id);
  } catch {
    // Let go of, or signed out: what is on screen is read again when it is looked at.
  }
}

/** Gives the document a title with the number of asks that wait before it, and the app's icon the same number. */
export function useInboxTitle(title: string): void {
  const waiting = useInbox("open").counts?.all ?? 0;
  useTitle(waiting > 0 ? `(${number(waiting)}) ${title}` : title);
  useEffect(() => void navigator.setAppBadge?.(waiting).catch(() => {}), [waiting]);
}

/** Says when something has come that was not there before. */
export function useArrivals(): void {
  const known = useRef<number | null>(null);
  const { counts } = useInbox("open");
  useEffect(() => {
    if (!counts) return;
    const newest = counts.newest_at === null ? 0 : Date.parse(counts.newest_at);
    if (known.current !== null && newest > known.current) announce(text.arrived);
    known.current = Math.max(newest, known.current ?? 0);
  }, [counts]);
}

/** Returns an ask as a list shows it. */
export function listed(id: string): ListedAsk | undefined {
  return queries
    .getQueriesData<InfiniteData<AskPage>>({ queryKey: ["inbox"] })
    .flatMap(([, data]) => data?.pages.flatMap((page) => page.asks) ?? [])
    .find((one) => one.id === id);
}
