import type { AskToPeople } from "@parley/sdk/inbox";
import { useQuery } from "../../query/query.ts";
import { serverNow } from "../../api.ts";
import { inbox } from "../../inbox/api.ts";
import type { ListedAsk, Wanted } from "../../inbox/wire.ts";
import { text as consoleText } from "../text.ts";
import { text } from "./text.ts";

/** So many requests are shown with the people who may answer; the inbox has the others. */
const MOST_SHOWN = 8;
const MOST_NAMES = 3;
const FRESH_MS = 5000;

/** One request that waits, and who may answer it. */
export interface WaitingRequest {
  ask: ListedAsk;
  whom: string;
}

/** The requests that wait for people at one moment: every number and row is of the same reading. */
export interface Waiting {
  at: number;
  total: number;
  /** Null where more wait than one page holds. */
  oldestMs: number | null;
  first: readonly ListedAsk[];
  /** The choice and the order by which they were read. */
  wanted: string;
}

async function readWaiting(signal: AbortSignal, wanted: Wanted = {}): Promise<Waiting> {
  const { asks, counts, next } = await inbox.asks({ state: "open", ...wanted, signal });
  const at = counts ? Date.parse(counts.at) : serverNow();
  const oldest = Math.min(...asks.map(({ created_at }) => Date.parse(created_at)));
  return {
    at,
    total: counts?.all ?? asks.length,
    oldestMs: asks.length === 0 || next !== null ? null : Math.max(0, at - oldest),
    first: wanted.q === undefined ? asks.slice(0, MOST_SHOWN) : asks,
    wanted: JSON.stringify(wanted),
  };
}

/** Reads what waits for people. It is below the key of the inbox, so that a change there reads it anew. */
export function useWaiting() {
  return useQuery({
    queryKey: ["inbox", "waiting"],
    queryFn: ({ signal }) => readWaiting(signal),
    staleTime: FRESH_MS,
    refetchInterval: FRESH_MS,
  });
}

/** Reads what of it is wanted, or in another order; what was found stays while somebody goes on writing. */
export function useFoundWaiting(wanted: Wanted) {
  return useQuery({
    queryKey: ["inbox", "waiting", "found", wanted],
    queryFn: ({ signal }) => readWaiting(signal, wanted),
    placeholderData: (found) => found,
    staleTime: FRESH_MS,
    refetchInterval: FRESH_MS,
  });
}

/** Reads who may answer the requests that are shown; one that is over meanwhile has nobody. */
export function useWhom(asks: readonly ListedAsk[]) {
  return useQuery({
    queryKey: ["inbox", "waiting", "whom", ...asks.map(({ id }) => id)],
    queryFn: async ({ signal }) => {
      const all = await Promise.all(asks.map(({ id }) => inbox.ask(id, { signal }).catch(() => null)));
      return new Map(all.flatMap((one) => (one === null ? [] : [[one.id, whomOf(one)] as const])));
    },
    enabled: asks.length > 0,
    // The people of a row stay while those of another one are read.
    placeholderData: (found) => found,
    staleTime: FRESH_MS,
  });
}

function whomOf({ may_answer }: Pick<AskToPeople, "may_answer">): string {
  const named = may_answer.flatMap(({ name, channel }) => {
    if (name !== null) return [name];
    return channel in consoleText.channelNames && channel !== "inbox"
      ? [consoleText.channel(channel as keyof typeof consoleText.channelNames)]
      : [];
  });
  const names = [...new Set(named)];
  const more = names.length - MOST_NAMES;
  return text.waiting.whom([...names.slice(0, MOST_NAMES), ...(more > 0 ? [text.waiting.andMore(more)] : [])]);
}
