import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { gunzipSync } from "node:zlib";
import pg from "pg";
import { EXPORT_WORDS } from "../../src/backup/model/archive-words.ts";
import { restoreStore } from "../../src/backup/restore-store.ts";
import { DATABASE_FILE } from "../../src/core/store/data-dir.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { SCHEMA_NUMBER } from "../../src/core/store/migrate.ts";
import { raw, sql } from "../../src/core/store/sql.ts";
import { examineStore } from "../../src/doctor/examine.ts";
import { accepted } from "../support/a2h.ts";
import { openAssignment, type AssignmentScene } from "../support/assignment.ts";
import { until } from "../support/contract.ts";
import { dropDatabase, freshDatabase } from "../support/fresh-database.ts";
import { newAnswer } from "../support/relay.ts";
import { DATABASES, openWorld, type DatabaseName, type Reply, type StoreFiles, type World } from "../support/world.ts";
import { dumpDatabase } from "./released-stores/dump-database.ts";

const RELEASED = ["0.1.0", "0.2.0"] as const;
/** Version 0.1.0 makes no exports. */
const EXPORTING = RELEASED.filter((version) => version !== "0.1.0");
const REPOS = "repos: [{ name: shop, worker: true, agent: claude }]\n";
const SETTINGS = "a2h: { entry_points: { support: { agent: support, inbox: true } } }\n";
const A2H = "/a2h/v1alpha1";

/** The keys and ids of the rows that `released-stores/make-store.ts` made, and the time. */
interface Facts {
  keys: Record<"agent" | "admin" | "executor" | "assign" | "responder" | "answer", string>;
  person: string;
  answered: string;
  open: string;
  settled: string;
  pending: string;
  conversation: number;
  madeAt: number;
  installationKey: string;
}

interface Released extends AssignmentScene {
  facts: Facts;
  get(path: string, key: keyof Facts["keys"]): Promise<Reply>;
  post(path: string, key: keyof Facts["keys"], body?: unknown): Promise<Reply>;
}

const fileOf = (name: string) => readFileSync(join(import.meta.dirname, "released-stores", name));
const factsOf = (version: string) => JSON.parse(fileOf(`${version}.json`).toString()) as Record<DatabaseName, Facts>;

async function openReleased(version: string, on: DatabaseName): Promise<Released> {
  const facts = factsOf(version)[on];
  return openStore(on, facts, {
    sqlite: gunzipSync(fileOf(`${version}-sqlite.db.gz`)),
    postgres: gunzipSync(fileOf(`${version}-postgres.sql.gz`)).toString(),
    installationKey: facts.installationKey,
  });
}

/** Opens what a restore has made of a file that the version wrote, which holds the SQLite store. */
async function openRestored(version: string, file: string, on: DatabaseName): Promise<Released> {
  const { sqlite: facts } = factsOf(version);
  const folder = mkdtempSync(join(tmpdir(), "parley-imported-"));
  const databaseUrl = on === "postgres" ? await freshDatabase() : undefined;
  try {
    const [path, dataDir] = [join(folder, "store"), join(folder, "data")];
    writeFileSync(path, gunzipSync(fileOf(`${version}-${file}.gz`)));
    const { signal } = new AbortController();
    const how = {
      words: EXPORT_WORDS,
      epoch: { clock: systemClock, keeps: ["access", "messages"] as const },
      onProgress: () => undefined,
      signal,
    };
    await restoreStore(path, { dataDir, databaseUrl, databaseWaitMs: 60_000 }, how);
    return await openStore(on, facts, {
      sqlite: databaseUrl === undefined ? readFileSync(join(dataDir, DATABASE_FILE)) : Buffer.alloc(0),
      postgres: databaseUrl === undefined ? "" : await readDatabase(databaseUrl),
      installationKey: readFileSync(join(dataDir, "installation.key"), "utf8"),
    });
  } finally {
    if (databaseUrl !== undefined) await dropDatabase(databaseUrl);
    rmSync(folder, { recursive: true });
  }
}

async function readDatabase(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await dumpDatabase(client);
  } finally {
    await client.end();
  }
}

