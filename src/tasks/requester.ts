import { taskAskOf } from "../requests/model/task-of-request.ts";
import type { Context } from "../context.ts";
import type { Request, Decision } from "../requests/model/request.ts";
import type { Task } from "./model/task.ts";
import { conflictReason } from "./model/conflict.ts";
import { ASSIGNMENT_DOOR, reviewDecisionOf } from "./model/task-asks.ts";
import type { Requester } from "../requester.ts";
import { Refusal } from "../refusals.ts";
import { findTaskOfRequest, findTaskOrphans, lockTask } from "./store/tasks.ts";
import { listDependencies } from "./store/dependencies.ts";
import type { Actor } from "../core/store/audit.ts";
import type { Tx } from "../core/store/db.ts";
import { findHuman } from "../access/store/humans.ts";
import { moveTaskIn, retellTaskIn } from "./move.ts";
import { reviewTaskIn } from "./review.ts";

/** The parts of the context that requests about tasks use. */
export type OwningTasks = Pick<Context, "assignment">;

/** Tasks, of whose work and conflicts people decide. */
export function assignmentRequester(ctx: OwningTasks): Requester {
  return {
    door: ASSIGNMENT_DOOR,
    listUnwanted: (on, limit) => findTaskOrphans(on, ASSIGNMENT_DOOR, limit),
    isWanted: async (tx, { id }) => (await findTaskOfRequest(tx, id)) !== undefined,
    check: (request, decision) => Promise.resolve(withoutWords(request, decision)),
    ended: (tx, over) => settleTaskAsk(ctx, tx, over),
    taskOf(_, request) {
      const about = taskAskOf(request);
      if (!about) return Promise.resolve(null);
      return Promise.resolve({ ...about, agent: null, sandbox: null });
    },
  };
}

/** Returns the refusal of a review that requests changes without a text; null for every other decision. */
function withoutWords(request: Request, decision: Decision): Refusal | null {
  if (taskAskOf(request)?.about !== "review" || decision.kind !== "reply" || reviewDecisionOf(decision)) return null;
  return new Refusal("answer_misfit", { errors: [{ path: "text", message: "must say what is to be changed" }] });
}

/**
 * Does what people decided about a task, in the transaction that ends the ask: its work is reviewed, or its conflict is
 * left to the agent, waited out, or given up. A withdrawn request changes nothing.
 *
 * @throws {Refusal} `person_needed`, `review_conflict`
 */
async function settleTaskAsk(ctx: OwningTasks, tx: Tx, over: Request): Promise<void> {
  const about = taskAskOf(over);
  if (!about || !over.outcome || over.outcome.status === "cancelled") return;
  if (about.about === "conflict") return settleConflict(ctx, tx, over);
  if (over.outcome.status === "expired") return;
  const review = reviewDecisionOf(over.outcome);
  if (!review) throw new Error("changes were asked for without words");
  const { id: person, name } = await personOf(tx, over);
  const { repo, id, attempt } = about;
  await reviewTaskIn(ctx, tx, { repo, id, attempt, ...review, comments: [], person, name });
}

async function settleConflict(ctx: OwningTasks, tx: Tx, over: Request): Promise<void> {
  const found = await findTaskOfRequest(tx, over.id);
  const held = found && (await lockTask(tx, found.repo, found.id));
  if (held?.state !== "conflict" || held.reviewAsk !== over.id) return;
  if (over.outcome?.status === "expired") {
    const error = "nobody said within seven days what to do about dependencies that do not merge";
    await moveTaskIn(ctx, tx, held, { to: "failed", error, by: { kind: "clock", id: "clock" } });
    return;
  }
  const { id: person, name } = await personOf(tx, over);
  const by = { kind: "human", id: person } as const;
  const { option } = over.outcome ?? {};
  if (option === "resolve") await moveTaskIn(ctx, tx, held, { to: "queued", by, resolveConflict: true });
  // It comes into line by itself as soon as a dependency has another commit.
  else if (option === "wait") await waitForCommit(tx, held, by);
  else
    await moveTaskIn(ctx, tx, held, { to: "failed", by, error: `given up by ${name}: its dependencies do not merge` });
}

async function waitForCommit(tx: Tx, held: Task, by: Actor): Promise<void> {
  // Older versions did not write down what does not merge.
  const known = held.conflict ?? {
    dependencies: (await listDependencies(tx, held.repo, [held.id])).map(({ dependsOn }) => dependsOn),
    paths: [],
  };
  const conflict = { ...known, waits: true };
  await retellTaskIn(tx, held, { reviewAsk: null, conflict, blockedReason: conflictReason(conflict) }, by);
}

/** Only a person decides about work. @throws {Refusal} `person_needed` */
async function personOf(tx: Tx, { outcome }: Request): Promise<{ id: string; name: string }> {
  const { by } = outcome ?? {};
  if (by?.kind !== "person") throw new Refusal("person_needed");
  return { id: by.id, name: (await findHuman(tx, by.id))?.name ?? "a person" };
}
