import type { QuestionId } from "../../core/model/ids.ts";
import type { Context } from "../../context.ts";
import type { ForeignSchema } from "../../requests/model/request.ts";
import { publicQuestionOf, type PublicWire } from "../model/public.ts";
import { RELAY_DOOR } from "../model/people.ts";
import type { StageRecord } from "../model/ask.ts";
import type { PolicyTrace } from "../../policy/model/trace.ts";
import type { AuditNote } from "../../core/store/audit.ts";
import type { Queryable, Tx } from "../../core/store/db.ts";
import { advanceAsk, findByQuestion, type AskAt } from "../store/asks.ts";
import { storeQuestion } from "../../questions/store-new.ts";

/** The data that a question to the public is made from. */
export interface PublicPlan {
  schema: ForeignSchema | null;
  stages: readonly StageRecord[];
  /** The policy's decision and its reasons. */
  trace: PolicyTrace;
}

/**
 * Makes a pending ask, held with its job, a question to the crowd: one answer ends both, and so does their one deadline,
 * which is the asker's own, else the one that people usually have (spec/relay 13). The public sees the
 * prompt and the options, and nothing else of it.
 */
export async function askPublicIn(
  ctx: Pick<Context, "newId" | "relay">,
  tx: Tx,
  held: AskAt,
  { schema, stages, trace }: PublicPlan,
): Promise<{ advanced: AskAt; note: AuditNote } | null> {
  const { ask, options } = held;
  const id = ctx.newId("q");
  const advanced = await advanceAsk(tx, held, {
    stage: "people",
    stages,
    respondInMs: null,
    questionId: id,
    policyTrace: trace,
    ...(ask.constraints.timeoutS === undefined && { expiresInMs: ctx.relay.peopleDeadlineMs }),
  });
  if (!advanced) return null;
  const { expiresAt } = advanced.ask;
  const wire: PublicWire = schema && options.length === 0 ? { schema } : {};
  await storeQuestion(
    tx,
    {
      id,
      door: RELAY_DOOR,
      asker: ask.principal,
      audience: ["general"],
      need: 1,
      expiresAt,
      ...publicQuestionOf(ask, { options, schema }),
      wire: { ...wire },
    },
    held.now,
  );
  const note: AuditNote = {
    actor: { kind: "server", id: "relay" },
    action: "relay.asked_public",
    agent: ask.principal,
    subjectId: ask.id,
    callId: ask.jobId,
    data: { question_id: id, policy_version: trace.policy_version },
  };
  return { advanced, note };
}

/** Returns whether what a question stands for still waits for it. */
export async function isQuestionWanted(on: Queryable, questionId: QuestionId): Promise<boolean> {
  return (await findByQuestion(on, questionId))?.ask.status === "PENDING";
}
