/**
 * Fills a store with what a busy week leaves behind, straight into the database: nearly every question settled, with
 * its answers, its outcome, what it earned, and the last day's events and idempotency keys.
 */
import { hash } from "node:crypto";
import { join } from "node:path";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import pg from "pg";
import { FILL_PERSON_TOTALS } from "../src/core/store/migrations/0034-person-totals.ts";
import { newBadges } from "../src/questions/model/badges.ts";
import { periodStart, PERIODS } from "../src/questions/model/points.ts";
import { continueStreak, localDay, type StreakMark } from "../src/questions/model/streak.ts";
import { QUESTION, type StoredQuestion } from "./parley-load.ts";

type Value = string | number | null;
type Row = Readonly<Record<string, Value>>;
type Rows = Generator<[table: string, row: Row]>;

export interface Filling {
  questions: number;
  /** How many of them are open; the same in stores that are compared. */
  open: number;
}

interface PersonScore {
  streak: StreakMark;
  answers: number;
  badges: Set<string>;
  periods: Map<string, PeriodRow>;
}

interface PeriodRow extends Row {
  points: number;
  answers: number;
  reached_at: number;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Inside the retention of settled questions. */
const SPAN_MS = 6 * DAY_MS;
const QUESTIONS_OF_A_PERSON = 50;
/** The same in every store, so that stores differ in nothing but what has become of old questions. */
const AGENTS = 500;
const ROWS_PER_TRANSACTION = 200_000;
const ROWS_PER_INSERT = 2000;

/** Returns the question at a place in the store. */
export function storedQuestion(i: number): StoredQuestion {
  return { id: idOf("q", i), agent: `fleet-${i % AGENTS}` };
}

/** Fills the database of a server that has run once and is stopped. */
export function fillSqlite(dataDir: string, filling: Filling): void {
  const database = new DatabaseSync(join(dataDir, "parley.db"));
  database.exec("PRAGMA synchronous = OFF; PRAGMA cache_size = -1000000;");
  const inserts = new Map<string, ReturnType<DatabaseSync["prepare"]>>();
  let rows = 0;
  database.exec("BEGIN");
  for (const [table, row] of rowsOf(filling, Date.now())) {
    let insert = inserts.get(table);
    if (!insert) {
      const names = Object.keys(row);
      insert = database.prepare(`INSERT INTO ${table} (${names.join()}) VALUES (${names.map(() => "?").join()})`);
      inserts.set(table, insert);
    }
    insert.run(...(Object.values(row) as SQLInputValue[]));
    rows += 1;
    if (rows % ROWS_PER_TRANSACTION === 0) database.exec("COMMIT; BEGIN");
  }
  database.exec(FILL_PERSON_TOTALS);
  database.exec("COMMIT; PRAGMA wal_checkpoint(TRUNCATE);");
  database.close();
}

/** Fills the database of a server that has run once. Statistics are brought up to date, as autovacuum would in a minute. */
export async function fillPostgres(url: string, filling: Filling): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query("SET synchronous_commit = off");
  const waiting = new Map<string, Row[]>();

  async function flush(table: string, rows: readonly Row[]): Promise<void> {
    const [first] = rows;
    if (!first) return;
    const names = Object.keys(first);
    const columns = names.map((name) => rows.map((row) => row[name]));
    const types = columns.map((column) => (column.some((value) => typeof value === "number") ? "bigint[]" : "text[]"));
    const lists = types.map((type, i) => `$${i + 1}::${type}`);
    const text = `INSERT INTO ${table} (${names.join()}) SELECT * FROM unnest(${lists.join()})`;
    await client.query(text, columns);
  }
  await client.query("BEGIN");
  // Foreign keys to questions are checked at the commit, because the referring rows may come first.
  await client.query("SET CONSTRAINTS ALL DEFERRED");
  for (const [table, row] of rowsOf(filling, Date.now())) {
    let rows = waiting.get(table);
    if (!rows) waiting.set(table, (rows = []));
    rows.push(row);
    if (table !== "questions" || rows.length < ROWS_PER_INSERT) continue;
    for (const [name, held] of waiting) await flush(name, held.splice(0));
    await client.query("COMMIT; BEGIN");
  }
  for (const [name, held] of waiting) await flush(name, held);
  await client.query(FILL_PERSON_TOTALS);
  await client.query("COMMIT");
  await client.query("VACUUM ANALYZE");
  await client.end();
}

