import type { Context } from "../../context.ts";
import type { RequestId } from "../../core/model/ids.ts";
import { isCall } from "../read/recorded-decision.ts";
import type { CallOutcome } from "../model/call-outcome.ts";
import { readCallOutcomes } from "../outcome/read-outcomes.ts";
import type { Request } from "../model/request.ts";
import type { Language } from "../model/sentence-words.ts";
import {
  batchId,
  inboxCounts,
  placeInInbox,
  type InboxCounts,
  type InboxFilter,
  type InboxOrder,
  type InboxPosition,
} from "../model/inbox.ts";
import { countAlike, countInbox, listInbox, type InboxQuery } from "../store/inbox.ts";
import { listSnoozes } from "../store/snoozes.ts";
import { readersFor } from "../read/read-request.ts";
import { stoodInFor } from "./away.ts";
import { handOnsOf, type HandOnsOfPerson } from "./hand-on.ts";
import { searchInbox } from "./search-inbox.ts";

export interface InboxPage {
  asks: Request[];
  /** Where the next page goes on; null after the last. */
  next: InboxPosition | null;
  /** With the first page of what waits, unless words are searched: how many there are in all of what is wanted. */
  counts: InboxCounts | null;
  /** Of each waiting call of the page how many of its agent and function wait, itself among them, and what names these. */
  alike: ReadonlyMap<RequestId, AlikeCalls>;
  /** Until when each of them is put aside, where that is what is wanted. */
  snoozes: ReadonlyMap<RequestId, number>;
  /** The hand-ons of each that concern the person. */
  handOns: ReadonlyMap<RequestId, HandOnsOfPerson>;
  /** The stored outcomes of approved calls of the page. */
  callOutcomes: ReadonlyMap<RequestId, CallOutcome>;
}

/** Waiting calls of one agent and function. */
export interface AlikeCalls {
  /** The same for each of them, and for no other call. */
  id: string;
  count: number;
}

/** The part of an inbox that is read, and its order; words are searched as a reader of `language` sees them. */
interface WantedInbox extends InboxFilter {
  order?: InboxOrder;
  query?: string;
  language?: Language;
}

/**
 * Returns one page of what is in a person's inbox: open, soonest deadline first, or over, newest first. Of what waits,
 * that which somebody handed to them comes first in every order.
 */
export async function readInbox(
  ctx: Pick<Context, "db" | "addressed">,
  person: string,
  { order = "deadline", query = "", language = "en", ...filter }: WantedInbox,
  page: { after?: InboxPosition; limit: number },
): Promise<InboxPage> {
  const readers = await readersFor(ctx.db, person);
  const { agent, ...wanted } = filter;
  const isFirst = filter.state === "open" && page.after === undefined && query === "";
  const counted = isFirst || agent !== undefined ? await countInbox(ctx.db, readers) : null;
  const named = counted?.groups.filter((group) => group.agent === agent) ?? [];
  const askers = agent === undefined ? {} : { askers: [...new Set(named.map(({ asker }) => asker))] };
  const isSearched = query !== "" || order === "risk";
  const isInTwo = filter.state === "open" && filter.snoozed !== true;
  const standing = isInTwo ? [...(await stoodInFor(ctx, person)).keys()] : [];
  const { asks, next } = await inTwo(isInTwo, page, (handed, place) => {
    const of = {
      readers,
      wanted: { ...wanted, ...askers, ...(handed !== undefined && { handed, stoodInFor: standing }) },
    };
    return isSearched ? searchInbox(ctx, of, { query, language, order }, place) : listPage(ctx, of, order, place);
  });
  const ids = filter.state === "open" ? asks.map(({ id }) => id) : [];
  const aside = filter.snoozed === true ? asks.map(({ id }) => id) : [];
  return {
    asks,
    next,
    counts: counted && isFirst ? inboxCounts(counted, filter) : null,
    alike: filter.snoozed === true ? new Map() : await alikeIn(ctx, readers, asks),
    snoozes: await listSnoozes(ctx.db, person, aside),
    handOns: await handOnsOf(ctx, person, ids),
    callOutcomes: await readCallOutcomes(ctx, asks),
  };
}

type Page = Pick<InboxPage, "asks" | "next">;
interface Place {
  after?: InboxPosition;
  limit: number;
}

/** Reads those first that were handed to the person, and then all others; or, where that is not wanted, all as one list. */
async function inTwo(
  isInTwo: boolean,
  page: Place,
  read: (handed: boolean | undefined, page: Place) => Promise<Page>,
): Promise<Page> {
  if (!isInTwo) return read(undefined, page);
  if (page.after && !page.after.isHanded) return read(false, page);
  const handed = await read(true, page);
  if (handed.next) return { asks: handed.asks, next: { ...handed.next, isHanded: true } };
  const others = await read(false, { limit: Math.max(1, page.limit - handed.asks.length) });
  return { asks: [...handed.asks, ...others.asks], next: others.next };
}

async function alikeIn(
  ctx: Pick<Context, "db">,
  readers: readonly string[],
  asks: readonly Request[],
): Promise<InboxPage["alike"]> {
  const calls = asks.filter((ask) => ask.state === "open").filter(isCall);
  if (calls.length === 0) return new Map();
  const groups = await countAlike(ctx.db, readers, [...new Set(calls.map(({ asker }) => asker))]);
  const counts = new Map(groups.map(({ asker, fn, count }) => [batchId(asker, fn), count]));
  return new Map(
    calls.flatMap(({ id, asker, form }) => {
      const key = batchId(asker, form.fn);
      const count = counts.get(key) ?? 0;
      return count > 1 ? [[id, { id: key, count }]] : [];
    }),
  );
}

async function listPage(
  ctx: Pick<Context, "db">,
  { readers, wanted }: { readers: readonly string[]; wanted: InboxQuery },
  order: InboxOrder,
  page: { after?: InboxPosition; limit: number },
): Promise<Pick<InboxPage, "asks" | "next">> {
  // One more than requested shows whether there is another page.
  const found = await listInbox(ctx.db, readers, { ...wanted, order }, { ...page, limit: page.limit + 1 });
  const asks = found.slice(0, page.limit).map(({ request }) => request);
  const last = found.length > page.limit ? asks.at(-1) : undefined;
  return { asks, next: last ? placeInInbox(last, order) : null };
}