async function openStore(on: DatabaseName, facts: Facts, store: StoreFiles): Promise<Released> {
  const scene = await openAssignment(on, { repos: REPOS, settings: SETTINGS, store, at: facts.madeAt + 1000 });
  const { world } = scene;
  const headersOf = (key: keyof Facts["keys"]) => ({ authorization: `Bearer ${facts.keys[key]}` });
  return {
    ...scene,
    facts,
    get: (path, key) => world.call("GET", path, { headers: headersOf(key) }),
    post: (path, key, body) =>
      world.call("POST", path, { headers: headersOf(key), ...(body !== undefined && { body }) }),
  };
}

/** Returns every row of every table, but for what a start itself notes. */
async function rowsOf({ server: { ctx } }: World): Promise<Record<string, unknown[]>> {
  const tables = await ctx.db.all<{ name: string }>(
    ctx.db.dialect === "sqlite"
      ? sql`SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY name`
      : sql`SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public' ORDER BY 1`,
  );
  const found: Record<string, unknown[]> = {};
  for (const { name } of tables.filter((one) => !["meta", "policy_servers", "keys"].includes(one.name))) {
    const rows = await ctx.db.all(raw(`SELECT * FROM ${name}`));
    found[name] = rows.map((row) => JSON.stringify(row)).sort();
  }
  return found;
}

/** Returns the columns, constraints and indexes of a store on PostgreSQL; a constraint's name may be of an earlier table. */
async function shapeOf({ server: { ctx } }: World): Promise<unknown[]> {
  return ctx.db.all(
    sql`SELECT table_name AS "on", concat_ws(' ', column_name, data_type, collation_name, is_nullable, column_default,
        is_identity) AS part FROM information_schema.columns WHERE table_schema = 'public'
      UNION ALL SELECT conrelid::regclass::text, pg_get_constraintdef(oid) FROM pg_constraint
        WHERE connamespace = 'public'::regnamespace
      UNION ALL SELECT tablename, indexdef FROM pg_indexes
        WHERE schemaname = 'public' AND indexname NOT IN (SELECT conname FROM pg_constraint)
      ORDER BY 1, 2`,
  );
}

/** The doctor finds nothing. */
async function assertSound({ server }: World): Promise<void> {
  const findings = await examineStore(server.ctx, { quick: false });
  assert.deepEqual(
    findings.filter(({ offenders }) => offenders.length > 0),
    [],
  );
}

/** Every object reads as the released version left it. */
async function assertWhole({ facts, get }: Released): Promise<void> {
  const question = accepted(await get(`/agent/questions/${facts.answered}`, "agent"));
  assert.deepEqual([question.status, question.current_responses], ["CLOSED", 2]);
  const outcomes = ["approved", "rejected", "open", "granted"].map(async (id) => {
    const { status } = accepted(await get(`${A2H}/function_calls/${id}`, "agent"));
    return [status.approved ?? null, status.comment ?? null];
  });
  assert.deepEqual(await Promise.all(outcomes), [
    [true, null],
    [false, "Not this one."],
    [null, null],
    [true, null],
  ]);
  const contact = accepted(await get(`${A2H}/human_contacts/contact`, "agent"));
  assert.equal(contact.status.response, "The one in Lyon.");
  const { grants } = accepted(await get("/admin/policy", "admin"));
  assert.deepEqual(
    grants.map(({ action, agent, live }: Record<string, unknown>) => [action, agent, live]),
    [["deploy", "support", true]],
  );
  const { endpoints, items = endpoints } = accepted(await get(`${A2H}/webhook_endpoints`, "agent"));
  assert.equal(items[0].url, "http://127.0.0.1:9/told");

  const answer = accepted(await get(`/asks/${facts.settled}/answer`, "executor"));
  assert.deepEqual([answer.status, answer.answer_text], ["ANSWERED", "EUR"]);
  const pending = await get(`/asks/${facts.pending}/answer?wait=0`, "executor");
  assert.deepEqual([pending.status, pending.text], [204, ""]);

  const spoken = accepted(await get(`/people/me/conversations/${facts.conversation}`, "answer"));
  assert.deepEqual(
    spoken.messages.map(({ text, taken }: Record<string, unknown>) => [text, taken]),
    [
      ["Where is my order?", true],
      ["It is the blue one.", false],
    ],
  );

  const { tasks } = accepted(await get("/assignment", "assign"));
  assert.deepEqual(
    tasks.map(({ id, state, dependencies }: Record<string, unknown>) => [id, state, dependencies]),
    [
      ["begun", "queued", []],
      ["waiting", "blocked", ["begun"]],
    ],
  );
  const begun = accepted(await get("/assignment/tasks/begun", "assign"));
  assert.deepEqual([begun.prompt, begun.attempts.length], ["Add a header", 1]);
}