/** Gives every row, a question before what refers to it. */
function* rowsOf(filling: Filling, now: number): Rows {
  const { questions, open } = filling;
  const people = Math.max(60, Math.ceil(questions / QUESTIONS_OF_A_PERSON));
  const streams = new Map<string, number>();
  const scores = new Map<string, PersonScore>();
  const settled = questions - open;

  for (let i = 0; i < questions; i += 1) {
    const { id, agent } = storedQuestion(i);
    const asker = `open:${agent}`;
    const isOpen = i >= settled;
    const created =
      Math.floor((isOpen ? now - HOUR_MS / 2 : now - SPAN_MS + (i / settled) * (SPAN_MS - HOUR_MS)) / 1000) * 1000;
    const need = isOpen ? 5 : 1 + (i % 3);
    const expires = created + (isOpen ? 6 * HOUR_MS + (i % 3600) * 1000 : HOUR_MS);
    const isAnswered = !isOpen && i % 5 !== 0;
    const given = isAnswered ? need : i % need;
    const answerAt = (ord: number) => created + ord * 60_000;
    const settledAt = isAnswered ? answerAt(given) : expires;
    const state = isOpen ? "open" : isAnswered ? "answered" : "expired";

    yield [
      "questions",
      {
        ask_id: id,
        door: "ask-a-human",
        asker,
        kind: "choice",
        prompt: QUESTION.prompt,
        options: JSON.stringify(QUESTION.options),
        audience: JSON.stringify(QUESTION.audience),
        need,
        n: given,
        state,
        version: 1 + given + (state === "expired" ? 1 : 0),
        held: 0,
        created_at: created,
        expires_at: expires,
        last_answer_at: given > 0 ? answerAt(given) : null,
        settled_at: isOpen ? null : settledAt,
        wire: "{}",
      },
    ];
    for (let ord = 1; ord <= given; ord += 1) {
      yield* answerRows({ id, ord, person: idOf("p", (i * 3 + ord) % people), at: answerAt(ord) }, scores);
    }
    if (!isOpen) {
      const [status, principal] = [state, isAnswered ? "crowd" : "clock"];
      yield ["outcomes", { ask_id: id, status, principal, source: "ask-a-human", created_at: settledAt }];
    }
    if (created < now - DAY_MS) continue;

    const stream = `asker:${asker}`;
    for (let version = 1; version <= 1 + given + (state === "expired" ? 1 : 0); version += 1) {
      const seq = (streams.get(stream) ?? 0) + 1;
      streams.set(stream, seq);
      const at = version === 1 ? created : version <= 1 + given ? answerAt(version - 1) : expires;
      yield ["events", { stream, seq, kind: kindOf(version, given, state), ask_id: id, version, at }];
    }
    yield [
      "idempotency",
      {
        principal: asker,
        verb: "ask",
        key: id,
        body_hash: hash("sha256", id),
        object_id: id,
        expires_at: created + DAY_MS,
      },
    ];
  }
  for (let i = 0; i < people; i += 1) {
    yield [
      "participants",
      { participant_id: idOf("p", i), presented: 1, created_at: now - SPAN_MS, seen_at: now - HOUR_MS },
    ];
  }
  for (const [id, seq] of streams) yield ["streams", { id, seq, kept_from: 1 }];
  for (const [person, { periods }] of scores) {
    for (const row of periods.values()) yield ["scores", { person, ...row }];
  }
}

function* answerRows(
  { id, ord, person, at }: { id: string; ord: number; person: string; at: number },
  scores: Map<string, PersonScore>,
): Rows {
  const given = { response_id: idOf("r", `${id} ${ord}`), answer: null, selected_option: ord % 3, confidence: 4 };
  yield ["responses", { ask_id: id, person, ord, ...given, tier: "returning", network: idOf("n", person), at }];

  const before = scores.get(person);
  const streak = continueStreak(before?.streak ?? null, localDay(at, "UTC"));
  const answers = (before?.answers ?? 0) + 1;
  const earned = { category: "product", points: 5, capped_points: 5, entries: '{"base":5}' };
  const counted = { day: streak.day, streak_days: streak.days, early: 0, night: 0, speedy: 0, confident: 0 };
  yield ["ledger", { person, ask_id: id, at, ...earned, ...counted }];

  const badges = before?.badges ?? new Set();
  const byCategory = { product: answers };
  const facts = { answers, points: 5 * answers, byCategory, longestStreak: streak.days, ...counted };
  for (const badge of newBadges(facts, badges)) {
    badges.add(badge);
    yield ["badges", { person, badge, ask_id: id, at }];
  }
  const periods = before?.periods ?? new Map<string, PeriodRow>();
  for (const period of PERIODS) {
    const from_at = periodStart(period, at);
    const row = periods.get(`${period} ${from_at}`) ?? { period, from_at, points: 0, answers: 0, reached_at: 0 };
    periods.set(`${period} ${from_at}`, {
      ...row,
      points: row.points + 5,
      answers: row.answers + 1,
      reached_at: Math.max(row.reached_at, at),
    });
  }
  scores.set(person, { streak, answers, badges, periods });
}

function kindOf(version: number, given: number, state: string): string {
  if (version === 1) return "ask.created";
  if (version > 1 + given) return "ask.expired";
  return version === 1 + given && state === "answered" ? "ask.answered" : "ask.response";
}

/** Ids look like the server's, and follow from the place. */
function idOf(prefix: string, of: number | string): string {
  const text = hash("sha256", `${prefix} ${of}`, "base64url");
  return `${prefix}_${text.replace(/[-_]/g, "0").slice(0, 22)}`;
}
