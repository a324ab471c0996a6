import type { Context } from "../../context.ts";
import { yieldToEventLoop } from "../../lib/event-loop.ts";
import { namePeople } from "../../access/name-people.ts";
import { leavesOf } from "../model/audience.ts";
import { placeInInbox, type InboxOrder, type InboxPosition } from "../model/inbox.ts";
import type { Request } from "../model/request.ts";
import { riskOf, type Risk } from "../model/risk.ts";
import type { Language } from "../model/sentence-words.ts";
import { isSought, soughtWords } from "../model/sought.ts";
import { listInbox, type InboxQuery } from "../store/inbox.ts";

/** So many are read and looked through before others are served. */
const AT_ONCE = 100;
/** So many are looked through for one page; the next goes on behind them. To judge a risk takes longer than to search. */
const MOST_LOOKED_AT = 2000;
const MOST_JUDGED = 500;

/** The order of the riskiest first: a call that is not judged stands behind those of high risk. */
const BY_RISK: readonly Risk[] = ["high", "unjudged", "normal", "low"];

/** Words that must all occur, as their reader sees them, and the order. */
export interface InboxSearch {
  query: string;
  language: Language;
  order: InboxOrder;
}

/**
 * Returns one page of what is in an inbox and holds all words of `query`, in the order that is wanted. A page may have
 * few rows or none although more are found further on: `next` is null only once everything was looked through. By risk,
 * the list is gone through once for each risk.
 */
export async function searchInbox(
  ctx: Pick<Context, "db">,
  { readers, wanted }: { readers: readonly string[]; wanted: InboxQuery },
  { query, language, order }: InboxSearch,
  page: { after?: InboxPosition; limit: number },
): Promise<{ asks: Request[]; next: InboxPosition | null }> {
  const words = soughtWords(query);
  const isByRisk = order === "risk";
  const most = isByRisk ? MOST_JUDGED : MOST_LOOKED_AT;
  const asks: Request[] = [];
  let after = page.after;
  let rank = after?.rank ?? 0;
  for (let looked = 0; looked < most || !after; looked += AT_ONCE) {
    const place = { limit: AT_ONCE, ...(after && { after }) };
    const batch = (await listInbox(ctx.db, readers, { ...wanted, order }, place)).map(({ request }) => request);
    const called = words.length === 0 ? new Map<string, string>() : await namePeople(ctx, batch.flatMap(peopleOf));
    for (const request of batch) {
      after = { ...placeInInbox(request, order), ...(isByRisk && { rank }) };
      if (isByRisk && riskOf(request) !== BY_RISK[rank]) continue;
      if (isSought(request, words, { called, language })) asks.push(request);
      if (asks.length === page.limit) return { asks, next: after };
    }
    if (batch.length < AT_ONCE) {
      rank += 1;
      if (!isByRisk || rank >= BY_RISK.length) return { asks, next: null };
      after = undefined;
    }
    await yieldToEventLoop();
  }
  return { asks, next: after };
}

/** The people by whose names a request is found: those who may answer it while it waits, and who decided it. */
function peopleOf({ state, audience, outcome }: Request): string[] {
  const deciders = outcome?.by?.kind === "person" ? [outcome.by.id] : [];
  const asked = state === "open" ? leavesOf(audience).map(({ target }) => target) : [];
  return [...deciders, ...asked.flatMap((target) => (target.via === "person" ? [target.person] : []))];
}
