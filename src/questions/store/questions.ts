import type { QuestionId } from "../../core/model/ids.ts";
import type { Question, QuestionState, QuestionForm, Tag } from "../model/question.ts";
import type { FeedEntry } from "../model/feed.ts";
import { first, one, type Queryable, type Tx } from "../../core/store/db.ts";
import { flag, json, rowsOf, type RowOf } from "../../core/store/rows.ts";
import { lockedRows } from "../../core/store/locked-rows.ts";
import { empty, join, raw, sql } from "../../core/store/sql.ts";
import { frozenFlag, hasTime, isFrozen } from "../../policy/store/freezes.ts";

const SECOND_MS = 1000;
/** The feed takes a deadline that stands still in the past for one so far ahead. */
const STILL_MS = 60_000;
const ANSWERS_MATTER_MS = 2 * 86_400_000;

/** A question, the store's clock, and whether its asker is frozen, read by one statement. */
export interface QuestionAt {
  question: Question;
  now: number;
  isFrozen: boolean;
}

const FROZEN = frozenFlag(raw("asker"));

/** Where a question stands among those of its asker; a later one is greater. */
export interface QuestionPosition {
  createdAt: number;
  id: string;
}

const questionRows = rowsOf<Question>()({
  id: "ask_id",
  door: "door",
  asker: "asker",
  prompt: "prompt",
  form: toForm,
  audience: json("audience"),
  need: "need",
  n: "n",
  state: "state",
  version: "version",
  held: flag("held"),
  /** The column holds the second, and in its thousandths the place among what its asker asked in that second. */
  createdAt: (row: { created_at: number }) => secondOf(row.created_at),
  expiresAt: "expires_at",
  lastAnswerAt: "last_answer_at",
  settledAt: "settled_at",
  wire: json("wire"),
});

type QuestionRow = RowOf<typeof questionRows>;

const questionAtRows = rowsOf<QuestionAt>()({ question: questionRows.read, now: "now", isFrozen: flag("frozen") });

function secondOf(at: number): number {
  return at - (at % SECOND_MS);
}

function toForm(row: { kind: QuestionForm["kind"]; options: string | null }): QuestionForm {
  return row.kind === "choice"
    ? { kind: "choice", options: JSON.parse(row.options ?? "[]") as string[] }
    : { kind: "text" };
}

/** A new question; `state`, counts and times follow from its insertion. */
export interface NewQuestion {
  id: string;
  door: string;
  asker: string;
  prompt: string;
  form: QuestionForm;
  audience: readonly Tag[];
  need: number;
  timeoutSeconds: number;
  wire: Record<string, unknown>;
}

/** A new question that ends when something else does. */
export type NewQuestionUntil = Omit<NewQuestion, "timeoutSeconds"> & { expiresAt: number };

/**
 * Inserts an open question, created in the second of the store's clock that holds `now`, and returns it. It comes after the
 * questions that its asker made before in that second, as the holder of the asker's limit can tell: up to a thousand in one
 * second, and from there on in no particular order.
 */
export async function insertQuestion(tx: Tx, ask: NewQuestion | NewQuestionUntil, now: number): Promise<Question> {
  const options = ask.form.kind === "choice" ? JSON.stringify(ask.form.options) : null;
  const createdAt = secondOf(now);
  const expiresAt = "expiresAt" in ask ? ask.expiresAt : createdAt + ask.timeoutSeconds * SECOND_MS;
  const last = createdAt + SECOND_MS - 1;
  const place = sql`coalesce((SELECT CASE WHEN max(created_at) = ${last} THEN ${last} ELSE max(created_at) + 1 END
    FROM questions WHERE asker = ${ask.asker} AND created_at BETWEEN ${createdAt} AND ${last}), ${createdAt})`;
  await tx.all(sql`INSERT INTO questions (ask_id, door, asker, kind, prompt, options, audience, need, n, state, version, held,
      created_at, expires_at, wire)
    VALUES (${ask.id}, ${ask.door}, ${ask.asker}, ${ask.form.kind}, ${ask.prompt}, ${options},
      ${JSON.stringify(ask.audience)}, ${ask.need}, 0, 'open', 1, 0, ${place}, ${expiresAt}, ${JSON.stringify(ask.wire)})`);
  return {
    id: ask.id,
    door: ask.door,
    asker: ask.asker,
    prompt: ask.prompt,
    form: ask.form,
    audience: ask.audience,
    need: ask.need,
    n: 0,
    state: "open",
    version: 1,
    held: false,
    createdAt,
    expiresAt,
    lastAnswerAt: null,
    settledAt: null,
    wire: ask.wire,
  };
}

/** Returns the question with the store's clock, or nothing. */
export async function findQuestion(on: Queryable, questionId: QuestionId): Promise<QuestionAt | undefined> {
  return questionAtRows.first(
    on,
    sql`SELECT *, parley_now() AS now, ${FROZEN} FROM questions WHERE ask_id = ${questionId}`,
  );
}

