import type { Context } from "../../context.ts";
import type { ForeignSchema, Outcome } from "../../requests/model/request.ts";
import type { Question } from "../../questions/model/question.ts";
import { refuseFields } from "../../core/model/field-problem.ts";
import { readingsOf } from "../../requests/model/read-value.ts";
import { answerFrom, RELAY_DOOR } from "../model/people.ts";
import { offersIn, THE_PUBLIC, wireOfPublic, type PublicWire } from "../model/public.ts";
import { CROWD } from "../../questions/model/participant.ts";
import type { ChoiceOption, StageRecord } from "../model/ask.ts";
import type { JudgedText, QuestionEnd, QuestionEnded, QuestionRequester } from "../../requester.ts";
import type { Tx } from "../../core/store/db.ts";
import { lockJob } from "../store/jobs.ts";
import { findByQuestion, lockAsk } from "../store/asks.ts";
import { settleAskIn } from "../end/settle.ts";

/** The context that questions on behalf of executors' asks need. */
export type OwningQuestions = Pick<Context, "secrets" | "schemas">;

/** Executors, whose asks are put to the public as questions to the crowd. */
export function relayQuestionRequester(ctx: OwningQuestions): QuestionRequester {
  return {
    door: RELAY_DOOR,
    judge: (question, text) => judgeText(ctx, wireOfPublic(question), text),
    ended: settleFromPublic,
  };
}

/**
 * Judges a text that somebody of the crowd wrote: an executor would get it, so it must hold no secret, and be the value
 * that was asked for (spec/relay 13 and 15).
 */
async function judgeText(ctx: OwningQuestions, { schema }: PublicWire, text: string): Promise<JudgedText> {
  const { finds } = await ctx.secrets.find([{ path: "answer", text }]);
  const [find] = finds;
  if (find) {
    const { rule, from, to } = find;
    const message = `answer holds what looks like a secret (${rule}, characters ${from} to ${to}): take it out`;
    return { refusal: refuseFields([{ message, field: "answer", constraint: "secret", rule, from, to }]) };
  }
  return schema ? readValue(ctx, schema, text) : {};
}

async function readValue(ctx: Pick<Context, "schemas">, schema: ForeignSchema, text: string): Promise<JudgedText> {
  const { values, wanted } = readingsOf(schema, text);
  let says = wanted;
  for (const value of values) {
    const [problem] = await ctx.schemas.validate(schema, value);
    if (!problem) return { value };
    says ??= `${problem.path} ${problem.message}`.trim();
  }
  const message = `answer does not fit what was asked for: ${says ?? "it must be a value"}`;
  return { refusal: refuseFields([{ message, field: "answer", constraint: "schema" }]) };
}

/**
 * Gives an executor the answers of the public, in the transaction that ends the question: both are over or neither.
 * Where its ask was over before, the question is no longer wanted, and nothing follows.
 */
async function settleFromPublic(tx: Tx, question: Question, end: QuestionEnd): Promise<QuestionEnded> {
  const found = await findByQuestion(tx, question.id);
  const job = found && (await lockJob(tx, found.ask.jobId));
  const held = found && (await lockAsk(tx, found.ask.id));
  if (!job || held?.ask.status !== "PENDING") return { isWanted: false, notes: [] };
  const { ask, options } = held;
  const wire = wireOfPublic(question);
  const given = answerFrom(ask, options, outcomeOf(options, wire, end));
  const isAnswered = end.kind === "answered";
  const line: StageRecord = {
    stage: "people",
    outcome: isAnswered ? `answered by ${THE_PUBLIC}` : end.kind,
    ms: job.now - question.createdAt,
  };
  const settled = await settleAskIn(
    tx,
    { job, ask: held },
    {
      ...given,
      ...(isAnswered
        ? { source: "person", principal: CROWD, answeredBy: THE_PUBLIC }
        : { source: "server", principal: "" }),
      ...(held.policyTrace && { policyTrace: held.policyTrace }),
    },
    { stage: "people", stages: [...ask.stages, line] },
  );
  return { isWanted: true, notes: settled.notes };
}

function outcomeOf(options: readonly ChoiceOption[], { schema }: PublicWire, end: QuestionEnd): Outcome {
  if (end.kind !== "answered") return { status: end.kind };
  const { text, selectedOption } = end.answer;
  const status = "answered" as const;
  if (selectedOption === undefined) {
    return { status, text: text ?? "", ...(end.value !== undefined && { value: JSON.stringify(end.value) }) };
  }
  if (options.length > 0) return { status, option: String(selectedOption + 1) };
  const offer = schema && offersIn(schema)?.[selectedOption];
  if (!offer) throw new Error("an option was chosen that no schema offers");
  return { status, text: offer.label, value: JSON.stringify(offer.value) };
}
