import type { Context } from "../context.ts";
import type { AddressedAsk, Outcome } from "../requests/model/request.ts";
import type { LineComment, Task, ReviewVerdict } from "./model/task.ts";
import type { Counted } from "../requests/model/settle.ts";
import { Refusal } from "../refusals.ts";
import { cleanWords, exposeIn } from "../requests/clean-words.ts";
import { upsertDecision } from "../requests/store/requests.ts";
import { insertReview } from "./store/reviews.ts";
import { findTask, lockTask } from "./store/tasks.ts";
import type { Actor } from "../core/store/audit.ts";
import type { Tx } from "../core/store/db.ts";
import { transact } from "../core/store/transact.ts";
import { moveTaskIn } from "./move.ts";
import { closeTaskAskIn } from "./ask-people.ts";

/** What a person says of the work of a task's newest attempt. */
export interface ReviewWish extends Pick<Task, "repo" | "id"> {
  attempt: number;
  verdict: ReviewVerdict;
  comment: string | null;
  comments: readonly LineComment[];
  /** Always a person: programs do not review. */
  person: string;
  /** As others know them. */
  name: string;
}

/** What stands with a task whose next attempt goes on with what a person wants changed. */
export type Feedback = Pick<ReviewWish, "attempt" | "comment" | "comments">;

/**
 * The work is approved, rejected, or in line again for changes, and what people were asked about it is closed. What that
 * means in git stands with the task, for whoever runs its attempts (spec/assignment 12).
 *
 * @throws {Refusal} `task_not_found`; `review_conflict` with the state, when this attempt's work is not up for review
 */
export async function reviewTask(ctx: Context, given: ReviewWish): Promise<Task> {
  const { comment, comments } = given;
  const words = await cleanWords(ctx, { comment, comments }, { person: given.person, identities: [], askId: null });
  const wish = { ...given, ...words.said };
  return transact(ctx, async (tx) => {
    await exposeIn(ctx, tx, words);
    // Held before the repository, as whoever decides in the inbox holds them.
    const asked = await findTask(tx, wish.repo, wish.id);
    const by = actorOf(wish);
    const isUp = asked?.state === "review" && asked.attempt === wish.attempt;
    const over = isUp ? await closeTaskAskIn(tx, asked.reviewAsk, { by, outcome: outcomeOf(wish) }) : undefined;
    if (over) await upsertDecision(tx, over.id, 1, countedOf(wish, over));
    return reviewTaskIn(ctx, tx, wish);
  });
}

/** It counts as if it had been decided there. */
function countedOf({ person, comment }: ReviewWish, { settledAt }: AddressedAsk): Counted {
  const via = "api" as const;
  return {
    responder: { via, person, identities: [], seesAll: false },
    decision: {
      by: { kind: "person", id: person, via },
      approved: null,
      at: settledAt ?? 0,
      ...(comment !== null && { comment }),
    },
  };
}

/** What is seen of it where people were asked. */
function outcomeOf({ verdict, comment, person }: ReviewWish): Outcome {
  const by = { kind: "person", id: person, via: "api" } as const;
  return { status: "answered", option: verdict, ...(comment !== null && { text: comment }), by };
}

/** The same as part of a transaction under way, for the one that ends what people were asked. Call it last. */
export async function reviewTaskIn(ctx: Pick<Context, "assignment">, tx: Tx, wish: ReviewWish): Promise<Task> {
  const { repo, id, attempt, verdict, comment, comments, person, name } = wish;
  const held = await lockTask(tx, repo, id);
  if (!held) throw new Refusal("task_not_found", { id });
  const { state, commit } = held;
  if (state !== "review" || commit === null || held.attempt !== attempt) {
    throw new Refusal("review_conflict", { state, attempt: held.attempt });
  }
  await insertReview(tx, repo, id, { attempt, verdict, comment, comments, principal: person });
  // point: review-between-review-and-task
  const by = actorOf(wish);
  switch (verdict) {
    case "approve":
      return moveTaskIn(ctx, tx, held, { to: "approved", by, after: { is: "approve", attempt, commit } });
    case "reject": {
      const error = `rejected by ${name}${comment === null ? "" : `: ${comment}`}`;
      // Its branch goes: what comes of the task later may have one again.
      const after = { is: "reject", attempt, commit } as const;
      return moveTaskIn(ctx, tx, held, { to: "rejected", by, error, after, publishedSha: null });
    }
    case "request_changes": {
      const feedback: Feedback = { attempt, comment, comments };
      // It goes on from the commit it started from, however that stands by now.
      return moveTaskIn(ctx, tx, held, { to: "queued", by, started: 0, feedback, after: null, stale: held.stale });
    }
  }
}

function actorOf({ person }: ReviewWish): Actor {
  return { kind: "human", id: person };
}