/** Holds the question to the end of the transaction; returns it with the clock read after any wait (spec/invariants Q2). */
export async function lockQuestion(tx: Tx, questionId: QuestionId): Promise<QuestionAt | undefined> {
  return questionAtRows.first(tx, lockedRows(tx, "questions", sql`ask_id = ${questionId}`, sql`, ${FROZEN}`));
}

/**
 * Counts one more answer if the question is open, wants more and has time left, and settles it with the last one needed.
 *
 * The guarded statement is also the lock. `inTime` is judged on the returned row, because a statement that waited for a
 * holder who then undid its change is not judged again by its `WHERE` (spec/invariants Q1). Nothing returned, or
 * `inTime` false: the caller undoes the transaction. The last answer to a frozen asker moves the deadline behind itself.
 */
export async function countAnswerIfOpen(
  tx: Tx,
  questionId: QuestionId,
  { isFrozen: wasFrozen }: Pick<QuestionAt, "isFrozen">,
): Promise<{ question: Question; inTime: boolean } | undefined> {
  // A look at the freezes is planned anew for each answer, so the statement for all others has none.
  const inTime = wasFrozen
    ? sql`(expires_at > parley_now() OR ${isFrozen(raw("asker"))})`
    : sql`expires_at > parley_now()`;
  const row = await first<QuestionRow & { in_time: number | boolean }>(
    tx,
    sql`UPDATE questions
      SET n = n + 1, version = version + 1, last_answer_at = parley_now(),
        state = CASE WHEN n + 1 = need THEN 'answered' ELSE state END,
        settled_at = CASE WHEN n + 1 = need THEN parley_now() ELSE settled_at END,
        expires_at = CASE WHEN n + 1 = need AND expires_at <= parley_now() THEN parley_now() + 1 ELSE expires_at END
      WHERE ask_id = ${questionId} AND state = ${"open"} AND n < need AND ${inTime}
      RETURNING *, ${inTime} AS in_time`,
  );
  if (row?.state === "answered" && row.settled_at !== row.last_answer_at) {
    // The clock was read twice above, and went on between: a question ends with its last answer, to the millisecond.
    await tx.all(sql`UPDATE questions SET settled_at = last_answer_at WHERE ask_id = ${questionId}`);
    row.settled_at = row.last_answer_at;
  }
  return row && { question: questionRows.read(row), inTime: Boolean(row.in_time) };
}

/** Ends an open question without an answer; `at` is when it ended. Returns the question if it was open. */
export async function endQuestionIfOpen(
  tx: Tx,
  questionId: QuestionId,
  end: "expired" | "cancelled",
  at: number,
): Promise<Question | undefined> {
  // While its asker is frozen, it may be cancelled past its deadline.
  const behind =
    end === "cancelled" ? sql`, expires_at = CASE WHEN expires_at <= ${at} THEN ${at + 1} ELSE expires_at END` : empty;
  return questionRows.first(
    tx,
    sql`UPDATE questions SET state = ${end}, settled_at = ${at}, version = version + 1 ${behind}
      WHERE ask_id = ${questionId} AND state = ${"open"} RETURNING *`,
  );
}

/** Writes down what ended a question. @throws {Error} when an outcome stands already: our bug */
export async function insertOutcome(
  tx: Tx,
  outcome: { questionId: QuestionId; status: QuestionState; principal: string; source: string },
): Promise<void> {
  await one(
    tx,
    sql`INSERT INTO outcomes (ask_id, status, principal, source, created_at)
      VALUES (${outcome.questionId}, ${outcome.status}, ${outcome.principal}, ${outcome.source}, parley_now())
      ON CONFLICT (ask_id) DO NOTHING RETURNING ask_id`,
  );
}

/** Returns up to `limit` open questions whose deadline has passed, oldest deadline first. */
export async function findDueQuestions(on: Queryable, limit: number): Promise<string[]> {
  const rows = await on.all<{ ask_id: string }>(
    sql`SELECT ask_id FROM questions WHERE state = 'open' AND expires_at <= (SELECT parley_now())
      AND NOT ${isFrozen(raw("asker"))} ORDER BY expires_at LIMIT ${limit}`,
  );
  return rows.map((row) => row.ask_id);
}

/** Counts the questions of `asker` that still take answers, and says when the next of them ends, with the store's clock. */
export async function countOpenQuestions(
  on: Queryable,
  asker: string,
): Promise<{ open: number; nextEndsAt: number | null; now: number }> {
  const row = await one<{ open: number; next_ends_at: number | null; now: number }>(
    on,
    sql`SELECT count(*) AS open, min(expires_at) AS next_ends_at, (SELECT parley_now()) AS now FROM questions
      WHERE asker = ${asker} AND state = 'open' AND ${hasTime(raw("expires_at"), raw("asker"))}`,
  );
  return { open: row.open, nextEndsAt: row.next_ends_at, now: row.now };
}

