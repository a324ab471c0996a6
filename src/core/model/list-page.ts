/** Where a page of a list ended: the moment of its last row, and what tells that one from others of the same moment. */
export interface ListPlace {
  at: number;
  id: string;
}

/** One page of a list, and where the next one begins; null after the last. */
export interface ListPage<T> {
  items: T[];
  next: ListPlace | null;
}

/** Returns the page that begins a list of which one row more was read than the page holds. */
export function pageOf<T>(found: readonly T[], limit: number, placeOf: (last: T) => ListPlace): ListPage<T> {
  const items = found.slice(0, limit);
  const last = found.length > limit ? items.at(-1) : undefined;
  return { items, next: last === undefined ? null : placeOf(last) };
}

/** Returns every row of a list, read page after page. */
export async function everyRow<T>(read: (from: { after?: ListPlace }) => Promise<ListPage<T>>): Promise<T[]> {
  const all: T[] = [];
  for (let from: { after?: ListPlace } = {}; ;) {
    const { items, next } = await read(from);
    all.push(...items);
    if (!next) return all;
    from = { after: next };
  }
}
