import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { Context } from "../../src/context.ts";
import { DATABASE_FILE } from "../../src/core/store/data-dir.ts";
import { sql, type Sql } from "../../src/core/store/sql.ts";
import { openSqlite } from "../../src/core/store/sqlite/sqlite.ts";
import { yieldToEventLoop } from "../../src/lib/event-loop.ts";
import { followFeed } from "../../src/questions/follow-feed.ts";
import { identifyForRead } from "../../src/questions/identify.ts";
import { listOpen } from "../../src/questions/list-open.ts";
import { readFeed } from "../../src/questions/read-feed.ts";
import { MINUTE, ROOMY, fresh } from "../support/contract.ts";
import { DATABASES, openWorld, type Reply, type World } from "../support/world.ts";

const idsIn = (reply: Reply): string[] =>
  (reply.body.questions as { question_id: string }[]).map((question) => question.question_id);
const isOpenRead = ({ sql: text }: Sql): boolean => /state = 'open' AND held = 0/.test(text);
const stranger = { viewer: "somebody", tags: [], limit: 50 } as const;

/** The server's context, whose database does `before` and `after` around each read of the open questions. */
function watched(world: World, around: { before?: () => void; after?: () => Promise<void> }): Context {
  const { ctx } = world.server;
  const db = {
    ...ctx.db,
    async all<Row>(statement: Sql): Promise<Row[]> {
      if (!isOpenRead(statement)) return ctx.db.all<Row>(statement);
      around.before?.();
      const rows = await ctx.db.all<Row>(statement);
      await around.after?.();
      return rows;
    },
  };
  return { ...ctx, db };
}

