import type { AskId } from "../../core/model/ids.ts";
import type { Context } from "../../context.ts";
import type { AgentRequest } from "../model/attempt-asks.ts";
import type { AssignmentRules } from "../model/rules.ts";
import { titleOfPrompt } from "../model/names.ts";
import { waitForAttemptNotes } from "../attempt-notes.ts";
import { Refusal } from "../../refusals.ts";
import { taskTopic } from "../../core/store/wake.ts";
import {
  askForAttempt,
  awaitAnswer,
  awaitDecision,
  reportForAttempt,
  withdrawForAttempt,
  type AskingAttempt,
} from "../ask-for-attempt.ts";
import {
  keepAttempt,
  markWaiting,
  NotHeld,
  noteAttempt,
  noteTrouble,
  renewAttemptKey,
  resumeAttempt,
  stepAttempt,
} from "../attempt-steps.ts";
import { completeAttempt, endAttempt, failAttempt, withdrawAttempt } from "../close-attempt.ts";
import { isEnding } from "../read-attempts.ts";
import type { AttemptAssignment } from "../start-attempt.ts";
import { AttemptLost, type AttemptClient } from "../../workshop/attempt-client.ts";

/** One attempt of this server's own, on its way to the store. */
export interface LocalAttemptClient extends AttemptClient {
  /** Holds the lease on, and looks whether the attempt is to end. */
  keep(): Promise<void>;
  close(): void;
}

/** While the store takes no writes, agents go on, and what they say waits. */
const STORE_AWAY_MS = 1000;
/** A wake-up for a note may be lost. */
const NOTES_WITHIN_MS = 10_000;
const CLOSED_WHY = "the attempt has ended";

/**
 * Opens the store's side of an attempt that this server runs. Everything is written under the number by which the
 * server holds the attempt, which changes when the lease is taken again. A refused write means that the attempt is
 * lost.
 */
export function openLocalAttemptClient(
  ctx: Context,
  rules: AssignmentRules,
  { task, attempt, dependencies }: AttemptAssignment,
  interrupting: AbortSignal,
): LocalAttemptClient {
  const { attemptId, repo, id } = attempt;
  const hold = openHold(ctx, attempt);
  const { held, say } = hold;
  let { sandbox } = attempt;

  /** Nobody asks in the name of a job that waits in line, as after the machine slept. */
  async function ask(ref: string, http: AgentRequest): Promise<{ askId: AskId }> {
    await hold.keep();
    const who = askingAttempt(rules, { task, attempt }, sandbox ?? "none");
    const asked = await askForAttempt(ctx, who, ref, http);
    await markWaiting(ctx, held(), true);
    return asked;
  }
  const unsubscribe = ctx.wake.subscribe(taskTopic(repo, id), () => void hold.endIfOver());

  return {
    ending: hold.ending,
    interrupting,
    leaving: ctx.stopping,
    keep: hold.keep,
    close: unsubscribe,
    step: (to, progress = {}) => {
      sandbox = progress.sandbox ?? sandbox;
      return say(() => stepAttempt(ctx, held(), to, progress));
    },
    note: (events, progress = {}) => say(() => noteAttempt(ctx, held(), events, progress)),
    waiting: (isWaiting) => say(() => markWaiting(ctx, held(), isWaiting)),
    permission: (ref, permission, signal) =>
      say(async () => {
        const { askId } = await ask(ref, permission);
        return (await awaitDecision(ctx, askId, signal)) ?? { allow: false, why: CLOSED_WHY, canceled: true };
      }),
    question: (ref, question, signal) =>
      say(async () => {
        const { askId } = await ask(ref, question);
        return (await awaitAnswer(ctx, askId, signal)) ?? { none: true, why: CLOSED_WHY };
      }),
    used: (ref, report) => say(() => reportForAttempt(ctx, attempt, ref, report)),
    withdraw: (ref) => say(() => withdrawForAttempt(ctx, { attemptId, principal: attempt.holder }, ref)),
    notes: (known, signal) => waitForAttemptNotes(ctx, held(), { known, waitMs: NOTES_WITHIN_MS, signal }),
    trouble: (why) => say(() => noteTrouble(ctx, held(), why)),
    newKey: () => say(() => renewAttemptKey(ctx, held())),
    resumed: (from) => say(async () => hold.heldUnder(await resumeAttempt(ctx, held(), from))),
    conflict: ({ paths }) =>
      say(async () => {
        await withdrawAttempt(ctx, held(), { paths, deps: dependencies.map((one) => one.id) });
      }),
    done: (result) => say(() => completeAttempt(ctx, held(), result)),
    failed: (error, { wip }) => say(() => failAttempt(ctx, held(), error, wip)),
    ended: (kept) => endAttempt(ctx, attemptId, kept),
  };
}

/** How this server holds an attempt, and whether it does still. */
interface AttemptHold {
  /** The attempt, and the number by which it is held now. */
  held(): { attemptId: string; epoch: number };
  heldUnder(epoch: number): void;
  /** Aborted when the attempt is to end, or is lost. */
  ending: AbortSignal;
  /** Holds the lease on, and looks whether the attempt is to end. */
  keep(): Promise<void>;
  endIfOver(): Promise<void>;
  /**
   * Returns what `write` has written, however long the store is away.
   *
   * @throws {AttemptLost} where somebody else holds the attempt, or nobody
   */
  say<T>(write: () => Promise<T>): Promise<T>;
}

function openHold(ctx: Context, { attemptId, epoch: heldBefore }: AttemptAssignment["attempt"]): AttemptHold {
  let epoch = heldBefore;
  const ending = new AbortController();
  return {
    held: () => ({ attemptId, epoch }),
    heldUnder(now) {
      epoch = now;
    },
    ending: ending.signal,
    async keep() {
      if (await isEnding(ctx, attemptId)) return void ending.abort();
      const kept = await keepAttempt(ctx, { attemptId });
      if (kept === undefined) ending.abort();
      else epoch = kept;
    },
    endIfOver: () =>
      isEnding(ctx, attemptId).then(
        (isOver) => void (isOver && ending.abort()),
        () => {},
      ),
    async say(write) {
      for (;;) {
        try {
          return await write();
        } catch (error) {
          if (isAway(error) && !ctx.stopping.aborted) {
            await ctx.clock.sleep(STORE_AWAY_MS, ctx.stopping);
            continue;
          }
          if (!isLost(error)) throw error;
          ending.abort();
          throw new AttemptLost(error.message);
        }
      }
    },
  };
}

function askingAttempt(
  rules: AssignmentRules,
  { task, attempt }: Pick<AttemptAssignment, "task" | "attempt">,
  sandbox: AskingAttempt["sandbox"],
): AskingAttempt {
  const { attemptId, jobId, holder, repo, id, agent } = attempt;
  return {
    jobId,
    principal: holder,
    attemptId,
    repo,
    taskId: id,
    slug: task.slug,
    agent,
    title: titleOfPrompt(task.prompt),
    sandbox,
    deadlineS: rules.askDeadlineS,
    allowCommands: rules.repos.find(({ name }) => name === repo)?.allowCommands ?? [],
  };
}

function isAway(error: unknown): boolean {
  return error instanceof Refusal && (error.code === "store_unavailable" || error.code === "store_full");
}

function isLost(error: unknown): error is Error {
  return error instanceof NotHeld || (error instanceof Refusal && LOST.has(error.code));
}

/** The relay's refusals for a job that has another holder by now, or is over. */
const LOST: ReadonlySet<string> = new Set(["fenced", "job_closed", "job_not_found"]);
