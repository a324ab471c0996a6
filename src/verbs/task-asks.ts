import type { Context } from "../context.ts";
import { agentName } from "../model/ask-view.ts";
import type { AddressedAsk, AddressedForm, Outcome } from "../model/addressed-ask.ts";
import { reminderSeconds } from "../model/addressed-rules.ts";
import type { Attempt, Task } from "../model/assignment.ts";
import type { RelayAnswer } from "../model/relay.ts";
import {
  ASSIGNMENT_DOOR,
  CONFLICT_FORM,
  conflictWords,
  REVIEW_FORM,
  reviewWords,
  taskTitle,
  type AskedOnTheWay,
  type ReviewFacts,
  type TaskAskWire,
} from "../model/task-asks.ts";
import { titleOf } from "../model/title.ts";
import { lockAddressed } from "../store/addressed-asks.ts";
import type { Actor } from "../store/audit.ts";
import type { Tx } from "../store/db.ts";
import { findAnswers } from "../store/relay-answers.ts";
import { listAsksOfJob } from "../store/relay-asks.ts";
import { addressAskIn } from "./address-ask.ts";
import { closeAddressedIn } from "./close-addressed.ts";
import { relayAudience } from "./relay-people.ts";
import { withoutSecrets } from "./without-secrets.ts";

const CONFLICT_S = 7 * 86_400;
const MOST_LISTED = 1000;

type Asking = Pick<Context, "newId" | "keyring" | "addressed" | "relay" | "secrets">;

/**
 * People are asked what they make of an attempt's work, until somebody says so; returns the ask's id, which belongs in
 * the task's `reviewAsk`. Whoever is usually asked gets it on their channels, everybody who sees all in the inbox
 * (contract-assignment.md, section 12).
 */
export async function askForReviewIn(
  ctx: Asking,
  tx: Tx,
  task: Task,
  attempt: Pick<Attempt, "n" | "agent" | "sandbox" | "usage" | "jobId">,
  facts: ReviewFacts,
): Promise<string> {
  const words = reviewWords(task, attempt, facts, await askedIn(tx, attempt.jobId));
  return askIn(ctx, tx, task, {
    // It is known by the name of whose work it is.
    ...{
      about: "review",
      attempt: attempt.n,
      asker: `attempt:${attempt.agent}`,
      title: taskTitle("Review", task),
      words,
      form: REVIEW_FORM,
    },
    timeoutSeconds: null,
  });
}

/**
 * People are asked what to do about dependencies that do not merge; returns the ask's id, which belongs in the task's
 * `reviewAsk`. Nobody having said so within seven days, the task fails (section 4).
 */
export async function askAboutConflictIn(
  ctx: Asking,
  tx: Tx,
  task: Task,
  conflict: { paths: readonly string[]; deps: readonly string[] },
): Promise<string> {
  return askIn(ctx, tx, task, {
    ...{
      about: "conflict",
      attempt: task.attempt,
      asker: "assignment:parley",
      title: taskTitle("Conflict before", task),
    },
    ...{ words: conflictWords(task, conflict), form: CONFLICT_FORM, timeoutSeconds: CONFLICT_S },
  });
}

async function askIn(
  ctx: Asking,
  tx: Tx,
  { repo, id, seq }: Task,
  ask: Pick<TaskAskWire, "about" | "attempt"> & {
    asker: string;
    title: string;
    words: string;
    form: AddressedForm;
    timeoutSeconds: number | null;
  },
): Promise<string> {
  const { about, attempt, asker, form, timeoutSeconds } = ask;
  const { title, words } = await withoutSecrets(ctx, { title: ask.title, words: ask.words });
  const { audience, unknown } = await relayAudience(
    { db: tx },
    { to: [ctx.relay.people?.default ?? undefined], need: 1 },
  );
  const missing = unknown === null ? [] : [`Nobody here is called ${unknown}, so everybody who sees all is asked.`];
  const remindS = timeoutSeconds === null ? null : reminderSeconds(timeoutSeconds);
  const { ask: made } = await addressAskIn(ctx, tx, {
    ...{ door: ASSIGNMENT_DOOR, asker, ref: `${about}:${repo}/${id}:${attempt}:${seq}`, sameHash: "" },
    ...{ title, words: [words, ...missing].join("\n\n"), form, digest: null, audience, timeoutSeconds },
    remindAfterMs: remindS === null ? null : Math.round(remindS * 1000),
    wire: { repo, id, attempt, about, run_id: `${repo} / ${id}` } satisfies TaskAskWire & { run_id: string },
    uncharged: true,
  });
  return made.id;
}

/** What people decided of what the agent wanted, and how many of its wishes rules decided. */
async function askedIn(tx: Tx, jobId: string): Promise<AskedOnTheWay> {
  const asks = (await listAsksOfJob(tx, jobId, { limit: MOST_LISTED })).map(({ ask }) => ask);
  const answers = await findAnswers(
    tx,
    asks.map(({ id }) => id),
  );
  const isRuled = ({ id }: { id: string }) => answers.get(id)?.source === "policy";
  // What joined an earlier ask was asked once.
  const people = asks.filter((ask) => ask.joinedTo === null && !isRuled(ask));
  return {
    people: people.map(({ id, prompt }) => ({ title: titleOf(prompt), outcome: outcomeOf(answers.get(id)) })),
    byPolicy: asks.filter(isRuled).length,
  };
}

function outcomeOf(answer: RelayAnswer | undefined): string {
  if (!answer) return "nobody has answered";
  const { status, source, answeredBy, text, json } = answer;
  const by = answeredBy ?? (source === "person" ? "a person" : source === "server" ? "nobody" : agentName(source));
  if (status !== "ANSWERED") return status === "REJECTED" ? `no, by ${by}` : "nobody answered";
  const isApproval = typeof json === "object" && json !== null && "approved" in json;
  return isApproval ? `allowed by ${by}` : `${titleOf(text ?? "answered")}, said ${by}`;
}

/**
 * What people were asked about a task is over, and every message about it is closed: with what somebody said at another
 * place, or as withdrawn. What is over already, or was never asked, stays as it is. It holds the ask: call it before
 * anything holds the repository.
 */
export async function closeTaskAskIn(
  tx: Tx,
  askId: string | null | undefined,
  { by, outcome = { status: "cancelled" } }: { by: Actor; outcome?: Outcome },
): Promise<AddressedAsk | undefined> {
  const held = askId ? await lockAddressed(tx, askId) : undefined;
  if (held?.ask.state !== "open") return undefined;
  const action = outcome.status === "answered" ? "answered" : "cancelled";
  return closeAddressedIn(tx, held.ask, { outcome, at: held.now }, { by, action });
}
