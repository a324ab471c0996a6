import assert from "node:assert/strict";
import { it } from "node:test";
import { endReportTimesOfJob, upsertAskOutcome } from "../../src/asks/store/ask-outcomes.ts";
import { awaitedOutcome } from "../../src/requests/model/call-outcome.ts";
import { claimAsk } from "../../src/asks/store/asks.ts";
import { countAnswerIfOpen, insertQuestion } from "../../src/questions/store/questions.ts";
import { one, storeNow, type Db, type Tx } from "../../src/core/store/db.ts";
import { migrate } from "../../src/core/store/migrate.ts";
import { openPostgres } from "../../src/core/store/postgres/postgres.ts";
import { listNoted } from "../../src/core/store/noted.ts";
import { freezeNotesSince } from "../../src/policy/store/freezes.ts";
import { listRunNotes } from "../../src/requests/store/runs.ts";
import { sql } from "../../src/core/store/sql.ts";
import { freshDatabase } from "../support/fresh-database.ts";

const MANY = 5000;
const OF_ONE_RUN = 20;
/** After so many runs on one connection PostgreSQL thinks of keeping a plan for good. */
const RUNS_BEFORE_A_PLAN_IS_KEPT = 5;
/** The row itself, found once to be changed and once more to be returned, and the same for an answer's question. */
const ROWS_OF_ONE_WRITE = 4;

interface Write {
  /** The table whose rows the write finds by their key. */
  table: string;
  /** Stores the first row. */
  insert: (tx: Tx) => Promise<unknown>;
  /** Makes many rows of its kind. */
  multiply: (tx: Tx) => Promise<unknown>;
  /** Changes one of them; the first if no number is named. */
  write: (tx: Tx, number?: number) => Promise<unknown>;
}

const ANSWER: Write = {
  table: "questions",
  async insert(tx) {
    const form = { kind: "text" } as const;
    const fresh = { id: "q_first", door: "ask-a-human", asker: "agent:ana", prompt: "Which?", form, wire: {} };
    await insertQuestion(tx, { ...fresh, audience: ["general"], need: 50, timeoutSeconds: 3600 }, await storeNow(tx));
  },
  multiply: (tx) =>
    tx.all(sql`INSERT INTO questions (ask_id, door, asker, kind, prompt, options, audience, need, n, state, version, held,
        created_at, expires_at, wire)
      SELECT 'q_more-' || i, door, asker, kind, prompt, options, audience, need, 0, state, 1, held, created_at, expires_at,
        wire FROM questions, generate_series(1, ${MANY}) AS i`),
  write: (tx, number) =>
    countAnswerIfOpen(tx, number === undefined ? "q_first" : `q_more-${number}`, { isFrozen: false }),
};

/** Where one of many asks waits for a machine, a walk through the index of those that wait looks cheapest. */
const CLAIM: Write = {
  table: "asks",
  async insert(tx) {
    await tx.all(sql`INSERT INTO jobs (job_id, kind, state, epoch, attempts, max_attempts, external, owner, labels_json,
        priority, pending_asks, seq, kept_from, body_hash, ttl_until, queued_at, created_at, updated_at)
      VALUES ('j', 'external', 'RUNNING', 0, 0, 1, 1, 'executor:e', '{}', 'P1', 0, 0, 1, 'h', parley_now() + 3600000,
        parley_now(), parley_now(), parley_now())`);
    await tx.all(sql`INSERT INTO asks (ask_id, job_id, step_id, ask_type, prompt, context_hash, constraints_json, meta_json,
        created_at, status, epoch, principal, stage, expires_at, same_hash, respond_at, tries, wire)
      SELECT 'a_' || i, 'j', 's', 'CLARIFICATION', 'Which?', 'h', '{}', '{}', parley_now(), 'PENDING', 0, 'executor:e',
        'intake', parley_now() + 3600000, 'h', CASE WHEN i = 0 THEN parley_now() ELSE NULL END, 0, '{}'
      FROM generate_series(0, ${MANY}) AS i`);
    await tx.all(sql`ANALYZE asks`);
  },
  multiply: (tx) => tx.all(sql`UPDATE asks SET respond_at = parley_now()`),
  // A claim for no time leaves the ask due, so that it can be claimed again.
  write: (tx, number = 0) => claimAsk(tx, `a_${number}`, 0),
};

