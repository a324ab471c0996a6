import { createStore } from "../store.ts";
import type { Counts, ListedAsk } from "./wire.ts";

/** A list as somebody has it in front of them. */
interface Seen {
  /** Which list it is. */
  list: string;
  ids: ReadonlySet<string>;
  /** The list was read to its end, so a row that is not among the ids has come in since. */
  isWhole: boolean;
  newestAt: string | null;
}

const seen = createStore<Seen | null>(null);

/** A list as far as it was read. */
interface Read {
  asks: readonly ListedAsk[] | undefined;
  hasNextPage: boolean;
  counts: Counts | null | undefined;
}

/**
 * Parts a list into the rows that somebody has in front of them and those that have come in since. New rows wait until
 * they want to see them: no row moves away under the finger that is about to press it. Nothing is held back from a list
 * that is empty or was not looked at just before: `isToShow` says then that `show` is to be called. Nothing is held
 * back from past asks either, which have no counts.
 */
export function useSeen(list: string, { asks, hasNextPage, counts }: Read) {
  const before = seen.use();
  const isKnown = before?.list === list && counts !== null;
  const isNew = (ask: ListedAsk): boolean => isKnown && hasComeSince(before, ask);
  const rows = asks?.filter((ask) => !isNew(ask));
  const show = (): void => {
    const ids = new Set(asks?.map(({ id }) => id));
    seen.set({ list, ids, isWhole: !hasNextPage, newestAt: counts?.newest_at ?? null });
  };
  const isEmptied = rows?.length === 0 && asks?.length !== 0;
  const isToShow = Boolean(rows && counts) && (!isKnown || isEmptied);
  return { rows, arrived: asks?.filter(isNew) ?? [], isToShow, show };
}

/**
 * Returns whether a row has come in since the list was seen. In a list that was not read to its end, the time of asking
 * tells a new row from one that moved up.
 */
function hasComeSince({ ids, isWhole, newestAt }: Seen, { id, created_at: at }: ListedAsk): boolean {
  return !ids.has(id) && (isWhole || newestAt === null || at > newestAt);
}
