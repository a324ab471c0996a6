import type { Context } from "../../context.ts";
import { yieldToEventLoop } from "../../lib/event-loop.ts";
import { namePeople } from "../../access/name-people.ts";
import type { InboxKind } from "../model/inbox.ts";
import type { Request } from "../model/request.ts";
import { isSought, soughtWords } from "../model/sought.ts";
import { placeIn, type InboxPage, type InboxPosition } from "./read-inbox.ts";
import { readersFor } from "../read.ts";
import { listInbox } from "../store/inbox.ts";

/** So many are read and looked through before others are served. */
const AT_ONCE = 100;
/** So many are looked through for one page; the next goes on behind them. */
const MOST_LOOKED_AT = 2000;

/**
 * Returns one page of what is over in a person's inbox and holds all words of `query`, newest first. A page may have few
 * rows or none although more are found further back: `next` is null only once everything was looked through.
 */
export async function searchInbox(
  ctx: Pick<Context, "db">,
  person: string,
  { query, kind }: { query: string; kind?: InboxKind },
  page: { after?: InboxPosition; limit: number },
): Promise<InboxPage> {
  const readers = await readersFor(ctx.db, person);
  const words = soughtWords(query);
  const asks: Request[] = [];
  let after = page.after;
  for (let looked = 0; looked < MOST_LOOKED_AT; looked += AT_ONCE) {
    const place = { limit: AT_ONCE, ...(after && { after }) };
    const found = await listInbox(ctx.db, readers, { state: "over", ...(kind && { kind }) }, place);
    const batch = found.map(({ request }) => request);
    const deciders = batch.flatMap(({ outcome }) => (outcome?.by?.kind === "person" ? [outcome.by.id] : []));
    const called = await namePeople(ctx, deciders);
    for (const peopleRequest of batch) {
      after = placeIn(peopleRequest);
      if (isSought(peopleRequest, words, called)) asks.push(peopleRequest);
      if (asks.length === page.limit) return { asks, next: after, counts: null };
    }
    if (batch.length < AT_ONCE) return { asks, next: null, counts: null };
    await yieldToEventLoop();
  }
  return { asks, next: after ?? null, counts: null };
}
