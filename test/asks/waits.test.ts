import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { sql } from "../../src/core/store/sql.ts";
import { DAY, fresh, isHeldFor, MINUTE, until } from "../support/contract.ts";
import { assertRelayError, claim } from "../support/jobs.ts";
import { answer, gist, invalidQuery, newAsk, openRelayScene, sharedRelay } from "../support/relay.ts";
import { DATABASES, type Reply } from "../support/world.ts";

/** Returns the result of a request while the clock moves on step by step. */
async function whileTimePasses<T>(work: Promise<T>, step: () => Promise<void>): Promise<T> {
  let isOver = false;
  const ended = work.finally(() => (isOver = true));
  await until(async () => isOver || void (await step()));
  return ended;
}

for (const on of DATABASES) {
  describe(`waiting for answers on ${on}`, () => {
    const scene = sharedRelay(on);
    const service = async () => scene().program({ name: fresh("service"), scope: "answer" });

    it("returns at once where nobody wants to wait, and says in which stage the ask is", async () => {
      const { ana, ask, withPeople } = scene();
      const one = await ask();
      await withPeople(one);
      for (const wait of ["0", "0s", "0ms", "0.0m"]) {
        const reply = await ana.get(`/asks/${one.ask_id}/answer?wait=${wait}`);
        assert.deepEqual([reply.status, reply.text, reply.headers.get("parley-ask-stage")], [204, "", "people"]);
        assert.equal(reply.headers.get("cache-control"), "no-store");
      }
    });

    it("understands no other way to say how long", async () => {
      const { ana, ask } = scene();
      const one = await ask();
      for (const wait of ["-1", "1h", "s", "1 s", "1e3", "Infinity", ".5"]) {
        const reply = await ana.get(`/asks/${one.ask_id}/answer?wait=${encodeURIComponent(wait)}`);
        assertRelayError(reply, 400, invalidQuery({ field: "wait", constraint: "format" }));
      }
    });

    it("waits as long as it is told to, at most as long as the server allows, and no shorter", async () => {
      const { ana, ask, withPeople, world } = scene();
      const one = await ask();
      await withPeople(one);
      // No loop of the server sleeps for as long as one of these.
      for (const [wait, ms] of [
        ["?wait=507ms", 507],
        ["?wait=21", 21_000],
        ["?wait=0.11m", 6600],
        ["?wait=10m", 25_000],
        ["", 25_000],
      ] as const) {
        const reply = ana.get(`/asks/${one.ask_id}/answer${wait}`);
        await until(async () => world.clock.isAwaited(ms));
        await world.advance(ms - 1);
        assert.equal(await isHeldFor(world, 1, reply), true, wait);
        await world.advance(1);
        assert.equal((await reply).status, 204);
      }
    });

    it("wakes whoever waits with the answer, and gives it to whoever comes later", async () => {
      const { ana, ask, withPeople, world } = scene();
      const one = await ask();
      await withPeople(one);
      const waiting = ana.get(`/asks/${one.ask_id}/answer?wait=25s`);
      assert.equal(await isHeldFor(world, 25_000, waiting), true);
      const given = await answer(await service(), one, { answer_text: "EUR" });
      const replies = [await waiting, await ana.get(`/asks/${one.ask_id}/answer`)];
      for (const { status, body } of replies) assert.deepEqual([status, body], [200, given.body]);
    });

    it("loses no wake-up when answers and waits meet", async () => {
      const { ana, ask } = scene();
      const by = await service();
      for (let i = 0; i < 10; i += 1) {
        const asks = await Promise.all(Array.from({ length: 4 }, () => ask()));
        const waits = asks.map((one) => ana.get(`/asks/${one.ask_id}/answer?wait=25s`));
        await Promise.all(asks.map((one) => answer(by, one, { answer_text: one.ask_id })));
        for (const [j, reply] of (await Promise.all(waits)).entries()) {
          assert.deepEqual([reply.status, reply.body.answer_text], [200, asks[j].ask_id]);
        }
        await scene().world.advance(100);
      }
    });

    it("ends what nobody answered by the deadline its asker set, and wakes whoever waits", async () => {
      const { ana, ask, world, withPeople, eventsOf } = scene();
      const one = await ask({ constraints: { timeout_s: 5 } });
      await withPeople(one);
      const reply = await whileTimePasses<Reply>(ana.get(`/asks/${one.ask_id}/answer?wait=20s`), () =>
        world.advance(250),
      );
      assert.equal(reply.status, 200);
      const { status, error, error_code, source, created_at: at } = reply.body;
      assert.deepEqual([status, error_code, source], ["TIMEOUT", "E_TIMEOUT", "server"]);
      assert.equal(error, "E_TIMEOUT: no answer within 5 s");
      assert.ok(at >= one.expires_at && at <= one.expires_at + 1000, `${at} is late`);
      await until(async () => (await ana.get(`/jobs/${one.job_id}`)).body.state === "RUNNING");
      assert.deepEqual(await eventsOf(one.job_id), [
        "status RUNNING",
        "log ask.created",
        "status WAITING_ON_ANSWER",
        `answer ${one.ask_id}`,
        "log answer.recorded",
        "status RUNNING",
      ]);
    });

    it("is refused by people and services past its deadline, which keeps what they said", async () => {
      const { ask, world, person, withPeople, eventsOf } = scene();
      const [by, dana] = [await service(), await person()];
      for (const who of [by, dana.by]) {
        const one = await ask({ constraints: { timeout_s: 5 } });
        await withPeople(one);
        await world.advance(5000);
        const late = await answer(who, one, { answer_text: "EUR, sorry" });
        const [row] = await world.server.ctx.db.all<{ created_at: number }>(
          sql`SELECT created_at FROM answers WHERE ask_id = ${one.ask_id}`,
        );
        const closed = {
          code: "ASK_CLOSED",
          message: "The Ask is closed",
          details: { status: "TIMEOUT", at: row?.created_at },
        };
        assertRelayError(late, 410, closed);
        assertRelayError(await answer(who, one, { answer_text: "EUR, sorry" }), 410, closed);
        const kept = await world.server.ctx.db.all(
          sql`SELECT principal, status, answer_text FROM late_answers WHERE ask_id = ${one.ask_id}`,
        );
        const principal = who === by ? by.principal : dana.id;
        assert.deepEqual(kept, [{ principal, status: "ANSWERED", answer_text: "EUR, sorry" }]);
        const events = await eventsOf(one.job_id);
        assert.equal(events.filter((event) => event === "log answer.late").length, 1);
      }
    });

    it("gives people a day where the asker set no deadline", async () => {
      const { ana, ask, world, withPeople, answerTo } = scene();
      const one = await ask();
      await withPeople(one);
      const { expires_at, created_at, constraints, stage } = (await ana.get(`/asks/${one.ask_id}`)).body;
      assert.deepEqual([expires_at - created_at, constraints.timeout_s, stage], [DAY, 60, "people"]);
      await world.advance(2 * MINUTE);
      assert.equal((await ana.get(`/asks/${one.ask_id}`)).body.status, "PENDING");
      await world.advance(DAY - 2 * MINUTE);
      assert.equal((await ana.get(`/asks/${one.ask_id}`)).body.status, "TIMEOUT");
      assert.equal((await answerTo(one)).error, "E_TIMEOUT: no answer within 86400 s");
    });

    it("keeps the lease of whoever waits", async () => {
      const { ana, ask, queue, world, withPeople } = scene();
      const { job_id, kind } = await queue();
      const held = await claim(ana, kind);
      const one = await ask({ job_id }, ana, held.lease);
      await withPeople(one);
      await whileTimePasses(ana.get(`/asks/${one.ask_id}/answer?wait=25s`), () => world.advance(500));
      const { body } = await ana.get(`/jobs/${job_id}`);
      assert.deepEqual([body.state, body.epoch], ["WAITING_ON_ANSWER", 1]);
    });
  });

  describe(`deadlines that loops have not seen on ${on}`, () => {
    it("are over for whoever reads, before any loop has run", async () => {
      await using scene = await openRelayScene(on);
      const { ana, ask, withPeople, answerTo, world } = scene;
      const job_id = fresh("J");
      const [read, polled, listed] = [
        await ask({ job_id, constraints: { timeout_s: 1 } }),
        await ask({ job_id, constraints: { timeout_s: 1 } }),
        await ask({ job_id, constraints: { timeout_s: 1 }, ask_type: "APPROVAL" }),
      ];
      for (const one of [read, polled, listed]) await withPeople(one);
      const answered = await ask({ job_id, prompt: "In time?", constraints: { timeout_s: 1 } });
      await withPeople(answered);
      const by = await scene.program({ name: fresh("service"), scope: "answer" });
      await answer(by, answered, { answer_text: "yes" });
      // The store's clock alone moves: no loop wakes.
      world.clock.oversleep(on === "sqlite" ? 1000 : 0);
      if (on === "postgres") await world.advance(1000);
      assert.equal((await ana.get(`/asks/${read.ask_id}`)).body.status, "TIMEOUT");
      assert.deepEqual(gist((await ana.get(`/asks/${polled.ask_id}/answer?wait=0`)).body), {
        status: "TIMEOUT",
        source: "server",
        error: "E_TIMEOUT: no answer within 1 s",
      });
      const { asks } = (await ana.get(`/jobs/${job_id}/asks`)).body;
      const statuses = asks.map(({ answer: given }: { answer: { status: string } }) => given.status);
      assert.deepEqual(statuses.sort(), ["ANSWERED", "TIMEOUT", "TIMEOUT", "TIMEOUT"]);
      assert.equal((await answerTo(answered)).answer_text, "yes");
      assert.deepEqual((await ana.post("/asks", newAsk({ job_id }))).status, 202);
    });
  });
}
