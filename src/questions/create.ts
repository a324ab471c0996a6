import type { QuestionId } from "../core/model/ids.ts";
import type { Context } from "../context.ts";
import { isOverdue, type Question } from "./model/question.ts";
import { refuseFields } from "../core/model/field-problem.ts";
import { Refusal } from "../refusals.ts";
import { findQuestion, type NewQuestion } from "./store/questions.ts";
import type { Tx } from "../core/store/db.ts";
import { insertFallback } from "./store/fallbacks.ts";
import { findHumanByNumber } from "../access/store/humans.ts";
import { claimKey, moveKey } from "../core/store/idempotency.ts";
import { transact } from "../core/store/transact.ts";
import { settleIfDue } from "./expire.ts";
import type { LimitReading } from "../core/limits.ts";
import { chargeQuestion, storeQuestion } from "./store-new.ts";

export interface Created {
  question: Question;
  /** True when an idempotency key stood for a question made before. */
  replayed: boolean;
  /** The asker's limit after this; nothing for a replay, which counts for none. */
  reading: LimitReading | null;
}

/** A new question, but for what the store gives it. */
export type QuestionInput = Omit<NewQuestion, "id"> & {
  /** The person to ask, and when, if nobody of the crowd has answered by then. */
  fallback?: { human: number; afterMs: number };
};

/** The key and the digest that make a second request the same as a first one. */
export interface Sameness {
  key: string;
  bodyHash: string;
  /** The key stands for its question only while that is open; otherwise for a day, however it ended. */
  whileOpen?: boolean;
}

/**
 * Stores a new question, or returns the one its idempotency key already stands for.
 *
 * The key comes before the limits, so that a retry always succeeds; key, limit, quota and question are one transaction, so
 * that a refusal burns neither key nor limit (spec/ask-a-human 3.1).
 *
 * @throws {Refusal} `idempotency_mismatch`, `rate_limited`, `quota_exceeded`, `invalid_input` for a fallback that nobody
 *   is or that comes after the deadline
 */
export async function createQuestion(ctx: Context, input: QuestionInput, sameness?: Sameness): Promise<Created> {
  const id = ctx.newId("q");
  const store = async (tx: Tx) => {
    const existing = sameness && (await claimOrFind(tx, input.asker, id, sameness));
    if (existing !== undefined) return existing;
    // point: create-key-claimed
    const { reading, now } = await chargeQuestion(ctx, tx, input.asker);
    const question = await storeQuestion(tx, { ...input, id }, now);
    if (input.fallback) await planFallback(tx, question, input.fallback);
    return { question, replayed: false, reading };
  };
  const created = await transact(ctx, store, { rows: [`asker ${input.asker}`] });
  if (typeof created !== "string") return created;

  const found = await findQuestion(ctx.db, created);
  if (!found) throw new Error("an idempotency key outlived its question");
  return { question: await settleIfDue(ctx, found), replayed: true, reading: null };
}

async function planFallback(
  tx: Tx,
  question: Question,
  { human, afterMs }: NonNullable<QuestionInput["fallback"]>,
): Promise<void> {
  const found = await findHumanByNumber(tx, human);
  if (!found) {
    throw refuseFields([
      { message: "fallback_human must be the id of a human", field: "fallback_human", constraint: "unknown" },
    ]);
  }
  const dueAt = question.createdAt + afterMs;
  if (dueAt >= question.expiresAt) {
    const message = "fallback_after_seconds must be less than timeout_seconds";
    throw refuseFields([{ message, field: "fallback_after_seconds", constraint: "range" }]);
  }
  await insertFallback(tx, question.id, found.person, dueAt);
}

/**
 * Takes the key for the new question and returns nothing, or returns the question it stands for. Two who find the same question over
 * at once do not both ask again: the second finds the key moved, and what it stands for now.
 */
async function claimOrFind(
  tx: Tx,
  principal: string,
  objectId: string,
  { whileOpen = false, ...key }: Sameness,
): Promise<string | undefined> {
  const claim = { principal, verb: whileOpen ? "ask while open" : "ask", objectId, ...key };
  let used = await claimKey(tx, claim);
  while (used && whileOpen && !(await isOpen(tx, used.objectId))) used = await moveKey(tx, claim, used.objectId);
  if (used && used.bodyHash !== key.bodyHash) throw new Refusal("idempotency_mismatch", { field: "idempotency_key" });
  return used?.objectId;
}

async function isOpen(tx: Tx, questionId: QuestionId): Promise<boolean> {
  const found = await findQuestion(tx, questionId);
  return found !== undefined && found.question.state === "open" && !isOverdue(found);
}
