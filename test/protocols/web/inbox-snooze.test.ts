import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createKey } from "../../../src/access/create-key.ts";
import { sql } from "../../../src/core/store/sql.ts";
import { followInbox } from "../../../src/requests/inbox/follow-inbox.ts";
import { removeHuman } from "../../../src/requests/end/remove-human.ts";
import type { Audience } from "../../../src/requests/model/request.ts";
import { askPeople, enrol, toPerson } from "../../support/addressed.ts";
import { advanceUntil, DAY, fresh, HOUR, MINUTE, sharedWorld, wireNow } from "../../support/contract.ts";
import { saidOf } from "../../support/identities.ts";
import { DATABASES, type World } from "../../support/world.ts";

interface Line {
  id: string;
  snoozed_until: string | null;
  alike: { count: number } | null;
}

/** Somebody with a key, and their inbox. */
async function somebody(world: World, name: string, more: Parameters<typeof enrol>[3] = {}) {
  const { ctx } = world.server;
  const id = await enrol(ctx, name, [], more);
  const { text } = await createKey(ctx, { name: fresh("phone"), scope: "answer", person: id });
  const headers = { authorization: `Bearer ${text}` };
  const get = (path: string) => world.call("GET", `/people/me/${path}`, { headers });
  return {
    id,
    ask: (more: Parameters<typeof askPeople>[1] = {}) =>
      askPeople(ctx, { ref: fresh("call"), audience: toPerson(id), ...more }),
    get,
    list: async (query = "") => {
      const { asks, counts } = (await get(`asks${query}`)).body;
      return { ids: (asks as Line[]).map((line) => line.id), lines: asks as Line[], counts };
    },
    snooze: (ask: string, until: unknown) =>
      world.call("POST", `/people/me/asks/${ask}/snooze`, { headers, body: { until } }),
    wake: (ask: string) => world.call("DELETE", `/people/me/asks/${ask}/snooze`, { headers }),
    decide: (ask: { id: string; digest: string | null }) =>
      world.call("POST", `/people/me/asks/${ask.id}/decision`, {
        headers,
        body: { approved: true, digest: ask.digest },
      }),
  };
}

const ANY = (...people: readonly { id: string }[]): Audience => ({
  kind: "any",
  of: people.map(({ id }) => ({ afterMs: 0, node: toPerson(id) })),
});

