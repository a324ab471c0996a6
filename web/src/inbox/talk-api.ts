import { useQuery } from "@tanstack/react-query";
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
}

/** One conversation: one's own words, and what the agent asked in it. */
export interface WholeTalk {
  id: number;
  agent: string;
  said_at: string;
  /** False where the agent takes no more words. */
  open: boolean;
  messages: { id: string; text: string; at: string; taken: boolean }[];
  asks: (ListedAsk & { words: string })[];
}

const LIST = "/people/me/conversations";

/** Words on their way: the same `id` is the same words, so that a lost reply costs nothing. */
export interface Sent {
  text: string;
  id: string;
}

export async function begin(entryPoint: string, sent: Sent): Promise<WholeTalk> {
  return connection.call("POST", LIST, { body: { entry_point: entryPoint, ...sent }, repeatable: true });
}

export async function sayMore(id: number, sent: Sent): Promise<WholeTalk> {
  return connection.call("POST", `${LIST}/${id}/messages`, { body: sent, repeatable: true });
}

export function useTalks() {
  return useQuery({
    queryKey: ["talks"],
    queryFn: ({ signal }): Promise<TalkPage> => connection.call("GET", LIST, { signal }),
  });
}

export function useTalk(id: number) {
  return useQuery({
    queryKey: ["talk", id],
    queryFn: ({ signal }): Promise<WholeTalk> => connection.call("GET", `${LIST}/${id}`, { signal }),
  });
}

/** A conversation is known as it is now. */
export function keepTalk(talk: WholeTalk): void {
  queries.setQueryData(["talk", talk.id], talk);
  void queries.invalidateQueries({ queryKey: ["talks"] });
  void queries.invalidateQueries({ queryKey: ["inbox"] });
}
