import type { QuestionId } from "../../core/model/ids.ts";
import type { Answer, Response, Tier } from "../model/question.ts";
import { first, type Queryable, type Tx } from "../../core/store/db.ts";
import { optional, rowsOf, type RowOf } from "../../core/store/rows.ts";
import { join, sql } from "../../core/store/sql.ts";

const responseRows = rowsOf<Response>()({
  id: "response_id",
  ord: "ord",
  answer: rowsOf<Answer>()({
    text: optional("answer"),
    selectedOption: optional("selected_option"),
    confidence: optional("confidence"),
  }).read,
  tier: "tier",
  network: "network",
  at: "at",
});

export interface NewResponse {
  questionId: QuestionId;
  person: string;
  ord: number;
  id: string;
  answer: Answer;
  tier: Tier;
  network: string;
  at: number;
}

/** Stores a person's only response to a question; false when that person has one already. */
export async function insertResponseIfFirst(tx: Tx, response: NewResponse): Promise<boolean> {
  const row = await first(
    tx,
    sql`INSERT INTO responses (ask_id, person, ord, response_id, answer, selected_option, confidence, tier, network, at)
      VALUES (${response.questionId}, ${response.person}, ${response.ord}, ${response.id}, ${response.answer.text ?? null},
        ${response.answer.selectedOption ?? null}, ${response.answer.confidence ?? null}, ${response.tier},
        ${response.network}, ${response.at})
      ON CONFLICT (ask_id, person) DO NOTHING RETURNING ord`,
  );
  return row !== undefined;
}

/** Returns the id of the response that one of `people` (all names of one person) gave, if any. */
export async function findResponseOf(
  on: Queryable,
  questionId: QuestionId,
  people: readonly string[],
): Promise<string | undefined> {
  if (people.length === 0) return undefined;
  const row = await first<{ response_id: string }>(
    on,
    sql`SELECT response_id FROM responses WHERE ask_id = ${questionId} AND person IN (${join([...people])}) LIMIT 1`,
  );
  return row?.response_id;
}

/**
 * Returns the first `n` responses of each question, oldest first. Read after the question with its own count, this is what that
 * reading of the question had: responses are only ever added.
 */
export async function listResponses(
  on: Queryable,
  asks: readonly { id: string; n: number }[],
): Promise<Map<string, Response[]>> {
  const byAsk = new Map<string, Response[]>(asks.map((ask) => [ask.id, []]));
  const answered = asks.filter((ask) => ask.n > 0);
  if (answered.length === 0) return byAsk;
  const limits = new Map(answered.map((ask) => [ask.id, ask.n]));
  const rows = await on.all<RowOf<typeof responseRows> & { ask_id: string }>(
    sql`SELECT ask_id, ord, response_id, answer, selected_option, confidence, tier, network, at FROM responses
      WHERE ask_id IN (${join([...limits.keys()])}) ORDER BY ask_id, ord`,
  );
  for (const row of rows) {
    if (row.ord <= (limits.get(row.ask_id) ?? 0)) byAsk.get(row.ask_id)?.push(responseRows.read(row));
  }
  return byAsk;
}
