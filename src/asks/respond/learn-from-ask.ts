import { policyInputOf } from "../model/policy-input.ts";
import type { Context } from "../../context.ts";
import { type Policy } from "../../policy/model/policy.ts";
import type { Ask } from "../model/ask.ts";
import { Refusal } from "../../refusals.ts";
import { findRequest } from "../../requests/store/requests.ts";
import { findJob } from "../store/jobs.ts";
import { findAnswer } from "../store/answers.ts";
import { claimLesson } from "../store/asks.ts";
import { transact } from "../../core/store/transact.ts";
import { storeGrant } from "../../policy/grants.ts";
import { noteApproved, noteRejected } from "../../policy/proposals.ts";

const DAY_MS = 86_400_000;

/**
 * Draws the conclusions of a decision that people made: a permanent permission if one was ticked, and a step towards a rule
 * that is proposed. It is a step of its own, done once: a server that dies before it leaves it to the next.
 */
export async function learnFrom(
  ctx: Context,
  ask: Ask,
  { policy, learnAfter, grantDays: days }: { policy: Policy; learnAfter: number; grantDays: number },
): Promise<void> {
  const job = await findJob(ctx.db, ask.jobId);
  const found = await findAnswer(ctx.db, ask.id);
  const addressed = ask.addressedId === null ? undefined : await findRequest(ctx.db, ask.addressedId);
  await transact(ctx, async (tx) => {
    if (!(await claimLesson(tx, ask.id))) return;
    if (!job || found?.answer.source !== "person") return;
    const input = policyInputOf(ask, job.job);
    if (found.answer.status !== "ANSWERED") return noteRejected(tx, input);
    const { standing, by } = addressed?.request.outcome ?? {};
    // Policy may not let this be allowed for good, and whoever ticked it may be no admin any more.
    if (standing && by?.kind === "person" && addressed?.request.wire["standing"] === true) {
      const grantInput = { input, approvalId: ask.id, person: by.id, forMs: days * DAY_MS };
      await storeGrant(ctx, tx, grantInput).catch((error: unknown) => {
        if (!(error instanceof Refusal)) throw error;
        ctx.log.warn({ ask_id: ask.id, code: error.code }, "what was ticked could not be allowed for good");
      });
    }
    await noteApproved(ctx, tx, { policy, input, approvalId: ask.id, learnAfter });
  });
}
