import type { QuestionId } from "../core/model/ids.ts";
import type { Context } from "../context.ts";
import { asOf, isOverdue, type Answer, type Question } from "./model/question.ts";
import { checkAnswer, type UncheckedAnswer } from "./model/check-answer.ts";
import type { Caller, AnsweringIdentity } from "./model/participant.ts";
import { CROWD } from "./model/participant.ts";
import type { JudgedText } from "../requester.ts";
import { Refusal } from "../refusals.ts";
import { countAnswerIfOpen, findQuestion, insertOutcome, lockQuestion, type QuestionAt } from "./store/questions.ts";
import type { Tx } from "../core/store/db.ts";
import { claimKey, keepReply, type IdempotencyClaim } from "../core/store/idempotency.ts";
import { ownsKeyOf } from "../access/store/keys.ts";
import { findResponseOf, insertResponseIfFirst } from "./store/responses.ts";
import { appendEvent, streamOfAsker } from "../core/store/streams.ts";
import { transact } from "../core/store/transact.ts";
import { questionTopic, FEED_TOPIC } from "../core/store/wake.ts";
import { creditAnswer, type Credit } from "./credit-answer.ts";
import { chargeNewcomer, identifyForWrite, type Identified } from "./identify.ts";
import { chargeLimit, type LimitReading } from "../core/limits.ts";
import { cleanWords, exposeIn, type CleanWords } from "../requests/create/clean-words.ts";
import { writeNotes } from "../core/store/audit.ts";

export interface AnswerInput {
  questionId: QuestionId;
  caller: Caller;
  given: UncheckedAnswer;
  /**
   * The identity that the request claims. A request with an agent's key comes from no person, and the asker is refused
   * by any name.
   */
  asAgent: { withKey: boolean; names: readonly string[] };
  idempotency?: { key: string; bodyHash: string };
}

/** The reply to a person whose answer was accepted. */
export interface AnswerReceipt extends Credit {
  responseId: string;
}

export interface RecordedAnswer {
  receipt: AnswerReceipt;
  replayed: boolean;
  /** Who answered, for the caller's limits. */
  person: string;
  /** The participant whose credential the reply should carry, if any. */
  issue: string | null;
  reading: LimitReading | null;
}

/**
 * Records one person's answer to a crowd question, and settles the question when it was the last one needed.
 *
 * "Already answered" is looked for before "closed", so that the retry of the very answer that closed a question learns
 * its response. Both are decided again by the counting statement, which holds the row: what came first in the store
 * stands (spec/ask-a-human 2 and 4.4).
 *
 * @throws {Refusal} `question_not_found`, `self_answer`, `idempotency_mismatch`, `already_answered`, `question_closed`,
 *   `invalid_input`, `rate_limited`
 */
export async function answerQuestion(ctx: Context, asGiven: AnswerInput): Promise<RecordedAnswer> {
  const speaker = { person: asGiven.caller.person ?? null, identities: [], requestId: null };
  const words = await cleanWords(ctx, asGiven.given, speaker);
  const input = { ...asGiven, given: words.words };
  const judged = await judgedText(ctx, input);
  const people = [asGiven.caller.person, asGiven.caller.participant].filter((id) => id !== undefined);
  const rows = [`question ${input.questionId}`, ...people.map((id) => `person ${id}`)];
  return transact(ctx, (tx) => answerIn(ctx, tx, input, { words, judged }), { rows });
}

/** Does the work of `answerQuestion` in a transaction that is under way. */
async function answerIn(
  ctx: Context,
  tx: Tx,
  input: AnswerInput,
  { words, judged }: { words: CleanWords<UncheckedAnswer>; judged: JudgedText },
): Promise<RecordedAnswer> {
  const { questionId, caller } = input;
  // Which participant a fingerprint stands for is found later.
  if (caller.person === undefined && caller.participant === undefined) tx.runAlone?.();
  const [found, identified] = await Promise.all([findQuestion(tx, questionId), identifyForWrite(ctx, tx, caller)]);
  if (!found) throw new Refusal("question_not_found", { question_id: questionId });
  if (await isAsker(tx, found.question.asker, input)) throw new Refusal("self_answer");
  if (ctx.requesters.ofQuestion(found.question)) tx.runAlone?.();
  const { identity, issue } = identified;
  const claim = input.idempotency && claimOf(identity, ctx.newId("r"), input.idempotency);
  if (claim) {
    const used = await claimKey(tx, claim);
    if (used && used.bodyHash !== claim.bodyHash) {
      throw new Refusal("idempotency_mismatch", { field: "idempotency_key" });
    }
    if (used?.reply) {
      const receipt = JSON.parse(used.reply) as AnswerReceipt;
      return { receipt, replayed: true, person: identity.person, issue, reading: null };
    }
  }

  await refuseIfAnswered(tx, found.question.id, identity);
  const current = await heldIfDue(tx, found);
  if (current.state !== "open") throw await refusalOfSettled(tx, current);
  const answer = checkAnswer(current.form, input.given);
  if (judged.refusal && current.form.kind === "text") throw judged.refusal;
  const reading = await chargePerson(ctx, tx, identified);

  const counted = await countAnswerIfOpen(tx, current.id, found);
  if (!counted?.inTime) {
    await refuseIfAnswered(tx, current.id, identity);
    // Counted too late, it holds a row that is about to be undone: the question was open when its deadline came.
    const now = counted ? undefined : await findQuestion(tx, current.id);
    throw settledRefusal(now ? await heldIfDue(tx, now) : { ...current, state: "expired" });
  }
  // point: answer-counted
  const receipt = await record(ctx, tx, counted.question, {
    id: claim?.objectId ?? ctx.newId("r"),
    identity,
    network: caller.network,
    answer,
    value: judged.value,
  });
  await exposeIn(ctx, tx, words);
  if (claim) await keepReply(tx, claim, JSON.stringify(receipt), counted.question.lastAnswerAt ?? found.now);
  // Last of all: on PostgreSQL every other answer of the same network waits from here to the end of this one.
  await chargeNetwork(ctx, tx, identified, caller);
  return { receipt, replayed: false, person: identity.person, issue, reading };
}