/** The end of a job ends the time for reports of its calls. */
const END_OF_REPORTS: Write = {
  table: "ask_outcomes",
  async insert(tx) {
    await CLAIM.insert(tx);
    await tx.all(sql`UPDATE jobs SET awaits_reports = 1`);
    await tx.all(sql`UPDATE asks SET ask_type = 'APPROVAL', status = 'ANSWERED', ended_at = 1, respond_at = NULL
      WHERE ask_id = 'a_0'`);
    await upsertAskOutcome(tx, "a_0", "executor:e", awaitedOutcome(await storeNow(tx)));
  },
  multiply: (tx) =>
    tx.all(sql`INSERT INTO ask_outcomes (ask_id, asker, state, at, due_at)
      SELECT 'b_' || i, asker, state, at, at + 7200000 FROM ask_outcomes, generate_series(1, ${MANY}) AS i`),
  async write(tx) {
    await endReportTimesOfJob(tx, "j", ["awaited", "started"]);
    return true;
  },
};

/** Does one write, and returns how many rows of its table were looked at for it. */
async function rowsReadFor(db: Db, { table, write }: Write, number?: number): Promise<number> {
  const read = async (tx: Tx) =>
    (
      await one<{ rows: number }>(
        tx,
        sql`SELECT seq_tup_read + idx_tup_fetch AS rows FROM pg_stat_xact_user_tables WHERE relname = ${table}`,
      )
    ).rows;
  const { value } = await db.transact(async (tx) => {
    const before = await read(tx);
    assert.ok(await write(tx, number));
    return (await read(tx)) - before;
  });
  return value;
}

for (const [what, kind] of [
  ["a question that is answered", ANSWER],
  ["an ask that a machine claims", CLAIM],
  ["the outcome of a job that ends", END_OF_REPORTS],
] as const) {
  it(`finds ${what} by its key on PostgreSQL, also where the first were written while there were hardly any`, async () => {
    const db = await openPostgres({
      url: await freshDatabase(),
      onError: (error) => assert.fail(error),
      waitMs: 60_000,
      poolSizes: { transactions: 1, reads: 1 },
    });
    try {
      await migrate(db);
      await db.transact((tx) => kind.insert(tx));
      for (let run = 0; run <= RUNS_BEFORE_A_PLAN_IS_KEPT; run += 1) await rowsReadFor(db, kind);

      const kept = await db.transact((tx) =>
        tx.all(sql`SELECT 1 FROM pg_prepared_statements WHERE statement LIKE ${`%UPDATE ${kind.table}%`}`),
      );
      assert.equal(kept.value.length, 1, "the plan of the write is kept, and not made anew each time");

      await db.transact((tx) => kind.multiply(tx));
      const rows = await rowsReadFor(db, kind, MANY);
      assert.ok(rows <= ROWS_OF_ONE_WRITE, `${rows} rows were read to write one of ${MANY}`);
    } finally {
      await db.close();
    }
  });
}

it("reads a page of a run by its indexes on PostgreSQL, however many others there are", async () => {
  const db = await openPostgres({
    url: await freshDatabase(),
    onError: (error) => assert.fail(error),
    waitMs: 60_000,
    poolSizes: { transactions: 1, reads: 1 },
  });
  try {
    await migrate(db);
    await db.transact(async (tx) => {
      await tx.all(sql`INSERT INTO requests (ask_id, door, asker, ref, same_hash, title, words, form, kind, audience, state,
          version, created_at, expires_at, wire, run)
        SELECT 'ask_' || i, 'a2h', 'agent:bot', 'call:' || i, 'h', 't', '', '{}', 'reply', '{}', 'open', 1, i, i + 1, '{}',
          'run-' || (i / ${OF_ONE_RUN}) FROM generate_series(0, ${MANY - 1}) AS i`);
      await tx.all(sql`INSERT INTO request_recipients (reader, ask_id) SELECT 'h_ana', ask_id FROM requests`);
      await tx.all(sql`INSERT INTO audit (at, action, ask_id, entry, data)
        SELECT created_at, 'function_call.created', ask_id, '{}', '{}' FROM requests`);
      await tx.all(sql`ANALYZE`);
    });
    const { value } = await db.transact(async (tx) => {
      const read = () =>
        tx.all<{ name: string; rows: number }>(
          sql`SELECT relname AS name, seq_tup_read + idx_tup_fetch AS rows FROM pg_stat_xact_user_tables
            WHERE relname IN ('audit', 'requests') ORDER BY relname`,
        );
      // PostgreSQL counts with these what the transaction before has read, until it passes that on.
      const former = new Map((await read()).map(({ name, rows }) => [name, rows]));
      const notes = await listRunNotes(tx, { run: "run-7", readers: ["h_ana"] }, { before: undefined, limit: 5 });
      assert.equal(notes.length, 5);
      await listNoted(tx, freezeNotesSince(0), { before: undefined, limit: 5 });
      return (await read()).map(({ name, rows }) => ({ name, rows: rows - (former.get(name) ?? 0) }));
    });
    for (const { name, rows } of value) assert.ok(rows <= 3 * OF_ONE_RUN, `${rows} rows of ${name} were read`);
  } finally {
    await db.close();
  }
});
