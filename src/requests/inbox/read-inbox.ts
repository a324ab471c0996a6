import type { Context } from "../../context.ts";
import type { Request } from "../model/request.ts";
import { inboxCounts, type InboxCounts, type InboxFilter } from "../model/inbox.ts";
import { countInbox, listInbox, type InboxPosition } from "../store/inbox.ts";
import { readersFor } from "../read.ts";

export type { InboxPosition } from "../store/inbox.ts";

export interface InboxPage {
  asks: Request[];
  /** Where the next page goes on; null after the last. */
  next: InboxPosition | null;
  /** With the first page of what waits: how many there are in all of what is wanted. */
  counts: InboxCounts | null;
}

/** Returns one page of what is in a person's inbox: open, soonest deadline first, or over, newest first. */
export async function readInbox(
  ctx: Pick<Context, "db">,
  person: string,
  filter: InboxFilter,
  page: { after?: InboxPosition; limit: number },
): Promise<InboxPage> {
  const readers = await readersFor(ctx.db, person);
  const { agent, ...wanted } = filter;
  const isCounted = filter.state === "open" && (page.after === undefined || agent !== undefined);
  const counted = isCounted ? await countInbox(ctx.db, readers) : null;
  const named = counted?.groups.filter((group) => group.agent === agent) ?? [];
  const askers = agent === undefined ? {} : { askers: [...new Set(named.map(({ asker }) => asker))] };
  // One more than requested shows whether there is another page.
  const found = await listInbox(ctx.db, readers, { ...wanted, ...askers }, { ...page, limit: page.limit + 1 });
  const asks = found.slice(0, page.limit).map(({ request }) => request);
  const last = found.length > page.limit ? asks.at(-1) : undefined;
  return {
    asks,
    next: last ? placeIn(last) : null,
    counts: counted && page.after === undefined ? inboxCounts(counted, filter) : null,
  };
}

/** Returns the place behind which the list goes on after this ask. */
export function placeIn({ state, expiresAt, settledAt, createdAt, id }: Request): InboxPosition {
  return { at: state === "open" ? expiresAt : (settledAt ?? 0), createdAt, id };
}