for (const version of RELEASED) {
  for (const on of DATABASES) {
    describe(`a store of ${version}, on ${on}`, () => {
      it("is upgraded at the start with all that is in it, and a second start changes nothing", async () => {
        await using scene = await openReleased(version, on);
        const { world } = scene;
        const { db } = world.server.ctx;
        const [newest] = await db.all<{ number: number }>(sql`SELECT max(number) AS number FROM migrations`);
        assert.equal(newest?.number, SCHEMA_NUMBER);
        await until(async () => (await db.all(sql`SELECT 1 AS one FROM audit WHERE seq IS NULL`)).length === 0);
        // Nothing listens at the endpoint: each event is tried once, and again only once the clock has moved.
        const untried = sql`SELECT 1 AS one FROM webhook_events WHERE state = 'pending' AND error IS NULL`;
        await until(async () => (await db.all(untried)).length === 0);
        const rows = await rowsOf(world);
        const { assignment } = world.server.ctx;
        await world.restart();
        world.server.ctx.assignment = assignment;
        assert.deepEqual(await rowsOf(world), rows);
        await assertSound(world);
        await assertWhole(scene);
      });

      if (on === "postgres") {
        it("has the tables of a new store then", async () => {
          await using scene = await openReleased(version, on);
          await using fresh = await openWorld({ on });
          assert.deepEqual(await shapeOf(scene.world), await shapeOf(fresh));
        });
      }

      it("goes on: what was open is answered and decided, by the keys and people of before", async () => {
        await using scene = await openReleased(version, on);
        const { world, facts, get, post } = scene;
        for (const name of ["dora", "emil"]) {
          const reply = await world.person(name).answer(facts.open, 0);
          assert.equal(reply.status, 201, reply.text);
        }
        const question = accepted(await get(`/agent/questions/${facts.open}`, "agent"));
        assert.deepEqual([question.status, question.current_responses], ["CLOSED", 3]);
        accepted(await post(`${A2H}/agent/function_calls/open/respond`, "answer", { approved: true }));
        const { status } = accepted(await get(`${A2H}/function_calls/open`, "agent"));
        assert.equal(status.approved, true);

        const spec = { fn: "deploy", kwargs: { env: "staging" } };
        const again = accepted(
          await post(`${A2H}/function_calls`, "agent", { run_id: "run_2", call_id: "again", spec }),
        );
        assert.deepEqual([again.status.approved, again.status.user_info.via], [true, "policy"]);

        const { items } = accepted(await get(`${A2H}/conversations`, "agent"));
        assert.deepEqual(
          items.map(({ spec: { message } }: { spec: { message: string } }) => message),
          ["It is the blue one."],
        );
        const ask = { ask_id: facts.pending, job_id: "job", step_id: "two" };
        accepted(await post("/answers", "responder", newAnswer(ask, { answer_text: "France" })));
        const answer = accepted(await get(`/asks/${facts.pending}/answer`, "executor"));
        assert.deepEqual([answer.status, answer.answer_text], ["ANSWERED", "France"]);
        await assertSound(world);
      });
    });
  }
}

for (const version of EXPORTING) {
  for (const on of DATABASES) {
    describe(`an export of ${version}, on ${on}`, () => {
      it("is imported into the tables that it names, which are upgraded with all that is in them", async () => {
        await using scene = await openRestored(version, "export.jsonl", on);
        await assertSound(scene.world);
        await assertWhole(scene);
      });
    });
  }
}

describe("a backup of 0.2.0, a tar with the SQLite database", () => {
  it("is restored, and upgraded with all that is in it", async () => {
    await using scene = await openRestored("0.2.0", "backup.tar", "sqlite");
    await assertSound(scene.world);
    await assertWhole(scene);
  });
});