/** Returns one page of an asker's own questions with their places, newest first, that follow `before`. */
export async function listQuestionsOf(
  on: Queryable,
  asker: string,
  options: {
    states?: readonly ("open" | "partial" | "closed" | "expired")[];
    before?: QuestionPosition;
    limit: number;
  },
): Promise<(QuestionAt & { place: QuestionPosition })[]> {
  const due = sql`(NOT ${hasTime(raw("expires_at"), raw("asker"))})`;
  const conditions = {
    open: sql`(state = 'open' AND n = 0 AND NOT ${due})`,
    partial: sql`(state = 'open' AND n > 0 AND NOT ${due})`,
    closed: sql`state = 'answered'`,
    expired: sql`(state IN ('expired', 'cancelled') OR (state = 'open' AND ${due}))`,
  };
  const wanted = options.states?.length
    ? sql`AND (${join(
        options.states.map((state) => conditions[state]),
        " OR ",
      )})`
    : empty;
  const after = options.before
    ? sql`AND (created_at, ask_id) < (${options.before.createdAt}, ${options.before.id})`
    : empty;
  const rows = await on.all<QuestionRow & { now: number; frozen: number }>(
    sql`SELECT *, (SELECT parley_now()) AS now, ${FROZEN} FROM questions WHERE asker = ${asker} ${after} ${wanted}
      ORDER BY created_at DESC, ask_id DESC LIMIT ${options.limit}`,
  );
  return rows.map((row) => ({
    question: questionRows.read(row),
    now: row.now,
    isFrozen: row.frozen === 1,
    place: { createdAt: row.created_at, id: row.ask_id },
  }));
}

/**
 * Returns the facts about every open question that the feed's order needs, except those held. The cost grows with the
 * open questions, not with those stored.
 */
export async function listOpenEntries(on: Queryable): Promise<FeedEntry[]> {
  const rows = await on.all<QuestionRow>(
    sql`SELECT ask_id, audience, need, n, created_at, last_answer_at,
        CASE WHEN expires_at > (SELECT parley_now()) THEN expires_at ELSE (SELECT parley_now()) + ${STILL_MS} END AS expires_at
      FROM questions
      WHERE state = 'open' AND held = 0 AND ${hasTime(raw("expires_at"), raw("asker"))}`,
  );
  const audiences = new Map<string, Tag[]>();
  const entries: FeedEntry[] = [];
  for (const row of rows) {
    let audience = audiences.get(row.audience);
    if (!audience) audiences.set(row.audience, (audience = JSON.parse(row.audience) as Tag[]));
    entries.push({
      id: row.ask_id,
      audience,
      need: row.need,
      n: row.n,
      createdAt: secondOf(row.created_at),
      expiresAt: row.expires_at,
      lastAnswerAt: row.last_answer_at,
    });
  }
  return entries;
}

/**
 * Returns the questions that `people` (all names of one person) have answered lately, have skipped for now, or have
 * reported. The cost grows with what they did in two days.
 */
export async function listDone(on: Queryable, people: readonly string[]): Promise<Set<string>> {
  if (people.length === 0) return new Set();
  const them = join([...people]);
  // Every answer has its ledger entry, and no question is open for longer than a day.
  const rows = await on.all<{ ask_id: string }>(
    sql`SELECT ask_id FROM ledger WHERE person IN (${them}) AND at > (SELECT parley_now()) - ${ANSWERS_MATTER_MS}
      UNION ALL SELECT ask_id FROM skips WHERE person IN (${them}) AND until > (SELECT parley_now())
      UNION ALL SELECT ask_id FROM reports WHERE person IN (${them})`,
  );
  return new Set(rows.map(({ ask_id }) => ask_id));
}

/** Returns those of the questions that exist, in no particular order. */
export async function findQuestions(on: Queryable, questionIds: readonly QuestionId[]): Promise<QuestionAt[]> {
  if (questionIds.length === 0) return [];
  return questionAtRows.all(
    on,
    sql`SELECT *, (SELECT parley_now()) AS now, ${FROZEN} FROM questions WHERE ask_id IN (${join([...questionIds])})`,
  );
}

/** When the newest question was asked, or null when none ever was. */
export async function newestQuestionAt(on: Queryable): Promise<number | null> {
  const row = await first<{ created_at: number }>(
    on,
    sql`SELECT created_at FROM questions ORDER BY created_at DESC LIMIT 1`,
  );
  return row ? secondOf(row.created_at) : null;
}

/** Keeps a question out of the feed from now on. */
export async function holdQuestion(tx: Tx, questionId: QuestionId): Promise<void> {
  await tx.all(sql`UPDATE questions SET held = 1 WHERE ask_id = ${questionId}`);
}

/** Returns the versions of those questions that exist, for the polling fallback of wake-ups. */
export async function findQuestionVersions(
  on: Queryable,
  questionIds: readonly QuestionId[],
): Promise<Map<string, number>> {
  const rows = await on.all<{ ask_id: string; version: number }>(
    sql`SELECT ask_id, version FROM questions WHERE ask_id IN (${join([...questionIds])})`,
  );
  return new Map(rows.map((row) => [row.ask_id, row.version]));
}
