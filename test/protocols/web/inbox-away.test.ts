import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createKey } from "../../../src/access/create-key.ts";
import { sql } from "../../../src/core/store/sql.ts";
import { removeHuman } from "../../../src/requests/end/remove-human.ts";
import { followInbox } from "../../../src/requests/inbox/follow-inbox.ts";
import type { Audience } from "../../../src/requests/model/request.ts";
import { listDeliveries } from "../../../src/requests/store/deliveries.ts";
import { askPeople, enrol, providerOf, toPerson } from "../../support/addressed.ts";
import { advanceUntil, fresh, HOUR, sharedWorld, wireNow } from "../../support/contract.ts";
import { saidOf } from "../../support/identities.ts";
import { DATABASES, type World } from "../../support/world.ts";

const DAY = 24 * HOUR;

interface Line {
  id: string;
  handed_by: { id: string; name: string; note: string | null; away_until: string | null } | null;
}

let users = 0;

/** Somebody on Slack with a key, and their inbox. */
async function somebody(world: World, name: string, more: { seesAll?: boolean } = {}) {
  const { ctx } = world.server;
  const user = `UAWAY${(users += 1)}`;
  const channels = [{ channel: "slack", target: { to: user, settings: {} } }] as const;
  const id = await enrol(ctx, name, channels, { identities: [{ kind: "slack", value: user }], ...more });
  const { text } = await createKey(ctx, { name: fresh("phone"), scope: "answer", person: id });
  const headers = { authorization: `Bearer ${text}` };
  const call = (method: string, path: string, body?: unknown) =>
    world.call(method, `/people/me${path}`, { headers, ...(body !== undefined && { body }) });
  return {
    id,
    user,
    call,
    goAway: (until: string, standIn?: string) =>
      call("PUT", "/away", { until, ...(standIn !== undefined && { stand_in: standIn }) }),
    comeBack: () => call("DELETE", "/away"),
    away: async () => (await call("GET", "/away")).body,
    lines: async (query = "") => (await call("GET", `/asks${query}`)).body.asks as Line[],
    decide: (ask: { id: string; digest: string | null }) =>
      call("POST", `/asks/${ask.id}/decision`, { approved: true, digest: ask.digest }),
  };
}
type Somebody = Awaited<ReturnType<typeof somebody>>;

const any = (...nodes: readonly (Audience | Somebody)[]): Audience => ({
  kind: "any",
  of: nodes.map((node) => ({ afterMs: 0, node: "kind" in node ? node : toPerson(node.id) })),
});
const toInbox: Audience = { kind: "leaf", target: { via: "inbox" } };

