import type { Context } from "../context.ts";
import type { Request, Outcome } from "../requests/model/request.ts";
import type { LineComment, Task, ReviewDecision } from "./model/task.ts";
import type { Counted } from "../requests/model/settle.ts";
import { Refusal } from "../refusals.ts";
import { cleanWords, exposeIn } from "../requests/create/clean-words.ts";
import { upsertDecision } from "../requests/store/requests.ts";
import { insertReview } from "./store/reviews.ts";
import { findTask, lockTask } from "./store/tasks.ts";
import type { Actor } from "../core/store/audit.ts";
import type { Tx } from "../core/store/db.ts";
import { transact } from "../core/store/transact.ts";
import { moveTaskIn } from "./move.ts";
import { closeTaskAskIn } from "./ask-people.ts";

/** A person's review of the work of a task's newest attempt. */
export interface ReviewInput extends Pick<Task, "repo" | "id"> {
  attempt: number;
  decision: ReviewDecision;
  comment: string | null;
  comments: readonly LineComment[];
  /** Always a person: programs do not review. */
  person: string;
  /** As others know them. */
  name: string;
}

/** The changes that a person requested, stored with the task for its next attempt. */
export type Feedback = Pick<ReviewInput, "attempt" | "comment" | "comments">;

/**
 * Approves or rejects the work, or queues the task again for changes, and closes the request to people about it. The
 * steps to do in git are stored with the task, for the workshop that runs its attempts (spec/assignment 12).
 *
 * @throws {Refusal} `task_not_found`; `review_conflict` with the state, when this attempt's work is not up for review
 */
export async function reviewTask(ctx: Context, given: ReviewInput): Promise<Task> {
  const { comment, comments } = given;
  const words = await cleanWords(ctx, { comment, comments }, { person: given.person, identities: [], requestId: null });
  const input = { ...given, ...words.words };
  return transact(ctx, async (tx) => {
    await exposeIn(ctx, tx, words);
    // Locked before the repository, in the same order as a decision in the inbox locks them.
    const asked = await findTask(tx, input.repo, input.id);
    const by = actorOf(input);
    const isUp = asked?.state === "review" && asked.attempt === input.attempt;
    const over = isUp ? await closeTaskAskIn(tx, asked.reviewAsk, { by, outcome: outcomeOf(input) }) : undefined;
    if (over) await upsertDecision(tx, over.id, 1, countedOf(input, over));
    return reviewTaskIn(ctx, tx, input);
  });
}

/** It counts as if it had been decided there. */
function countedOf({ person, comment }: ReviewInput, { settledAt }: Request): Counted {
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

/** Returns the review as the outcome of the request to people. */
function outcomeOf({ decision, comment, person }: ReviewInput): Outcome {
  const by = { kind: "person", id: person, via: "api" } as const;
  return { status: "answered", option: decision, ...(comment !== null && { text: comment }), by };
}

/** The same as part of a transaction under way, for the one that ends what people were asked. Call it last. */
export async function reviewTaskIn(ctx: Pick<Context, "assignment">, tx: Tx, input: ReviewInput): Promise<Task> {
  const { repo, id, attempt, decision, comment, comments, person, name } = input;
  const held = await lockTask(tx, repo, id);
  if (!held) throw new Refusal("task_not_found", { id });
  const { state, commit } = held;
  if (state !== "review" || commit === null || held.attempt !== attempt) {
    throw new Refusal("review_conflict", { state, attempt: held.attempt });
  }
  await insertReview(tx, repo, id, { attempt, decision, comment, comments, principal: person });
  // point: review-between-review-and-task
  const by = actorOf(input);
  switch (decision) {
    case "approve":
      return moveTaskIn(ctx, tx, held, { to: "approved", by, after: { kind: "approve", attempt, commit } });
    case "reject": {
      const error = `rejected by ${name}${comment === null ? "" : `: ${comment}`}`;
      // Its branch goes: what comes of the task later may have one again.
      const after = { kind: "reject", attempt, commit } as const;
      return moveTaskIn(ctx, tx, held, { to: "rejected", by, error, after, publishedSha: null });
    }
    case "request_changes": {
      const feedback: Feedback = { attempt, comment, comments };
      // It goes on from the commit it started from, however that stands by now.
      return moveTaskIn(ctx, tx, held, { to: "queued", by, started: 0, feedback, after: null, stale: held.stale });
    }
  }
}

function actorOf({ person }: ReviewInput): Actor {
  return { kind: "human", id: person };
}
