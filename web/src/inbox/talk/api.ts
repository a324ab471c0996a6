import type { OwnConversation } from "@parley/sdk/inbox";
import type { InfiniteData } from "@tanstack/query-core";
import { useInfiniteQuery } from "../../query/pages.ts";
import { queries } from "../../query/query.ts";
import { inbox } from "../api.ts";

/** Where conversations may be begun, and those that were, page after page. */
export function useTalks() {
  const result = useInfiniteQuery({
    queryKey: ["talks"],
    queryFn: ({ pageParam: before, signal }) => inbox.conversations({ before, signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next ?? undefined,
  });
  const pages = result.data?.pages;
  return { ...result, first: pages?.[0], talks: pages?.flatMap((page) => page.conversations) ?? [] };
}

/** One conversation as far as it was read, from its end on. */
export function useTalk(id: number) {
  const result = useInfiniteQuery({
    queryKey: ["talk", id],
    queryFn: ({ pageParam: before, signal }) => inbox.conversation(id, { before, signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next ?? undefined,
  });
  const [newest, ...earlier] = result.data?.pages ?? [];
  const talk = newest && {
    ...newest,
    messages: [newest, ...earlier].flatMap((page) => page.messages),
    asks: [newest, ...earlier].flatMap((page) => page.asks),
  };
  return { ...result, talk };
}

/** A conversation is known as it is now; where more than its end was read, it is read again. */
export function keepTalk(talk: OwnConversation): void {
  const key = ["talk", talk.id];
  const isLong = (queries.getQueryData<InfiniteData<OwnConversation>>(key)?.pages.length ?? 0) > 1;
  if (isLong) void queries.invalidateQueries({ queryKey: key });
  else queries.setQueryData(key, { pages: [talk], pageParams: [undefined] });
  void queries.invalidateQueries({ queryKey: ["talks"] });
  void queries.invalidateQueries({ queryKey: ["inbox"] });
}
