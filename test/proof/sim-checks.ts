import { examineRows } from "../../src/doctor/store/checks.ts";
import { sql } from "../../src/core/store/sql.ts";
import { FEED_TOPIC, streamTopic } from "../../src/core/store/wake.ts";
import { NOON } from "../support/held-clock.ts";
import { type AnswerIntent, type AskIntent, isOutlived } from "./sim-ledger.ts";
import type { SimWorld } from "./sim-world.ts";

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

interface AskRow {
  ask_id: string;
  asker: string;
  prompt: string;
  state: string;
  version: number;
  n: number;
  created_at: number;
}

interface ResponseRow {
  ask_id: string;
  response_id: string;
  person: string;
  answer: string | null;
  selected_option: number | null;
  confidence: number | null;
}

/** Compares all replies to clients with the store, once nothing moves any more; then asks the doctor. */
export async function checkRest(world: SimWorld): Promise<void> {
  await checkCreations(world);
  await checkResponses(world);
  await checkReceipts(world);
  await checkCap(world);
  await checkLimits(world);
  await checkWaking(world);
  await checkNewcomers(world);
  for (const { check, promise, offenders } of await examineRows(world.store.truth, false)) {
    if (offenders.length > 0) world.broken(check, `the doctor: not so that ${promise}: ${offenders.join(", ")}`);
  }
}

/** Every acknowledged ask is there as it was last seen; every key made one; what was refused left nothing. */
async function checkCreations(world: SimWorld): Promise<void> {
  const { store, ledger, broken } = world;
  const rows = await store.truth.all<AskRow>(
    sql`SELECT ask_id, asker, prompt, state, version, n, created_at - created_at % 1000 AS created_at FROM questions
      ORDER BY questions.created_at, ask_id`,
  );
  const byId = new Map(rows.map((row) => [row.ask_id, row]));
  for (const entry of ledger.asks.values()) {
    const row = byId.get(entry.id);
    if (!row) {
      if (!isOutlived(world, entry)) broken("D1", `${entry.id} was acknowledged and is not there`);
    } else if (row.version < entry.seen || (entry.final && entry.final.state !== row.state)) {
      broken(
        "A1",
        `${entry.id} was seen at version ${entry.seen}, ${entry.final?.state}, and is at ${row.version}, ${row.state}`,
      );
    }
    const changes = ledger.commits.get(entry.id)?.length ?? 0;
    if (row && changes !== row.version - 1)
      broken("T4", `${entry.id} changed ${row.version - 1} times and woke its waiters ${changes} times`);
  }

  const byIntent = Map.groupBy(rows, (row) => `${row.asker} ${row.prompt}`);
  for (const intent of ledger.intents) {
    const id = `${intent.asker} ${intent.prompt}`;
    checkIntent(world, intent, byIntent.get(id) ?? []);
    byIntent.delete(id);
  }
  for (const [id] of byIntent) broken("D4", `nobody ever asked what ${id} asks`);
}

function checkIntent(world: SimWorld, intent: AskIntent, rows: readonly AskRow[]): void {
  const { broken } = world;
  const told = intent.entries.length;
  const what = `${intent.asker} asked ${JSON.stringify(intent.prompt)} (told of ${told}, unknown ${intent.unknown})`;
  if (rows.length > told + intent.unknown) broken("D4", `${what}, and there are ${rows.length}`);
  if (intent.key === null) return;
  rows.forEach((row, i) => {
    const before = rows[i - 1];
    if (before && row.created_at - before.created_at < DAY_MS - 1000) {
      broken("I1", `${intent.key} of ${intent.asker} made ${before.ask_id} and ${row.ask_id} within a day`);
    }
  });
  // After the end every unknown was asked again until it got a reply.
  const sameDay = world.store.now() - NOON < DAY_MS - HOUR_MS;
  if (sameDay && rows.length !== told) broken("I1", `${what} under ${intent.key}, and there are ${rows.length}`);
}

/** Every acknowledged response is there as it was given; nothing is there that nobody gave. */
async function checkResponses(world: SimWorld): Promise<void> {
  const { store, ledger, broken } = world;
  const rows = await store.truth.all<ResponseRow>(
    sql`SELECT ask_id, response_id, person, answer, selected_option, confidence FROM responses`,
  );
  const byId = new Map(rows.map((row) => [row.response_id, row]));
  const kept = new Set(
    (await store.truth.all<{ ask_id: string }>(sql`SELECT ask_id FROM questions`)).map(({ ask_id }) => ask_id),
  );
  const intentsOf = Map.groupBy(ledger.answers, ({ questionId }) => questionId);

  for (const entry of ledger.asks.values()) {
    if (!kept.has(entry.id)) continue;
    for (const id of entry.acked)
      if (!byId.has(id)) broken("D1", `response ${id} to ${entry.id} was acknowledged and is not there`);
  }
  for (const intent of ledger.answers) if (kept.has(intent.questionId)) checkAnswer(world, intent, byId, rows);

  for (const [questionId, own] of Map.groupBy(rows, ({ ask_id }) => ask_id)) {
    const intents = intentsOf.get(questionId) ?? [];
    const told = new Set(intents.flatMap(({ ids }) => [...ids]));
    const unknown = intents.reduce((sum, one) => sum + (one.known && !one.open ? 0 : one.unknown), 0);
    const untold = own.filter(({ response_id }) => !told.has(response_id));
    if (untold.length > unknown) {
      broken(
        "D4",
        `${questionId} has ${untold.length} responses nobody was told of, and ${unknown} may be: ${untold.map((row) => row.response_id).join(", ")}`,
      );
    }
  }
}