for (const on of DATABASES) {
  describe(`a request that is put aside, on ${on}`, () => {
    const world = sharedWorld({ on });
    const at = (afterMs: number) => wireNow(world(), afterMs);
    const snoozesOf = async (id: string) =>
      (
        await world().server.ctx.db.all<{ person: string }>(
          sql`SELECT person FROM request_snoozes WHERE ask_id = ${id} ORDER BY person`,
        )
      ).map(({ person }) => person);

    it("leaves the list and the counts of one person, and comes back by the clock", async () => {
      const ana = await somebody(world(), "Ana Ruiz");
      const bo = await somebody(world(), "Bo Lind");
      const ask = () => ana.ask({ audience: ANY(ana, bo), timeoutSeconds: 86_400 });
      const [first, second] = [await ask(), await ask()];
      assert.equal((await ana.list()).lines[0]?.alike?.count, 2);

      const until = at(HOUR);
      const reply = await ana.snooze(first.id, until);
      assert.deepEqual([reply.status, reply.body], [200, { id: first.id, snoozed_until: until }]);
      const left = await ana.list();
      assert.deepEqual([left.ids, left.counts.all, left.counts.snoozed], [[second.id], 1, 1]);
      assert.deepEqual([left.lines[0]?.snoozed_until, left.lines[0]?.alike], [null, null]);
      for (const query of ["?order=risk", "?state=open&q=ruiz", "?snoozed=false", "?kind=approval"]) {
        assert.deepEqual((await ana.list(query)).ids, left.ids, query);
      }
      const aside = await ana.list("?snoozed=true");
      assert.deepEqual([aside.ids, aside.lines[0]?.snoozed_until], [[first.id], until]);
      assert.deepEqual([aside.counts.all, aside.counts.kinds.approval], [1, 1]);
      assert.deepEqual((await ana.list("?snoozed=true&order=risk")).ids, [first.id]);
      assert.deepEqual((await ana.list("?snoozed=true&kind=reply")).ids, []);
      const { body } = await ana.get(`asks/${first.id}`);
      assert.deepEqual([body.state, body.may_decide, body.snoozed_until], ["open", true, until]);

      const others = await bo.list();
      assert.deepEqual([others.ids.toSorted(), others.counts.snoozed], [[first.id, second.id].toSorted(), 0]);
      assert.equal((await bo.get(`asks/${first.id}`)).body.snoozed_until, null);

      await world().advance(HOUR - 1000);
      assert.deepEqual((await ana.list()).ids, [second.id]);
      await world().advance(1000);
      const back = await ana.list();
      assert.deepEqual([back.ids.length, back.counts.all, back.counts.snoozed], [2, 2, 0]);
      assert.deepEqual((await ana.list("?snoozed=true")).ids, []);
    });

    it("comes back when half of the time to its deadline has passed, and its deadline goes on", async () => {
      const ana = await somebody(world(), "Ana Ruiz");
      const soon = await ana.ask({ timeoutSeconds: 600 });
      const never = await ana.ask({ timeoutSeconds: null });
      assert.equal((await ana.snooze(soon.id, at(DAY))).body.snoozed_until, at(5 * MINUTE));
      assert.equal((await ana.snooze(never.id, at(29 * DAY))).body.snoozed_until, at(29 * DAY));
      assert.deepEqual((await ana.list()).ids, []);
      await world().advance(5 * MINUTE);
      assert.deepEqual((await ana.list()).ids, [soon.id]);
      // A second time is put in place of the first, and ends sooner still.
      assert.equal((await ana.snooze(soon.id, at(DAY))).body.snoozed_until, at(2.5 * MINUTE));
      assert.equal((await ana.snooze(never.id, at(HOUR))).body.snoozed_until, at(HOUR));
      await world().advance(5 * MINUTE);
      assert.equal((await ana.get(`asks/${soon.id}`)).body.state, "expired");
      await advanceUntil(world(), 1000, async () => (await snoozesOf(soon.id)).length === 0);
    });

    it("can be taken back, be decided, and is then put aside no longer", async () => {
      const [ana, bo] = [await somebody(world(), "Ana Ruiz"), await somebody(world(), "Bo Lind")];
      const one = await ana.ask();
      await ana.snooze(one.id, at(HOUR));
      for (let time = 0; time < 2; time += 1) {
        const reply = await ana.wake(one.id);
        assert.deepEqual([reply.status, reply.body], [200, { id: one.id, snoozed_until: null }]);
      }
      assert.deepEqual((await ana.list()).ids, [one.id]);

      const both: Audience = { kind: "all", of: [toPerson(ana.id), toPerson(bo.id)] };
      const joint = await ana.ask({ audience: both, timeoutSeconds: 86_400 });
      for (const person of [ana, bo]) await person.snooze(joint.id, at(HOUR));
      assert.equal((await ana.decide(joint)).status, 200);
      assert.deepEqual(await snoozesOf(joint.id), [bo.id], "the other has not decided");
      assert.equal((await bo.decide(joint)).body.state, "answered");
      assert.deepEqual(await snoozesOf(joint.id), []);
    });

    it("is told to the person's stream when it begins and when it ends", async () => {
      const { ctx } = world().server;
      const [ana, bo] = [await somebody(world(), "Ana Ruiz"), await somebody(world(), "Bo Lind")];
      const one = await ana.ask({ timeoutSeconds: 86_400 });
      const stop = new AbortController();
      const told = followInbox(ctx, ana.id, stop.signal);
      /** Returns the first changes that the follower says next, and how far the clock went for them. */
      const look = async () => {
        const before = world().clock.now();
        for (;;) {
          let found: readonly (string | null)[] | undefined;
          const looking = told.next().then(({ value }) => (found = value as typeof found));
          await advanceUntil(world(), 100, () => found !== undefined);
          await looking;
          if (found?.length !== 0) return { said: found, tookMs: world().clock.now() - before };
        }
      };
      assert.deepEqual((await look()).said, [null]);
      await ana.snooze(one.id, at(3000));
      assert.deepEqual((await look()).said, [one.id]);
      const back = await look();
      assert.deepEqual(back.said, [one.id]);
      assert.ok(back.tookMs < 9000, "before an inbox where nothing happens is read again");
      await ana.snooze(one.id, at(HOUR));
      assert.deepEqual((await look()).said, [one.id]);
      await ana.snooze(one.id, at(2 * HOUR));
      assert.deepEqual((await look()).said, [one.id]);
      await ana.wake(one.id);
      assert.deepEqual((await look()).said, [one.id]);
      const joint = await ana.ask({ audience: ANY(ana, bo), timeoutSeconds: 86_400 });
      assert.deepEqual((await look()).said, [joint.id]);
      await ana.snooze(joint.id, at(HOUR));
      assert.deepEqual((await look()).said, [joint.id]);
      await bo.decide(joint);
      assert.deepEqual((await look()).said, [joint.id], "its card and the list of what is put aside may be on screen");
      stop.abort();
      await told.return(undefined);
    });

    it("is one of the person's own that waits, until a time that is to come", async () => {
      const [ana, bo] = [await somebody(world(), "Ana Ruiz"), await somebody(world(), "Bo Lind")];
      const one = await ana.ask();
      for (const until of [undefined, null, 5, "tomorrow", "2026-11-20", at(0), at(-HOUR), at(31 * DAY)]) {
        const reply = await ana.snooze(one.id, until);
        assert.deepEqual(saidOf(reply), { status: 400, code: "VALIDATION_ERROR" }, String(until));
        assert.equal(reply.body.error.details.field, "until");
      }
      for (const id of [one.id, "ask_unknown"]) {
        for (const reply of [await bo.snooze(id, at(HOUR)), await bo.wake(id)]) {
          assert.deepEqual(saidOf(reply), { status: 404, code: "NOT_FOUND" });
        }
      }
      assert.equal((await ana.decide(one)).status, 200);
      assert.deepEqual(saidOf(await ana.snooze(one.id, at(HOUR))), { status: 409, code: "ALREADY_DECIDED" });
      const over = await ana.get("asks?state=over&snoozed=true");
      assert.equal(over.body.error.details.field, "snoozed");
      assert.deepEqual(await snoozesOf(one.id), []);
    });

    it("stays aside for nobody who was removed", async () => {
      const [ana, bo] = [await somebody(world(), "Ana Ruiz"), await somebody(world(), "Bo Lind")];
      const one = await ana.ask({ audience: ANY(ana, bo) });
      for (const person of [ana, bo]) await person.snooze(one.id, at(HOUR));
      await removeHuman(world().server.ctx, Number(ana.id), { kind: "server", id: "test" });
      assert.deepEqual(await snoozesOf(one.id), [bo.id]);
    });

    it("leaves the list of one of those who see everything, and no other's", async () => {
      const [ana, bo] = [
        await somebody(world(), "Ana Ruiz", { seesAll: true }),
        await somebody(world(), "Bo Lind", { seesAll: true }),
      ];
      const one = await ana.ask({ audience: { kind: "leaf", target: { via: "inbox" } } });
      await ana.snooze(one.id, at(HOUR));
      assert.ok(!(await ana.list()).ids.includes(one.id));
      assert.ok((await bo.list()).ids.includes(one.id));
    });
  });
}