/** Returns what a text comes to where the question has an owner that gets it. */
async function judgedText(ctx: Context, { questionId, given }: AnswerInput): Promise<JudgedText> {
  if (typeof given.answer !== "string") return {};
  const found = await findQuestion(ctx.db, questionId);
  const requester = found && ctx.requesters.ofQuestion(found.question);
  return requester ? requester.judge(found.question, given.answer) : {};
}

interface CountedResponse {
  id: string;
  identity: AnsweringIdentity;
  network: Caller["network"];
  answer: Answer;
  value: unknown;
}

/** Stores the counted response with everything that follows from it. */
async function record(
  ctx: Context,
  tx: Tx,
  question: Question,
  { id: responseId, identity, network, answer, value }: CountedResponse,
): Promise<AnswerReceipt> {
  const at = question.lastAnswerAt ?? question.createdAt;
  const stored = await insertResponseIfFirst(tx, {
    questionId: question.id,
    person: identity.person,
    ord: question.n,
    id: responseId,
    answer,
    tier: identity.tier,
    network,
    at,
  });
  if (!stored) {
    await refuseIfAnswered(tx, question.id, identity);
    throw new Error("a response is neither stored nor there");
  }

  // point: answer-stored
  const settled = question.state === "answered";
  if (settled)
    await insertOutcome(tx, { questionId: question.id, status: "answered", principal: CROWD, source: question.door });
  const ended =
    settled && (await ctx.requesters.ofQuestion(question)?.ended(tx, question, { kind: "answered", answer, value }));
  if (ended && !ended.isWanted) throw settledRefusal({ ...question, state: "cancelled" });
  const credit = await creditAnswer(ctx, tx, { question, identity, answer, at });
  // point: answer-credited
  await appendEvent(tx, streamOfAsker(question.asker), {
    kind: settled ? "ask.answered" : "ask.response",
    questionId: question.id,
    version: question.version,
    at,
  });
  tx.wake(questionTopic(question.id));
  tx.wake(FEED_TOPIC);
  if (ended) await writeNotes(tx, ended.notes);
  return { responseId, ...credit };
}

/** An agent is no person; nor does a program answer with one key what it may have asked with another of its owner's. */
async function isAsker(tx: Tx, asker: string, { asAgent, caller }: AnswerInput): Promise<boolean> {
  if (asAgent.withKey || asAgent.names.includes(asker)) return true;
  return caller.byKey === true && caller.person !== undefined && (await ownsKeyOf(tx, caller.person, asker));
}

function claimOf(
  identity: AnsweringIdentity,
  responseId: string,
  given: { key: string; bodyHash: string },
): IdempotencyClaim {
  return { principal: `person:${identity.person}`, verb: "answer", objectId: responseId, ...given };
}

async function refuseIfAnswered(tx: Tx, questionId: QuestionId, identity: AnsweringIdentity): Promise<void> {
  const responseId = await findResponseOf(tx, questionId, identity.names);
  if (responseId) throw new Refusal("already_answered", { question_id: questionId, response_id: responseId });
}

/** Charges the person, whose row then keeps other answers of the same person waiting until this one is through. */
function chargePerson({ crowd }: Context, tx: Tx, { identity }: Identified): Promise<LimitReading> {
  return chargeLimit(tx, "answers", identity.person, crowd.limits.answersPerHour);
}

async function chargeNetwork(ctx: Context, tx: Tx, identified: Identified, caller: Caller): Promise<void> {
  await chargeNewcomer(ctx, tx, caller, identified);
  await chargeLimit(tx, "network answers", caller.network, ctx.crowd.limits.answersPerNetworkPerHour);
}

/**
 * Returns the question as it is now. One that the clock alone has ended is looked at again with its row held: an answer that
 * came in time may be committing at this very moment, and a caller that came too late must receive how it really ended.
 */
async function heldIfDue(tx: Tx, { question, ...at }: QuestionAt): Promise<Question> {
  if (question.state !== "open" || !isOverdue({ question, ...at })) return question;
  const held = await lockQuestion(tx, question.id);
  return held ? asOf(held.question, held.now) : asOf(question, at.now);
}

/** Why a person whose answer was not found cannot answer any more: with the answer, retention may have deleted the question. */
async function refusalOfSettled(tx: Tx, question: Question): Promise<Refusal> {
  return (await findQuestion(tx, question.id))
    ? settledRefusal(question)
    : new Refusal("question_not_found", { question_id: question.id });
}

function settledRefusal(question: Question): Refusal {
  return new Refusal("question_closed", {
    question_id: question.id,
    status: question.state === "answered" ? "CLOSED" : "EXPIRED",
  });
}