function checkAnswer(
  world: SimWorld,
  intent: AnswerIntent,
  byId: ReadonlyMap<string, ResponseRow>,
  rows: readonly ResponseRow[],
): void {
  const { broken } = world;
  const said = intent.text === null ? [] : rows.filter(({ answer }) => answer === intent.text);
  if (intent.known && said.length > 1)
    broken("A4", `${intent.who} said ${JSON.stringify(intent.text)} ${said.length} times`);
  if (said.length > 0 && intent.ids.size === 0 && intent.unknown === 0)
    broken("D4", `${intent.who} was refused, and the words are there`);
  const row = intent.response?.receipt && byId.get(intent.response.id);
  if (!row) return;
  const same =
    row.answer === intent.text &&
    row.selected_option === intent.option &&
    row.confidence === intent.confidence &&
    row.ask_id === intent.questionId &&
    row.person === intent.response?.person;
  if (!same)
    broken(
      "A13",
      `${intent.who} gave ${JSON.stringify({ ...intent, person: undefined })}, and this is stored: ${JSON.stringify(row)}`,
    );
}

/** Checks that the points and badges in people's replies are those of the ledger. */
async function checkReceipts(world: SimWorld): Promise<void> {
  const { store, ledger, broken } = world;
  const rows = await store.truth.all<{ person: string; ask_id: string; points: number; entries: string }>(
    sql`SELECT person, ask_id, points, entries FROM ledger`,
  );
  const badges = await store.truth.all<{ person: string; badge: string; ask_id: string }>(
    sql`SELECT person, badge, ask_id FROM badges`,
  );
  const byAnswer = new Map(rows.map((row) => [`${row.person} ${row.ask_id}`, row]));
  const givenFor = new Map(badges.map((row) => [`${row.person} ${row.badge}`, row.ask_id]));
  for (const { response, questionId, who } of ledger.answers) {
    if (!response?.receipt || response.person === null) continue;
    const { points, entries } = response.receipt;
    const row = byAnswer.get(`${response.person} ${questionId}`);
    if (row?.points !== points || row.entries !== JSON.stringify(entries)) {
      broken(
        "A13",
        `${who} was told of ${points} points for ${questionId}, and the ledger says ${row?.points ?? "nothing"}`,
      );
    }
    for (const badge of response.receipt.badges) {
      if (givenFor.get(`${response.person} ${badge}`) !== questionId)
        broken("A13", `${who} was told of the badge ${badge} for ${questionId}`);
    }
  }
}

/** Nobody earns more than the cap in a day of the store's. */
async function checkCap(world: SimWorld): Promise<void> {
  const over = await world.store.truth.all<{ person: string; points: number }>(
    sql`SELECT person, sum(capped_points) AS points FROM ledger GROUP BY person, at / ${DAY_MS}
      HAVING sum(capped_points) > ${world.rules.points.dailyCap}`,
  );
  for (const { person, points } of over) world.broken("A13", `${person} earned ${points} in one day`);
}

/** The windows of writing count what was accepted: no refusal and no failure has burnt a unit (I4, D4). */
async function checkLimits(world: SimWorld): Promise<void> {
  const wrong = await world.store.truth.all<{
    bucket: string;
    subject: string;
    used: number;
    least: number;
    most: number;
  }>(
    sql`SELECT w.bucket, w.subject, w.used,
        CASE w.bucket WHEN 'answers' THEN (SELECT count(*) FROM ledger l WHERE l.person = w.subject AND l.at >= w.opened_at)
          ELSE (SELECT count(*) FROM questions a WHERE a.asker = w.subject AND a.created_at - a.created_at % 1000 > w.opened_at) END AS least,
        CASE w.bucket WHEN 'answers' THEN (SELECT count(*) FROM ledger l WHERE l.person = w.subject AND l.at >= w.opened_at)
          ELSE (SELECT count(*) FROM questions a WHERE a.asker = w.subject AND a.created_at >= w.opened_at - w.opened_at % 1000) END AS most
      FROM limit_windows w
      WHERE w.bucket IN ('answers', 'questions') AND w.opened_at > (SELECT parley_now()) - ${HOUR_MS}`,
  );
  for (const { bucket, subject, used, least, most } of wrong) {
    if (used < least || used > most)
      world.broken("I4", `${subject} used ${used} of its ${bucket}, and ${least} to ${most} were accepted`);
  }
}

/** Checks that every event was to wake the followers of its stream, and all followers of the feed. */
async function checkWaking(world: SimWorld): Promise<void> {
  const { store, ledger, broken } = world;
  for (const { id, seq } of await store.truth.all<{ id: string; seq: number }>(sql`SELECT id, seq FROM streams`)) {
    const woken = ledger.topics.get(streamTopic(id)) ?? 0;
    if (woken !== seq) broken("S6", `${id} has ${seq} events and woke its followers ${woken} times`);
  }
  const changes = [...ledger.commits.values()].reduce((sum, { length }) => sum + length, 0);
  const woken = ledger.topics.get(FEED_TOPIC) ?? 0;
  if (woken < changes) broken("S6", `${changes} asks changed, and the feed was woken ${woken} times`);
}

/** Checks that the store has no fingerprint of a person who was refused every time. */
async function checkNewcomers(world: SimWorld): Promise<void> {
  const known = new Set(
    (await world.store.truth.all<{ fingerprint: string }>(sql`SELECT fingerprint FROM fingerprints`)).map(
      (row) => row.fingerprint,
    ),
  );
  for (const { name, fingerprint, writes } of world.people) {
    if (writes === 0 && fingerprint !== undefined && known.has(fingerprint)) {
      world.broken("D4", `${name} was refused every time, and a participant is there`);
    }
  }
}
