import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { chmodSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { examineRows } from "../../src/doctor/store/checks.ts";
import { examineEngine, examineFiles } from "../../src/doctor/store/engine.ts";
import { raw, sql, type Sql } from "../../src/core/store/sql.ts";
import { examineStore } from "../../src/doctor/examine.ts";
import { DATABASES, openWorld, type World } from "../support/world.ts";

const MAIN = fileURLToPath(new URL("../../src/main.ts", import.meta.url));

/** A store with something of everything: open, answered, expired and cancelled asks, points, badges, used keys. */
async function lived(on: World["on"]): Promise<World> {
  const world = await openWorld({ on });
  const agent = world.agent("ana-bot");
  const [ana, bo] = world.people(2);
  assert.ok(ana && bo);
  const options = ["Send", "Submit"];
  const accept = async (reply: Promise<{ status: number }>) => assert.equal((await reply).status, 201);

  const answered = await agent.ask({ options, min_responses: 2, idempotency_key: "key-1" });
  await accept(ana.answer(answered, 0));
  await accept(bo.answer(answered, 1, { confidence: 5 }));
  const expired = await agent.ask({ options, timeout_seconds: 60, min_responses: 2 });
  await accept(ana.answer(expired, 1));
  await world.advance(61_000);
  await agent.poll(expired.id);
  await agent.cancel((await agent.ask()).id);
  const open = await agent.ask({ options, min_responses: 3 });
  await accept(
    world.call("POST", "/human/responses", {
      body: { question_id: open.id, selected_option: 0 },
      headers: { ...bo.headers, "idempotency-key": "key-2" },
    }),
  );
  return world;
}

async function broken(world: World, quick: boolean): Promise<string[]> {
  const findings = await examineRows(world.server.ctx.db, quick);
  return findings.filter(({ offenders }) => offenders.length > 0).map(({ check }) => check);
}

const ANSWERED = sql`(SELECT min(ask_id) FROM questions WHERE state = 'answered')`;
const OPEN = sql`(SELECT min(ask_id) FROM questions WHERE state = 'open')`;
const EXPIRED = sql`(SELECT min(ask_id) FROM questions WHERE state = 'expired')`;

/** A corruption that no server writes to a store, and the rule that it breaks. */
const CORRUPTIONS: readonly [what: string, check: string, ...statements: Sql[]][] = [
  ["an outcome is lost", "A1, A2", sql`DELETE FROM outcomes WHERE ask_id = ${ANSWERED}`],
  ["an outcome says something else", "A1, A2", sql`UPDATE outcomes SET status = 'expired' WHERE ask_id = ${ANSWERED}`],
  [
    "an open ask has an outcome",
    "A1, A2",
    sql`INSERT INTO outcomes (ask_id, status, principal, source, created_at) VALUES (${OPEN}, 'open', 'x', 'x', 1)`,
  ],
  ["a response is lost", "A3", sql`DELETE FROM responses WHERE ask_id = ${ANSWERED} AND ord = 1`],
  ["a count is wrong", "A3", sql`UPDATE questions SET n = n + 1 WHERE ask_id = ${OPEN}`],
  ["an ask was answered by too few", "A3", sql`UPDATE questions SET need = 50 WHERE ask_id = ${ANSWERED}`],
  [
    "a response has a number of its own",
    "A3",
    sql`UPDATE responses SET ord = 40 WHERE ask_id = ${ANSWERED} AND ord = 2`,
  ],
  [
    "a choice was answered by a text",
    "A3",
    sql`UPDATE responses SET answer = 'x', selected_option = NULL WHERE ask_id = ${ANSWERED} AND ord = 1`,
  ],
  ["a response came late", "A5", sql`UPDATE responses SET at = at + 3600000 WHERE ask_id = ${ANSWERED}`],
  ["a version was skipped", "A1", sql`UPDATE questions SET version = version + 1 WHERE ask_id = ${EXPIRED}`],
  ["an end was moved", "A1", sql`UPDATE questions SET settled_at = settled_at + 1 WHERE ask_id = ${EXPIRED}`],
  [
    "a deadline was slept through",
    "T1",
    sql`UPDATE questions SET created_at = created_at - 9000000, expires_at = parley_now() - 2001 WHERE ask_id = ${OPEN}`,
  ],
  ["an event is lost", "S1", sql`DELETE FROM events WHERE seq = 2`],
  ["a stream's number went back", "S1", sql`UPDATE streams SET seq = seq - 1`],
  [
    "a change has no event",
    "S3",
    sql`DELETE FROM events WHERE seq = (SELECT max(seq) FROM events)`,
    sql`UPDATE streams SET seq = seq - 1`,
  ],
  ["an event tells of nothing", "S3", sql`UPDATE events SET ask_id = 'q_nobody' WHERE seq = 1`],
  ["a key stands for nothing", "I1", sql`UPDATE idempotency SET object_id = 'q_nobody' WHERE verb = 'ask'`],
  ["a reply was not kept", "I1", sql`UPDATE idempotency SET reply = NULL WHERE verb = 'answer'`],
  ["a ledger row is lost", "A13", sql`DELETE FROM ledger WHERE ask_id = ${EXPIRED}`],
  [
    "a ledger row was made up",
    "A13",
    sql`INSERT INTO ledger (person, ask_id, at, category, points, capped_points, entries, day, streak_days, early, night, speedy,
      confident) SELECT person, ${OPEN}, at, category, points, capped_points, entries, day, streak_days, 0, 0, 0, 0
      FROM ledger WHERE ask_id = ${EXPIRED}`,
  ],
  ["points were added", "A13", sql`UPDATE ledger SET points = points + 1 WHERE ask_id = ${EXPIRED}`],
  ["points were moved past the cap", "A13", sql`UPDATE ledger SET capped_points = 0 WHERE ask_id = ${EXPIRED}`],
  ["a standing was improved", "A13", sql`UPDATE scores SET points = points + 1 WHERE period = 'weekly'`],
  ["a standing was made worse", "A13", sql`UPDATE scores SET reached_at = reached_at + 1 WHERE period = 'daily'`],
  ["a standing is lost", "A13", sql`DELETE FROM scores WHERE period = 'all_time'`],
  ["a streak was lengthened", "A13", sql`UPDATE ledger SET streak_days = 2 WHERE ask_id = ${EXPIRED}`],
  ["a badge was given for nothing", "A13", sql`UPDATE badges SET badge = 'answers_1000' WHERE badge = 'first_answer'`],
  ["totals were improved", "A13", sql`UPDATE person_totals SET points = points + 1`],
  ["totals have a badge less", "A13", sql`UPDATE person_totals SET badges = '[]'`],
  ["totals have another category", "A13", sql`UPDATE person_totals SET by_category = '{"ethics":1}'`],
  ["totals are lost", "A13", sql`DELETE FROM person_totals`],
  ["a badge was taken", "A13", sql`DELETE FROM badges WHERE badge = 'first_answer'`],
];

for (const on of DATABASES) {
  describe(`doctor on ${on}`, () => {
    it("finds nothing in a store that has only been used", async () => {
      await using world = await lived(on);
      for (const quick of [true, false]) {
        assert.deepEqual(await broken(world, quick), []);
        const findings = await examineStore(world.server.ctx, { quick });
        assert.deepEqual(
          findings.flatMap(({ offenders }) => offenders),
          [],
        );
      }
      await world.restart();
      assert.deepEqual(await broken(world, false), []);
    });

    it("finds everything that can be broken by hand, quick or not", async () => {
      await using world = await lived(on);
      const { db } = world.server.ctx;
      for (const [what, check, ...statements] of CORRUPTIONS) {
        await copyAll(world);
        await db.transact(async (tx) => {
          for (const statement of statements) await tx.all(statement);
        });
        for (const quick of [true, false]) {
          const found = await broken(world, quick);
          assert.ok(found.includes(check), `${what}: expected ${check}, found ${found.join("; ") || "nothing"}`);
        }
        await putBack(world);
        assert.deepEqual(await broken(world, false), [], `after "${what}" was undone`);
      }
    });

    it("finds nothing after somebody erased themselves and after retention", async () => {
      await using world = await lived(on);
      const person = world.person("cy");
      const reply = await person.answer(await world.agent("ana-bot").ask({ min_responses: 2 }), "Send");
      assert.equal(reply.status, 201);
      await world.call("DELETE", "/human/me", {
        headers: { "x-participant-token": reply.headers.get("x-participant-token") ?? "" },
      });
      assert.deepEqual(await broken(world, false), []);
    });

    it("examines the engine and the files", async () => {
      await using world = await lived(on);
      const { config, server, clock } = world;
      const look = async () => {
        const { findings } = await examineEngine(server.ctx.db, config, clock.now(), false);
        const all = [...findings, examineFiles(config)];
        return all.filter(({ offenders }) => offenders.length > 0).map(({ check }) => check);
      };
      assert.deepEqual(await look(), []);

      chmodSync(config.keyFile, 0o644);
      assert.deepEqual(await look(), ["files"]);
      chmodSync(config.keyFile, 0o600);

      await server.ctx.db.transact((tx) => tx.all(sql`INSERT INTO migrations (number, name) VALUES (999, 'later')`));
      assert.deepEqual(await look(), ["D10"]);
      await server.ctx.db.transact((tx) => tx.all(sql`DELETE FROM migrations WHERE number = 999`));
    });
  });
}

describe("the command doctor", () => {
  const doctor = (dataDir: string, ...flags: string[]) =>
    new Promise<{ code: number; out: string; err: string }>((resolve) => {
      const env = { PATH: process.env["PATH"], HOME: dataDir };
      execFile(process.execPath, [MAIN, "doctor", "--data-dir", dataDir, ...flags], { env }, (error, out, err) =>
        resolve({ code: typeof error?.code === "number" ? error.code : 0, out, err }),
      );
    });

  it("says 0, 1 or 2, beside a running server", async () => {
    await using world = await openWorld({ on: "sqlite", at: Date.now() });
    const { dataDir } = world.config;
    await world.agent("ana-bot").ask();
    const sound = await doctor(dataDir, "--json");
    assert.deepEqual([sound.code, (JSON.parse(sound.out) as { holds: boolean }).holds], [0, true]);
    assert.match((await doctor(dataDir, "--quick")).out, /Everything holds\.\n$/);

    await world.server.ctx.db.transact((tx) => tx.all(sql`UPDATE questions SET version = 7`));
    const ill = await doctor(dataDir);
    assert.equal(ill.code, 1);
    assert.match(ill.out, /BROKEN {2}A1 .*\n +q_/);

    const none = await doctor(join(dirname(dataDir), "no-such-store"));
    assert.deepEqual([none.code, none.out], [2, ""]);
    assert.match(none.err, /could not look: There is no Parley database in/);
  });

  it("notices a history that has shrunk", async () => {
    await using world = await openWorld({ on: "sqlite", at: Date.now() });
    await world.server.stop();
    writeFileSync(join(world.config.dataDir, "highwater"), "00000000000000000900 7fe2f6ee\n");
    assert.match((await doctor(world.config.dataDir)).out, /BROKEN {2}D7/);
  });
});

const CROWD = ["questions", "responses", "outcomes", "events", "streams", "idempotency"] as const;
const TABLES = [...CROWD, "ledger", "scores", "badges", "person_totals"] as const;

async function copyAll(world: World): Promise<void> {
  await world.server.ctx.db.transact(async (tx) => {
    for (const table of TABLES) await tx.all(raw(`CREATE TABLE copy_of_${table} AS SELECT * FROM ${table}`));
  });
}

async function putBack(world: World): Promise<void> {
  await world.server.ctx.db.transact(async (tx) => {
    for (const table of [...TABLES].reverse()) if (table !== "questions") await tx.all(raw(`DELETE FROM ${table}`));
    await tx.all(raw("DELETE FROM questions"));
    for (const table of TABLES) {
      await tx.all(raw(`INSERT INTO ${table} SELECT * FROM copy_of_${table}`));
      await tx.all(raw(`DROP TABLE copy_of_${table}`));
    }
  });
}
