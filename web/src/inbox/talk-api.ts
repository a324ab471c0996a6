import { type InfiniteData, useInfiniteQuery } from "@tanstack/react-query";
import { queries } from "../queries.ts";
import { connection } from "./api.ts";
import type { ListedAsk } from "./wire.ts";

/** Where somebody may begin a conversation with an agent. */
export interface EntryPoint {
  name: string;
  agent: string;
  about: string | null;
}

export interface ListedTalk {
  id: number;
  agent: string;
  /** The newest of one's own words. */
  title: string;
  said_at: string;
}

export interface TalkPage {
  entry_points: EntryPoint[];
  conversations: ListedTalk[];
  next: string | null;
  /** How many there are, on all pages. */
  count: number;
}

export type AskInTalk = ListedAsk & { words: string };

/** One conversation: the newest of one's own words and of what the agent asked in it, or a page of what came before. */
export interface TalkPart {
  id: number;
  agent: string;
  said_at: string;
  /** False where the agent takes no more words. */
  open: boolean;
  messages: { id: string; text: string; at: string; taken: boolean }[];
  asks: AskInTalk[];
  /** What of all that was asked waits for an answer, the first two. */
  waiting: AskInTalk[];
  next: string | null;
}

const LIST = "/people/me/conversations";

/** Words on their way: the same `id` is the same words, so that a lost reply costs nothing. */
export interface Sent {
  text: string;
  id: string;
}

export async function begin(entryPoint: string, sent: Sent): Promise<TalkPart> {
  return connection.call("POST", LIST, { body: { entry_point: entryPoint, ...sent }, repeatable: true });
}

export async function sayMore(id: number, sent: Sent): Promise<TalkPart> {
  return connection.call("POST", `${LIST}/${id}/messages`, { body: sent, repeatable: true });
}

/** Where conversations may be begun, and those that were, page after page. */
export function useTalks() {
  const result = useInfiniteQuery({
    queryKey: ["talks"],
    queryFn: ({ pageParam: before, signal }): Promise<TalkPage> =>
      connection.call("GET", LIST, { query: { before }, signal }),
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
    queryFn: ({ pageParam: before, signal }): Promise<TalkPart> =>
      connection.call("GET", `${LIST}/${id}`, { query: { before }, signal }),
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
export function keepTalk(talk: TalkPart): void {
  const key = ["talk", talk.id];
  const isLong = (queries.getQueryData<InfiniteData<TalkPart>>(key)?.pages.length ?? 0) > 1;
  if (isLong) void queries.invalidateQueries({ queryKey: key });
  else queries.setQueryData(key, { pages: [talk], pageParams: [undefined] });
  void queries.invalidateQueries({ queryKey: ["talks"] });
  void queries.invalidateQueries({ queryKey: ["inbox"] });
}
