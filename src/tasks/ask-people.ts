import type { TaskAskWire } from "../requests/model/task-of-request.ts";
import type { Context } from "../context.ts";
import { agentName } from "../requests/model/view.ts";
import type { AddressedAsk, AddressedForm, Outcome } from "../requests/model/request.ts";
import { reminderSeconds } from "../requests/model/rules.ts";
import type { Attempt, Task } from "./model/task.ts";
import type { RelayAnswer } from "../asks/model/ask.ts";
import {
  ASSIGNMENT_DOOR,
  CONFLICT_FORM,
  conflictWords,
  REVIEW_FORM,
  reviewWords,
  taskTitle,
  type AskedOnTheWay,
  type ReviewFacts,
} from "./model/task-asks.ts";
import { outcomeText, safeWordsOf } from "./model/attempt-asked.ts";
import { titleOf } from "../core/model/title.ts";
import { lockAddressed } from "../requests/store/requests.ts";
import type { Actor } from "../core/store/audit.ts";
import type { Tx } from "../core/store/db.ts";
import { addressAskIn } from "../requests/address-ask.ts";
import { closeAddressedIn } from "../requests/close.ts";
import { everyAskOf, type TaskAsk, type ToolAsk } from "./read-asks.ts";
import { relayAudience } from "../asks/people.ts";
import { withoutSecrets } from "../core/without-secrets.ts";

const CONFLICT_S = 7 * 86_400;

type Asking = Pick<Context, "newId" | "keyring" | "addressed" | "relay" | "secrets">;

/**
 * People are asked what they make of an attempt's work, until somebody says so; returns the ask's id, which belongs in
 * the task's `reviewAsk`. Whoever is usually asked gets it on their channels, everybody who sees all in the inbox
 * (spec/assignment 12).
 */
export async function askForReviewIn(
  ctx: Asking,
  tx: Tx,
  task: Task,
  {
    attempt,
    facts,
  }: { attempt: Pick<Attempt, "attemptId" | "n" | "agent" | "sandbox" | "usage" | "jobId">; facts: ReviewFacts },
): Promise<string> {
  const words = reviewWords(task, attempt, facts, await askedIn(tx, attempt));
  return askIn(ctx, tx, task, {
    // It is known by the name of whose work it is.
    about: "review",
    attempt: attempt.n,
    asker: `attempt:${attempt.agent}`,
    title: taskTitle("Review", task),
    words,
    form: REVIEW_FORM,
    timeoutSeconds: null,
  });
}

/**
 * People are asked what to do about dependencies that do not merge; returns the ask's id, which belongs in the task's
 * `reviewAsk`. Nobody having said so within seven days, the task fails (spec/assignment 4).
 */
export async function askAboutConflictIn(
  ctx: Asking,
  tx: Tx,
  task: Task,
  conflict: { paths: readonly string[]; deps: readonly string[] },
): Promise<string> {
  return askIn(ctx, tx, task, {
    about: "conflict",
    attempt: task.attempt,
    asker: "assignment:parley",
    title: taskTitle("Conflict before", task),
    words: conflictWords(task, conflict),
    form: CONFLICT_FORM,
    timeoutSeconds: CONFLICT_S,
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
    { ...ctx, db: tx },
    { to: [ctx.relay.people?.default ?? undefined], need: 1 },
  );
  const missing = unknown === null ? [] : [`Nobody here is called ${unknown}, so everybody who sees all is asked.`];
  const remindS = timeoutSeconds === null ? null : reminderSeconds(timeoutSeconds);
  const { ask: made } = await addressAskIn(ctx, tx, {
    door: ASSIGNMENT_DOOR,
    asker,
    ref: `${about}:${repo}/${id}:${attempt}:${seq}`,
    sameHash: "",
    title,
    words: [words, ...missing].join("\n\n"),
    form,
    digest: null,
    audience,
    timeoutSeconds,
    remindAfterMs: remindS === null ? null : Math.round(remindS * 1000),
    wire: { repo, id, attempt, about, run_id: `${repo} / ${id}` } satisfies TaskAskWire & { run_id: string },
    uncharged: true,
  });
  return made.id;
}

/** What people decided of what the agent wanted, and how many of its wishes rules decided. */
async function askedIn(tx: Tx, attempt: Pick<Attempt, "attemptId" | "jobId" | "n">): Promise<AskedOnTheWay> {
  const asks = await everyAskOf(tx, attempt);
  const toPeople = asks.filter((one) => !isRuled(one));
  return {
    // What joined an earlier ask was asked once.
    people: toPeople.flatMap((one) => {
      if ("addressed" in one) return [{ title: safeWordsOf(one.addressed).title, outcome: addressedOutcome(one) }];
      return one.ask.joinedTo === null ? [{ title: titleOf(one.ask.prompt), outcome: outcomeOf(one.answer) }] : [];
    }),
    byPolicy: asks.length - toPeople.length,
  };
}

function isRuled(one: TaskAsk): boolean {
  return "ask" in one ? one.answer?.source === "policy" : one.addressed.outcome?.by?.kind === "policy";
}

function addressedOutcome({ addressed: ask, by }: ToolAsk): string {
  const { outcome } = ask;
  if (!outcome) return "nobody has answered";
  if (by === null) return "nobody answered";
  if (outcome.approved !== undefined) return outcome.approved ? `allowed by ${by}` : `no, by ${by}`;
  return `${titleOf(outcomeText(ask, outcome) ?? "answered")}, said ${by}`;
}

function outcomeOf(answer: RelayAnswer | null): string {
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
  return closeAddressedIn(tx, held.ask, { outcome, at: held.now, by, action });
}
