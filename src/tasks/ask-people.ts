import type { RequestId } from "../core/model/ids.ts";
import type { TaskAskWire } from "../requests/model/task-of-request.ts";
import type { Context } from "../context.ts";
import { agentName } from "../requests/model/view.ts";
import type { Request, RequestForm, Outcome } from "../requests/model/request.ts";
import type { Attempt, Task } from "./model/task.ts";
import type { AskAnswer } from "../asks/model/ask.ts";
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
import { lockRequest } from "../requests/store/requests.ts";
import type { Actor } from "../core/store/audit.ts";
import type { Tx } from "../core/store/db.ts";
import { createRequestIn } from "../requests/create/create-request.ts";
import { closeRequestIn } from "../requests/end/close.ts";
import { everyAskOf, type TaskAsk, type ToolAsk } from "./read-asks.ts";
import { relayAudience } from "../asks/respond/put-to-people.ts";
import { withoutSecrets } from "../core/without-secrets.ts";

const CONFLICT_S = 7 * 86_400;

type Asking = Pick<Context, "newId" | "keyring" | "addressed" | "askerBounds" | "relay" | "secrets">;

/**
 * Asks people to review an attempt's work, until somebody decides. Returns the request's id, which belongs in the
 * task's `reviewAsk`. The people asked by default get it on their channels; everybody who sees all requests gets it in
 * the inbox (spec/assignment 12).
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
 * `reviewAsk`. Without an answer within seven days, the task fails (spec/assignment 4).
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
    form: RequestForm;
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
  const { request: made } = await createRequestIn(ctx, tx, {
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
    wire: { repo, id, attempt, about, run_id: `${repo} / ${id}` } satisfies TaskAskWire & { run_id: string },
    uncharged: true,
  });
  return made.id;
}

/** Returns the requests of the agent that went to people, with their outcomes, and how many requests rules decided. */
async function askedIn(tx: Tx, attempt: Pick<Attempt, "attemptId" | "jobId" | "n">): Promise<AskedOnTheWay> {
  const asks = await everyAskOf(tx, attempt);
  const toPeople = asks.filter((one) => !isRuled(one));
  return {
    // A request that joined an earlier one was asked only once.
    people: toPeople.flatMap((one) => {
      if ("addressed" in one) return [{ title: safeWordsOf(one.addressed).title, outcome: requestOutcome(one) }];
      return one.ask.joinedTo === null ? [{ title: titleOf(one.ask.prompt), outcome: outcomeOf(one.answer) }] : [];
    }),
    byPolicy: asks.length - toPeople.length,
  };
}

function isRuled(one: TaskAsk): boolean {
  return "ask" in one ? one.answer?.source === "policy" : one.addressed.outcome?.by?.kind === "policy";
}

function requestOutcome({ addressed: request, by }: ToolAsk): string {
  const { outcome } = request;
  if (!outcome) return "nobody has answered";
  if (by === null) return "nobody answered";
  if (outcome.approved !== undefined) return outcome.approved ? `allowed by ${by}` : `no, by ${by}`;
  return `${titleOf(outcomeText(request, outcome) ?? "answered")}, said ${by}`;
}

function outcomeOf(answer: AskAnswer | null): string {
  if (!answer) return "nobody has answered";
  const { status, source, answeredBy, text, json } = answer;
  const by = answeredBy ?? (source === "person" ? "a person" : source === "server" ? "nobody" : agentName(source));
  if (status !== "ANSWERED") return status === "REJECTED" ? `no, by ${by}` : "nobody answered";
  const isApproval = typeof json === "object" && json !== null && "approved" in json;
  return isApproval ? `allowed by ${by}` : `${titleOf(text ?? "answered")}, said ${by}`;
}

/**
 * Ends the request to people about a task, and closes every message about it: with the decision that a person made
 * elsewhere, or as withdrawn. Without an open request it changes nothing. It locks the request: call it before anything
 * locks the repository.
 */
export async function closeTaskAskIn(
  tx: Tx,
  requestId: RequestId | null | undefined,
  { by, outcome = { status: "cancelled" } }: { by: Actor; outcome?: Outcome },
): Promise<Request | undefined> {
  const held = requestId ? await lockRequest(tx, requestId) : undefined;
  if (held?.request.state !== "open") return undefined;
  const action = outcome.status === "answered" ? "answered" : "cancelled";
  return closeRequestIn(tx, held.request, { outcome, at: held.now, by, action });
}
