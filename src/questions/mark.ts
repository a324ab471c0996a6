import type { QuestionId } from "../core/model/ids.ts";
import type { Context } from "../context.ts";
import type { Caller } from "./model/participant.ts";
import type { ReportReason } from "./model/question.ts";
import { Refusal } from "../refusals.ts";
import { findQuestion, holdQuestion, lockQuestion } from "./store/questions.ts";
import { countReportingNetworks, upsertReport, upsertSkip } from "./store/marks.ts";
import { transact } from "../core/store/transact.ts";
import { FEED_TOPIC } from "../core/store/wake.ts";
import { welcome } from "./identify.ts";

const SKIP_MS = 86_400_000;
const NETWORKS_THAT_HOLD = 3;

/** Hides a question from this person for 24 hours. @throws {Refusal} `question_not_found`, `rate_limited` */
export async function skipQuestion(
  ctx: Context,
  questionId: QuestionId,
  caller: Caller,
): Promise<{ issue: string | null }> {
  return transact(ctx, async (tx) => {
    if (!(await findQuestion(tx, questionId))) throw new Refusal("question_not_found", { question_id: questionId });
    const { identity, issue } = await welcome(ctx, tx, caller);
    await upsertSkip(tx, questionId, identity.person, SKIP_MS);
    return { issue };
  });
}

/**
 * Keeps a person's report. Reports of people on three different networks hold the question out of the feed until an
 * operator decides; its deadline runs on.
 *
 * @throws {Refusal} `question_not_found`, `rate_limited`
 */
export async function reportQuestion(
  ctx: Context,
  questionId: QuestionId,
  caller: Caller,
  report: { reason: ReportReason; comment?: string },
): Promise<{ issue: string | null }> {
  return transact(ctx, async (tx) => {
    if (!(await lockQuestion(tx, questionId))) throw new Refusal("question_not_found", { question_id: questionId });
    const { identity, issue } = await welcome(ctx, tx, caller);
    await upsertReport(tx, {
      questionId,
      person: identity.person,
      reason: report.reason,
      comment: report.comment ?? null,
      network: caller.network,
    });
    if ((await countReportingNetworks(tx, questionId)) >= NETWORKS_THAT_HOLD) {
      await holdQuestion(tx, questionId);
      tx.wake(FEED_TOPIC);
    }
    return { issue };
  });
}
