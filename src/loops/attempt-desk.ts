import type { Context } from "../context.ts";
import type { AgentWish } from "../model/attempt-asks.ts";
import type { AssignmentRules } from "../model/assignment-rules.ts";
import { titleOfPrompt } from "../model/assignment-names.ts";
import { Refusal } from "../refusals.ts";
import { taskTopic } from "../store/wake.ts";
import { askForAttempt, awaitAnswer, awaitDecision, type AskingAttempt } from "../verbs/ask-for-attempt.ts";
import {
  keepAttempt,
  markWaiting,
  NotHeld,
  noteAttempt,
  noteTrouble,
  renewAttemptKey,
  resumeAttempt,
  stepAttempt,
} from "../verbs/attempt-steps.ts";
import { completeAttempt, endAttempt, failAttempt, withdrawAttempt } from "../verbs/close-attempt.ts";
import { isEnding } from "../verbs/read-attempts.ts";
import type { Commission } from "../verbs/start-attempt.ts";
import { AttemptLost, type Desk } from "../workshop/desk.ts";

/** One attempt of this server's own, on its way to the store. */
export interface AttemptDesk extends Desk {
  /** Holds the lease on, and looks whether the attempt is to end. */
  keep(): Promise<void>;
  close(): void;
}

/** While the store takes no writes, agents go on, and what they say waits. */
const STORE_AWAY_MS = 1000;
const CLOSED_WHY = "the attempt has ended";

/**
 * Opens the desk of an attempt that this server runs. What it says is written under the number by which the server holds
 * the attempt, which changes when the lease was taken back; what is refused is a lost attempt.
 */
export function openDesk(
  ctx: Context,
  rules: AssignmentRules,
  { task, attempt, dependencies }: Commission,
  interrupting: AbortSignal,
): AttemptDesk {
  const { attemptId, jobId, holder, repo, id } = attempt;
  let { epoch } = attempt;
  const ending = new AbortController();
  const held = () => ({ attemptId, epoch });

  async function say<T>(write: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await write();
      } catch (error) {
        const isLost = error instanceof NotHeld || (error instanceof Refusal && LOST.has(error.code));
        const isAway = error instanceof Refusal && error.code === "store_unavailable";
        if (isAway && !ctx.stopping.aborted) {
          await ctx.clock.sleep(STORE_AWAY_MS, ctx.stopping);
          continue;
        }
        if (!isLost) throw error;
        ending.abort();
        throw new AttemptLost(error.message);
      }
    }
  }

  const who = (): AskingAttempt => ({
    ...{ jobId, principal: holder, attemptId, repo, taskId: id, slug: task.slug, agent: attempt.agent },
    ...{ title: titleOfPrompt(task.prompt), sandbox: sandboxOf(), deadlineS: rules.askDeadlineS },
    allowCommands: rules.repos.find(({ name }) => name === repo)?.allowCommands ?? [],
  });
  let { sandbox } = attempt;
  const sandboxOf = () => sandbox ?? "none";

  async function keep(): Promise<void> {
    if (await isEnding(ctx, attemptId)) return void ending.abort();
    const kept = await keepAttempt(ctx, { attemptId });
    if (kept === undefined) ending.abort();
    else epoch = kept;
  }
  /** Nobody asks in the name of a job that waits in line, as after the machine slept. */
  async function ask(ref: string, wish: AgentWish): Promise<{ askId: string }> {
    await keep();
    return askForAttempt(ctx, who(), ref, wish);
  }
  const unsubscribe = ctx.wake.subscribe(taskTopic(repo, id), () => {
    isEnding(ctx, attemptId).then(
      (isOver) => isOver && ending.abort(),
      () => {},
    );
  });

  return {
    ending: ending.signal,
    interrupting,
    leaving: ctx.stopping,
    keep,
    close: unsubscribe,
    step: (to, progress = {}) => {
      sandbox = progress.sandbox ?? sandbox;
      return say(() => stepAttempt(ctx, held(), to, progress));
    },
    note: (events, progress = {}) => say(() => noteAttempt(ctx, held(), events, progress)),
    waiting: (isWaiting) => say(() => markWaiting(ctx, held(), isWaiting)),
    permission: (ref, wish, signal) =>
      say(async () => {
        const { askId } = await ask(ref, wish);
        return (await awaitDecision(ctx, askId, signal)) ?? { allow: false, why: CLOSED_WHY, canceled: true };
      }),
    question: (ref, wish, signal) =>
      say(async () => {
        const { askId } = await ask(ref, wish);
        return (await awaitAnswer(ctx, askId, signal)) ?? { none: true, why: CLOSED_WHY };
      }),
    trouble: (why) => say(() => noteTrouble(ctx, held(), why)),
    newKey: () => say(() => renewAttemptKey(ctx, held())),
    resumed: (from) =>
      say(async () => {
        epoch = await resumeAttempt(ctx, held(), from);
      }),
    conflict: ({ paths }) =>
      say(async () => {
        await withdrawAttempt(ctx, held(), { paths, deps: dependencies.map((one) => one.id) });
      }),
    done: (result) => say(() => completeAttempt(ctx, held(), result)),
    failed: (error, { wip }) => say(() => failAttempt(ctx, held(), error, wip)),
    ended: (kept) => endAttempt(ctx, attemptId, kept),
  };
}

/** What the relay says of a job that is somebody else's by now, or over. */
const LOST: ReadonlySet<string> = new Set(["fenced", "job_closed", "job_not_found"]);
