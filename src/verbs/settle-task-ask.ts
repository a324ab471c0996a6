import type { Context } from "../context.ts";
import type { AddressedAsk } from "../model/addressed-ask.ts";
import { ASSIGNMENT_DOOR, taskAskOf, verdictOf } from "../model/task-asks.ts";
import { Refusal } from "../refusals.ts";
import { findTaskOfAsk, lockTask, updateTask } from "../store/aa-tasks.ts";
import type { Tx } from "../store/db.ts";
import { findHuman } from "../store/humans.ts";
import { RELAY_DOOR, stillWanted } from "./relay-people.ts";
import { moveTaskIn } from "./move-task.ts";
import { reviewTaskIn } from "./review-task.ts";

type Rules = Pick<Context, "assignment">;

/** Returns whether whoever asked still waits for what people decide: an executor's job, or a task. */
export async function isWanted(tx: Tx, { door, id }: Pick<AddressedAsk, "door" | "id">): Promise<boolean> {
  if (door === RELAY_DOOR) return stillWanted(tx, id);
  return door !== ASSIGNMENT_DOOR || (await findTaskOfAsk(tx, id)) !== undefined;
}

/**
 * Does what people decided about a task, in the transaction that ends the ask: its work is reviewed, or its conflict is
 * left to the agent, waited out, or given up. What was withdrawn means nothing.
 *
 * @throws {Refusal} `person_needed`, `review_conflict`
 */
export async function settleTaskAsk(ctx: Rules, tx: Tx, over: AddressedAsk): Promise<void> {
  const about = taskAskOf(over);
  if (!about || !over.outcome || over.outcome.status === "cancelled") return;
  if (about.about === "conflict") return settleConflict(ctx, tx, over);
  if (over.outcome.status === "expired") return;
  const said = verdictOf(over.outcome);
  if (!said) throw new Error("changes were asked for without words");
  const { id: person, name } = await personOf(tx, over);
  const { repo, id, attempt } = about;
  await reviewTaskIn(ctx, tx, { repo, id, attempt, ...said, comments: [], person, name });
}

async function settleConflict(ctx: Rules, tx: Tx, over: AddressedAsk): Promise<void> {
  const found = await findTaskOfAsk(tx, over.id);
  const held = found && (await lockTask(tx, found.repo, found.id));
  if (held?.state !== "conflict" || held.reviewAsk !== over.id) return;
  if (over.outcome?.status === "expired") {
    const error = "nobody said within seven days what to do about dependencies that do not merge";
    await moveTaskIn(ctx, tx, held, "failed", { error, by: { kind: "clock", id: "clock" } });
    return;
  }
  const { id: person, name } = await personOf(tx, over);
  const by = { kind: "human", id: person } as const;
  const { option } = over.outcome ?? {};
  if (option === "resolve") await moveTaskIn(ctx, tx, held, "queued", { by, resolveConflict: true });
  // It comes into line by itself as soon as a dependency has another commit.
  else if (option === "wait") await updateTask(tx, held, { reviewAsk: null });
  else await moveTaskIn(ctx, tx, held, "failed", { by, error: `given up by ${name}: its dependencies do not merge` });
}

/** Only a person decides about work. @throws {Refusal} `person_needed` */
async function personOf(tx: Tx, { outcome }: AddressedAsk): Promise<{ id: string; name: string }> {
  const { by } = outcome ?? {};
  if (by?.kind !== "person") throw new Refusal("person_needed");
  return { id: by.id, name: (await findHuman(tx, by.id))?.name ?? "a person" };
}
