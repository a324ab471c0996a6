import assert from "node:assert/strict";
import { it } from "node:test";
import { countAnswerIfOpen, insertQuestion } from "../../src/questions/store/questions.ts";
import { one, storeNow, type Db, type Tx } from "../../src/core/store/db.ts";
import { migrate } from "../../src/core/store/migrate.ts";
import { openPostgres } from "../../src/core/store/postgres/postgres.ts";
import { sql } from "../../src/core/store/sql.ts";
import { freshDatabase } from "../support/fresh-database.ts";

const MANY = 5000;
/** After so many runs on one connection PostgreSQL thinks of keeping a plan for good. */
const RUNS_BEFORE_A_PLAN_IS_KEPT = 5;
/** The row itself, found once to be changed and once more to be returned; its events are other tables' rows. */
const ROWS_OF_ONE_ANSWER = 4;

async function ask(tx: Tx, name: string): Promise<void> {
  const form = { kind: "text" } as const;
  const fresh = { id: `q_${name}`, door: "ask-a-human", asker: "agent:ana", prompt: "Which?", form, wire: {} };
  await insertQuestion(tx, { ...fresh, audience: ["general"], need: 50, timeoutSeconds: 3600 }, await storeNow(tx));
}

/** Counts an answer, and returns how many rows of the questions were looked at for it. */
async function rowsReadForAnswer(db: Db, name: string): Promise<number> {
  const read = async (tx: Tx) =>
    (
      await one<{ rows: number }>(
        tx,
        sql`SELECT seq_tup_read + idx_tup_fetch AS rows FROM pg_stat_xact_user_tables WHERE relname = 'questions'`,
      )
    ).rows;
  const { value } = await db.transact(async (tx) => {
    const before = await read(tx);
    const counted = await countAnswerIfOpen(tx, `q_${name}`);
    assert.equal(counted?.inTime, true);
    return (await read(tx)) - before;
  });
  return value;
}

it("finds a question by its key on PostgreSQL, also where the first were answered while there were hardly any", async () => {
  const db = await openPostgres({
    url: await freshDatabase(),
    onError: (error) => assert.fail(error),
    waitMs: 60_000,
    poolSizes: { transactions: 1, reads: 1 },
  });
  try {
    await migrate(db);
    await db.transact((tx) => ask(tx, "first"));
    for (let run = 0; run <= RUNS_BEFORE_A_PLAN_IS_KEPT; run += 1) await rowsReadForAnswer(db, "first");

    await db.transact((tx) =>
      tx.all(sql`INSERT INTO questions (ask_id, door, asker, kind, prompt, options, audience, need, n, state, version, held,
          created_at, expires_at, wire)
        SELECT 'q_more-' || i, door, asker, kind, prompt, options, audience, need, 0, state, 1, held, created_at, expires_at,
          wire FROM questions, generate_series(1, ${MANY}) AS i`),
    );
    const rows = await rowsReadForAnswer(db, `more-${MANY}`);
    assert.ok(rows <= ROWS_OF_ONE_ANSWER, `${rows} rows were read to count one answer among ${MANY} questions`);
  } finally {
    await db.close();
  }
});
