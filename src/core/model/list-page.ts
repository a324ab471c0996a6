/** Where a page of a list ended: the moment of its last row, and what tells that one from others of the same moment. */
export interface ListPosition {
  at: number;
  id: string;
}

/** One page of a list, and where the next one begins; null after the last. */
export interface ListPage<T> {
  items: T[];
  next: ListPosition | null;
}

/** Returns the page that begins a list of which one row more was read than the page holds. */
export function pageOf<T>(found: readonly T[], limit: number, placeOf: (last: T) => ListPosition): ListPage<T> {
  const items = found.slice(0, limit);
  const last = found.length > limit ? items.at(-1) : undefined;
  return { items, next: last === undefined ? null : placeOf(last) };
}

/** Returns every row of a list, read page after page. */
export async function everyRow<T>(read: (from: { after?: ListPosition }) => Promise<ListPage<T>>): Promise<T[]> {
  const all: T[] = [];
  for (let from: { after?: ListPosition } = {}; ;) {
    const { items, next } = await read(from);
    all.push(...items);
    if (!next) return all;
    from = { after: next };
  }
}