for (const on of DATABASES) {
  describe(`the open questions that readers share on ${on}`, () => {
    it("are read once for all who ask at the same time, and again after a change", async () => {
      await using world = await openWorld({ on });
      let reads = 0;
      const ctx = watched(world, { before: () => (reads += 1) });
      const together = <T>(read: () => Promise<T>) => Promise.all(Array.from({ length: 40 }, read));
      for (let round = 1; round <= 3; round += 1) {
        const { id } = await world.agent(fresh("ana-bot")).ask();
        for (const { entries } of await together(() => listOpen(ctx))) {
          assert.equal(entries.length, round);
          assert.ok(entries.some((entry) => entry.id === id));
        }
        assert.equal(reads, round);
      }

      // Pages want the clock first: on PostgreSQL, as many have it at the same time as there are connections.
      for (const page of await together(() => readFeed(ctx, null, stranger))) assert.equal(page?.asks.length, 3);
      if (on === "sqlite") assert.equal(reads, 3, "nothing has changed");
      else assert.ok(reads - 3 <= 8, `${reads - 3} reads for 40 pages`);
    });

    it("are read once per change for all streams of a server", async () => {
      await using world = await openWorld({ on });
      let reads = 0;
      const feed = followFeed(watched(world, { before: () => (reads += 1) }));
      const gone = new AbortController();
      const seenBy = Array.from({ length: 30 }, () => new Set<string>());
      const following = seenBy.map(async (ids) => {
        for await (const { questionId } of feed.changes(gone.signal)) ids.add(questionId);
      });
      const passUntil = async (isTrue: () => boolean) => {
        for (let turns = 0; turns < 4000 && !isTrue(); turns += 1) {
          await world.advance(10);
          await yieldToEventLoop();
        }
        assert.ok(isTrue());
      };
      await passUntil(() => reads > 0);
      for (let i = 0; i < 20; i += 1) await yieldToEventLoop();

      const before = reads;
      const { id } = await world.agent("ana-bot").ask();
      await passUntil(() => seenBy.every((ids) => ids.has(id)));
      // Time runs fast here, so that the follower may look once more because all was quiet.
      assert.ok(reads - before <= 3, `${reads - before} reads for 30 streams`);
      gone.abort();
      await Promise.all(following);
    });

    it("give everybody the page that they would get by themselves", async () => {
      await using world = await openWorld({ on, env: ROOMY });
      const ids: string[] = [];
      for (let i = 0; i < 12; i += 1) {
        const question = { min_responses: 2 + (i % 3), timeout_seconds: 60 + i * 600, audience: ["product"] };
        ids.push((await world.agent(fresh("ana-bot")).ask(question)).id);
      }
      const people = world.people(5);
      for (const [i, person] of people.entries()) {
        await person.answer(ids[i + 4] ?? "", "yes");
        await person.post(`/human/questions/${ids[i + 5]}/skip`);
      }
      // The first question has run out of time by now, and nothing was committed since.
      await people[0]?.get("/human/questions");
      await world.advance(MINUTE);

      const together = await Promise.all(people.map((person) => person.get("/human/questions?limit=5")));
      const { ctx } = world.server;
      for (const [i, person] of people.entries()) {
        const alone = { ...ctx, db: { ...ctx.db } };
        const fingerprint = ctx.keyring.mac("fingerprint", person.headers["x-fingerprint"] ?? "");
        const identity = await identifyForRead(alone, { fingerprint, network: "" });
        assert.ok(identity);
        const shown = await readFeed(alone, identity, { viewer: identity.person, tags: [], limit: 5 });
        const reply = together[i] ?? assert.fail();
        assert.deepEqual(
          idsIn(reply),
          shown?.asks.map(({ id }) => id),
        );
        const left = ids.filter((_, place) => place > 0 && place !== i + 4 && place !== i + 5);
        const rest = await person.get(`/human/questions?limit=50&cursor=${reply.body.next_cursor}`);
        assert.deepEqual([...idsIn(reply), ...idsIn(rest)].toSorted(), left.toSorted());
      }
    });

    it("are never older than the request, though a read is under way that began before a write", async () => {
      await using world = await openWorld({ on });
      const agent = world.agent("ana-bot");
      let atRows = () => {};
      let goOn = () => {};
      const hasRows = new Promise<void>((resolve) => (atRows = resolve));
      const mayGoOn = new Promise<void>((resolve) => (goOn = resolve));
      const ctx = watched(world, {
        async after() {
          atRows();
          await mayGoOn;
        },
      });
      const early = readFeed(ctx, null, stranger);
      await hasRows;
      const { id } = await agent.ask();
      const late = [readFeed(ctx, null, stranger), readFeed(ctx, null, stranger)];
      for (let i = 0; i < 20; i += 1) await yieldToEventLoop();
      goOn();
      assert.deepEqual((await early)?.asks, []);
      for (const page of await Promise.all(late))
        assert.deepEqual(
          page?.asks.map((question) => question.id),
          [id],
        );
    });

    it("show what was just acknowledged, however many read meanwhile", async () => {
      await using world = await openWorld({ on, env: ROOMY });
      let isOver = false;
      const [bo, cy] = [world.person("bo"), world.person("cy")];
      const crowd = Array.from({ length: 4 }, async () => {
        while (!isOver) assert.equal((await cy.get("/human/questions?limit=50")).status, 200);
      });
      for (let i = 0; i < 10; i += 1) {
        const { id } = await world.agent(fresh("ana-bot")).ask({ min_responses: 1 });
        assert.ok(idsIn(await bo.get("/human/questions?limit=50")).includes(id));
        await bo.answer(id, "yes");
        assert.deepEqual(idsIn(await cy.get("/human/questions?limit=50")), []);
      }
      isOver = true;
      await Promise.all(crowd);
    });
  });
}

describe("the open questions that readers share", () => {
  it("hold what another server has written, on PostgreSQL", async () => {
    await using world = await openWorld({ on: "postgres", env: ROOMY });
    const other = await world.addNode();
    const bo = world.person("bo");
    for (let i = 0; i < 5; i += 1) {
      const { id } = await world.agent("ana-bot").ask({ min_responses: 1 }, other);
      assert.deepEqual(idsIn(await bo.get("/human/questions")), [id]);
      await world.person("cy").answer(id, "yes", {}, other);
      assert.deepEqual(idsIn(await bo.get("/human/questions")), []);
    }
  });

  it("hold what a command beside the server has written, on SQLite", async () => {
    await using world = await openWorld({ on: "sqlite" });
    const { id } = await world.agent("ana-bot").ask();
    const bo = world.person("bo");
    assert.deepEqual(idsIn(await bo.get("/human/questions")), [id]);
    const path = join(world.config.dataDir, DATABASE_FILE);
    const beside = openSqlite({ path, clock: world.clock, onFatal: (error) => assert.fail(error) });
    await beside.transact((tx) => tx.all(sql`UPDATE questions SET held = 1 WHERE ask_id = ${id}`));
    assert.deepEqual(idsIn(await bo.get("/human/questions")), []);
    await beside.close();
  });
});
