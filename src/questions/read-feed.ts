import type { Context } from "../context.ts";
import type { Question, Tag } from "./model/question.ts";
import { pageOf, settleCrowded, type FeedPosition } from "./model/feed.ts";
import type { AnsweringIdentity } from "./model/participant.ts";
import { listOpen } from "./list-open.ts";
import { findQuestions, listDone } from "./store/questions.ts";
import { storeNow } from "../core/store/db.ts";

/** Where a reader of the feed goes on: at page one's time, below the last position. */
export interface FeedBookmark {
  at: number;
  position: FeedPosition;
}

export interface FeedPage {
  asks: readonly Question[];
  next: FeedBookmark | null;
  newestAt: number | null;
}

const BOOKMARK_LASTS_MS = 3_600_000;

/**
 * Returns the open questions this person may still answer, those that need answers most first; nothing when the
 * bookmark is more than an hour old. Later pages judge urgency at page one's time, so that none is skipped
 * (spec/ask-a-human 4.2). That time is the store's, as the questions' own times are: by the clock of a
 * node that is slow, they would all have been asked after page one.
 *
 * @param viewer who reads, for spreading equals over people; a stranger's network where nothing better is known
 */
export async function readFeed(
  ctx: Context,
  identity: AnsweringIdentity | null,
  options: { viewer: string; tags: readonly Tag[]; limit: number; from?: FeedBookmark },
): Promise<FeedPage | null> {
  const now = await storeNow(ctx.db);
  const at = options.from?.at ?? now;
  if (now - at > BOOKMARK_LASTS_MS) return null;
  const [open, done] = await Promise.all([listOpen(ctx), listDone(ctx.db, identity?.names ?? [])]);
  const wanted = open.entries.filter(
    (entry) =>
      entry.expiresAt > now &&
      !done.has(entry.id) &&
      (options.tags.length === 0 || entry.audience.some((tag) => options.tags.includes(tag))) &&
      // Questions asked after page one wait for the next first page.
      (!options.from || entry.createdAt <= at),
  );
  const { page, more } = pageOf(wanted, {
    at,
    limit: options.limit,
    tieOf: (id) => ctx.keyring.mac("feed", `${options.viewer} ${id}`),
    ...(options.from && { after: options.from.position }),
  });
  const last = page.at(-1);

  const found = new Map(
    (
      await findQuestions(
        ctx.db,
        page.map(({ entry }) => entry.id),
      )
    ).map(({ question }) => [question.id, question]),
  );
  const asks = settleCrowded(page, (id) => ctx.readers.othersOn(id, options.viewer))
    .map(({ entry }) => found.get(entry.id))
    .filter((crowdQuestion) => crowdQuestion !== undefined && crowdQuestion.state === "open");
  return {
    asks: asks as Question[],
    next: more && last ? { at, position: { urgency: last.urgency, tie: last.tie } } : null,
    newestAt: open.newestAt,
  };
}