for (const on of DATABASES) {
  describe(`a person who is away, on ${on}`, () => {
    const slack = providerOf("slack");
    const world = sharedWorld({ on, channels: [slack] });
    const ask = (audience: Audience, more: Partial<Parameters<typeof askPeople>[1]> = {}) =>
      askPeople(world().server.ctx, { ref: fresh("call"), audience, timeoutSeconds: 30 * 86_400, ...more });
    const three = async () =>
      [
        await somebody(world(), "Ana Ruiz"),
        await somebody(world(), "Bo Lind", { seesAll: true }),
        await somebody(world(), "Cy Moe"),
      ] as const;
    /** Who was told of a request, and by which kind of message, once nothing is left to be sent soon. */
    const told = async (id: string) => {
      const { db } = world().server.ctx;
      await advanceUntil(world(), 100, async () => {
        const now = await world().server.ctx.db.all<{ due: number }>(
          sql`SELECT count(*) AS due FROM deliveries WHERE ask_id = ${id} AND state IN ('queued', 'sending')
            AND due_at <= (SELECT parley_now()) + ${HOUR / 2}`,
        );
        return Number(now[0]?.due) === 0;
      });
      return (await listDeliveries(db, id)).flatMap(({ kind, person, state }) =>
        state === "sent" ? [`${kind} ${person}`] : [],
      );
    };

    it("says so until a time, and that they are back, with clear errors", async () => {
      const [ana, bo] = await three();
      const nobody = { from: null, until: null, stand_in: null };
      assert.deepEqual(await ana.away(), nobody);
      const until = wireNow(world(), DAY);
      const { status, body } = await ana.goAway(until, bo.id);
      assert.deepEqual([status, body.until], [200, until]);
      assert.deepEqual(body.stand_in, { id: bo.id, name: "Bo Lind", away_until: null });
      assert.deepEqual(await ana.away(), body);
      const later = wireNow(world(), 2 * DAY);
      const longer = await ana.goAway(later);
      assert.deepEqual([longer.body.from, longer.body.until, longer.body.stand_in], [body.from, later, null]);
      for (let time = 0; time < 2; time += 1) assert.deepEqual((await ana.comeBack()).body, nobody);
      const noted = await world().server.ctx.db.all<{ action: string; data: string }>(
        sql`SELECT action, data FROM audit WHERE action LIKE 'human.%' AND entry LIKE ${`%"id":"${ana.id}"%`} ORDER BY id`,
      );
      assert.deepEqual(
        noted.map(({ action }) => action),
        ["human.away", "human.away", "human.back"],
      );
      assert.deepEqual(JSON.parse(noted[0]?.data ?? ""), { stand_in: bo.id, until: Date.parse(until) });

      const wrong = [
        [wireNow(world(), -1000), undefined, "until"],
        [wireNow(world(), 367 * DAY), undefined, "until"],
        ["tomorrow", undefined, "until"],
        [until, ana.id, "stand_in"],
        [until, "999999", "stand_in"],
      ] as const;
      for (const [time, standIn, field] of wrong) {
        const reply = await ana.goAway(time, standIn);
        assert.deepEqual(saidOf(reply), { status: 400, code: "VALIDATION_ERROR" }, field);
        assert.equal(reply.body.error.details.field, field);
      }
      assert.deepEqual(await ana.away(), nobody);
    });

    it("has messages go to the stand-in, for what they may decide alone", async () => {
      const [ana, bo, cy] = await three();
      await ana.goAway(wireNow(world(), 5 * DAY), bo.id);
      const both = await ask(any(ana, toInbox));
      const own = await ask(any(ana, cy));
      assert.deepEqual(await told(both.id), [`ask ${bo.id}`]);
      assert.deepEqual((await told(own.id)).toSorted(), [`ask ${ana.id}`, `ask ${cy.id}`].toSorted());
      assert.equal((await bo.decide(both)).status, 200);
    });

    it("sends nothing twice to a stand-in who is asked anyway, or stands in for two", async () => {
      const [ana, bo, cy] = await three();
      for (const one of [ana, cy]) await one.goAway(wireNow(world(), 5 * DAY), bo.id);
      assert.deepEqual(await told((await ask(any(ana, bo, cy))).id), [`ask ${bo.id}`]);
      assert.deepEqual(await told((await ask(any(ana, cy, toInbox))).id), [`ask ${bo.id}`]);
      const atBo: Audience = {
        kind: "leaf",
        target: { via: "slack", to: bo.user, settings: {} } as never,
      };
      const { id } = await ask(any(ana, atBo));
      assert.deepEqual(await told(id), [`ask ${bo.id}`]);
    });

    it("has its escalation and its reminder go to the stand-in too", async () => {
      const [ana, bo] = await three();
      const { id } = await ask(any(ana, toInbox), {
        remindAfterMs: 2 * HOUR,
        rounds: [{ afterMs: HOUR, audience: toPerson(ana.id), words: "Nobody has answered.", informs: false }],
      });
      assert.deepEqual(await told(id), [`ask ${ana.id}`]);
      await ana.goAway(wireNow(world(), 5 * DAY), bo.id);
      await world().advance(HOUR);
      assert.deepEqual(await told(id), [`ask ${ana.id}`, `ask ${bo.id}`]);
      await world().advance(HOUR);
      assert.deepEqual(await told(id), [`ask ${ana.id}`, `ask ${bo.id}`, `remind ${bo.id}`]);
      const words = (await listDeliveries(world().server.ctx.db, id)).find(({ person }) => person === bo.id)?.words;
      assert.equal(words, "Nobody has answered.");
    });

    it("is told as before once the time has come, and while the stand-in is away too", async () => {
      const [ana, bo, cy] = await three();
      await ana.goAway(wireNow(world(), DAY), bo.id);
      await bo.goAway(wireNow(world(), HOUR), cy.id);
      const made = await ask(any(ana, toInbox));
      assert.deepEqual([await told(made.id), await cy.lines()], [[`ask ${ana.id}`], []]);
      assert.equal((await bo.lines())[0]?.handed_by, null);
      await world().advance(HOUR);
      assert.equal((await bo.lines())[0]?.handed_by?.id, ana.id);
      assert.deepEqual(await told((await ask(any(ana, toInbox))).id), [`ask ${bo.id}`]);
      await world().advance(DAY);
      assert.equal((await ana.away()).until, null);
      assert.ok((await bo.lines()).every(({ handed_by: by }) => by === null));
      assert.deepEqual(await told((await ask(any(ana, toInbox))).id), [`ask ${ana.id}`]);
    });

    it("has what waits stand first in the stand-in's list, where they may decide it, and stay in their own", async () => {
      const [ana, bo, cy] = await three();
      const soon = await ask(any(bo, cy), { timeoutSeconds: 3600 });
      const waiting = await ask(any(ana, bo));
      const later: Audience = {
        kind: "any",
        of: [ana, bo].map(({ id }, i) => ({ afterMs: i * HOUR, node: toPerson(id) })),
      };
      const escalating = await ask(later, { timeoutSeconds: 7200 });
      const until = wireNow(world(), 5 * DAY);
      await ana.goAway(until, bo.id);
      const arrived = await ask(any(ana, bo), { timeoutSeconds: 31 * 86_400 });
      const expected = [waiting.id, arrived.id, soon.id, escalating.id];
      for (const query of ["", "?order=risk"]) {
        const lines = (await bo.lines(query)).filter(({ id }) => expected.includes(id));
        assert.deepEqual(
          lines.map(({ id, handed_by: by }) => [id, by?.name, by?.away_until]),
          expected.map((id, i) => (i < 2 ? [id, "Ana Ruiz", until] : [id, undefined, undefined])),
        );
      }
      assert.equal((await bo.call("GET", `/asks/${waiting.id}`)).body.handed_by.away_until, until);
      assert.deepEqual(
        (await ana.lines()).map(({ id }) => id).toSorted(),
        [waiting.id, escalating.id, arrived.id].toSorted(),
      );
      assert.equal((await cy.lines())[0]?.handed_by, null);
      const { people } = (await bo.call("GET", `/asks/${waiting.id}/receivers`)).body;
      assert.deepEqual(people, [{ id: ana.id, name: "Ana Ruiz", away_until: until }]);
      await world().advance(HOUR);
      assert.equal((await bo.call("GET", `/asks/${escalating.id}`)).body.handed_by.id, ana.id);
      await ana.comeBack();
      assert.ok((await bo.lines()).every(({ handed_by: by }) => by === null));
    });

    it("has a stand-in who fills one place of a quorum", async () => {
      const [ana, bo, cy] = await three();
      const quorum: Audience = { kind: "quorum", min: 2, of: [ana, bo, cy].map(({ id }) => toPerson(id)) };
      await ana.goAway(wireNow(world(), 5 * DAY), bo.id);
      const made = await ask(quorum);
      assert.equal((await bo.lines())[0]?.handed_by?.id, ana.id);
      for (let time = 0; time < 2; time += 1) {
        const { body } = await bo.decide(made);
        assert.deepEqual([body.state, body.decisions.length, body.handed_by], ["open", 1, null]);
      }
      assert.equal((await cy.decide(made)).body.state, "answered");
    });

    it("cannot have a stand-in decide who may not", async () => {
      const [ana, , cy] = await three();
      await ana.goAway(wireNow(world(), 5 * DAY), cy.id);
      const made = await ask(toPerson(ana.id));
      assert.deepEqual(await told(made.id), [`ask ${ana.id}`]);
      assert.deepEqual([await cy.lines(), saidOf(await cy.decide(made)).status], [[], 404]);
    });

    it("is back once either is removed", async () => {
      const { ctx } = world().server;
      const rows = async () =>
        (await ctx.db.all(sql`SELECT person FROM absences WHERE until > (SELECT parley_now())`)).length;
      const before = await rows();
      const [ana, bo, cy] = await three();
      await ana.goAway(wireNow(world(), DAY), bo.id);
      await bo.goAway(wireNow(world(), DAY), cy.id);
      await removeHuman(ctx, Number(bo.id), { kind: "server", id: "test" });
      assert.deepEqual([(await ana.away()).until, await rows()], [null, before]);
    });

    it("chooses among those of their groups, and who sees everything", async () => {
      const [ana, bo, cy] = await three();
      const group = fresh("finance");
      (world().server.ctx.addressed.groups as Map<string, readonly string[]>).set(group, [ana.id, cy.id]);
      const { people } = (await ana.call("GET", "/stand-ins")).body;
      const ids = (people as { id: string }[]).map(({ id }) => id);
      assert.deepEqual([ids.includes(bo.id), ids.includes(cy.id), ids.includes(ana.id)], [true, true, false]);
    });

    it("is told to the stream of the stand-in, as is the end", async () => {
      const { ctx } = world().server;
      const [ana, bo] = await three();
      await ask(any(ana, bo));
      const stop = new AbortController();
      const stream = followInbox(ctx, bo.id, stop.signal);
      const next = async () => {
        let said: unknown;
        const looking = stream.next().then(({ value }) => (said = value));
        await advanceUntil(world(), 100, () => said !== undefined);
        await looking;
        return said;
      };
      assert.deepEqual(await next(), [null]);
      await ana.goAway(wireNow(world(), HOUR), bo.id);
      assert.deepEqual(await next(), [null]);
      await world().advance(HOUR);
      assert.ok(((await next()) as unknown[]).includes(null));
      stop.abort();
      await stream.return(undefined);
    });
  });
}
