import type { Context } from "../context.ts";
import type { FeedEntry } from "./model/feed.ts";
import { listOpenEntries, newestQuestionAt } from "./store/questions.ts";
import type { Db } from "../core/store/db.ts";
import { shareRead } from "../core/store/share-read.ts";

/** The open questions as everybody sees them. Some may have run out of time since they were read. */
export interface OpenQuestions {
  entries: readonly FeedEntry[];
  newestAt: number | null;
}

/** A longer list is read anew for each change and each group of readers, so that it takes no memory in between. */
const MOST_KEPT = 50_000;

const lists = new WeakMap<Db, () => Promise<OpenQuestions>>();

/**
 * Returns the open questions, which the readers of this server share: a list is never older than the call. Where the
 * database says that nothing was committed since, it is the list of an earlier call.
 */
export function listOpen(ctx: Pick<Context, "db" | "clock">): Promise<OpenQuestions> {
  let list = lists.get(ctx.db);
  if (!list) lists.set(ctx.db, (list = openList(ctx)));
  return list();
}

function openList({ db, clock }: Pick<Context, "db" | "clock">): () => Promise<OpenQuestions> {
  let kept: { mark: string; list: OpenQuestions } | null = null;

  const read = shareRead(clock, async () => {
    // Before the rows: a commit in between makes the list newer than its mark says, never older.
    const mark = db.commitMark?.();
    const [entries, newestAt] = await Promise.all([listOpenEntries(db), newestQuestionAt(db)]);
    const list = { entries, newestAt };
    kept = mark !== undefined && entries.length <= MOST_KEPT ? { mark, list } : null;
    return list;
  });
  return async () => (kept && kept.mark === db.commitMark?.() ? kept.list : read());
}
