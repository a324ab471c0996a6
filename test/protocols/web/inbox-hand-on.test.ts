import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createKey } from "../../../src/access/create-key.ts";
import { sql } from "../../../src/core/store/sql.ts";
import { removeHuman } from "../../../src/requests/end/remove-human.ts";
import { followInbox } from "../../../src/requests/inbox/follow-inbox.ts";
import type { Audience } from "../../../src/requests/model/request.ts";
import { listDeliveries } from "../../../src/requests/store/deliveries.ts";
import { findRequest } from "../../../src/requests/store/requests.ts";
import { askPeople, enrol, providerOf, toPerson } from "../../support/addressed.ts";
import { advanceUntil, fresh, HOUR, sharedWorld, wireNow } from "../../support/contract.ts";
import { saidOf } from "../../support/identities.ts";
import { DATABASES, type World } from "../../support/world.ts";

interface Line {
  id: string;
  handed_by: { id: string; name: string; note: string | null } | null;
  handed_on: { to: string; note: string | null } | null;
}

let users = 0;

/** Somebody on Slack with a key, and their inbox. */
async function somebody(world: World, name: string, more: { seesAll?: boolean } = {}) {
  const { ctx } = world.server;
  const user = `UHAND${(users += 1)}`;
  const channels = [{ channel: "slack", target: { to: user, settings: {} } }] as const;
  const id = await enrol(ctx, name, channels, { identities: [{ kind: "slack", value: user }], ...more });
  const { text } = await createKey(ctx, { name: fresh("phone"), scope: "answer", person: id });
  const headers = { authorization: `Bearer ${text}` };
  const call = (method: string, path: string, body?: unknown) =>
    world.call(method, `/people/me/asks${path}`, { headers, ...(body !== undefined && { body }) });
  return {
    id,
    get: (path: string) => call("GET", path),
    list: async (query = "") => {
      const { asks, counts, next } = (await call("GET", query)).body;
      return { ids: (asks as Line[]).map((line) => line.id), lines: asks as Line[], counts, next };
    },
    receivers: async (ask: string) => (await call("GET", `/${ask}/receivers`)).body,
    handOn: (ask: string, to: unknown, note?: string) => call("POST", `/${ask}/hand-on`, { to, note }),
    takeBack: (ask: string) => call("DELETE", `/${ask}/hand-on`),
    snooze: (ask: string, until: string) => call("POST", `/${ask}/snooze`, { until }),
    decide: (ask: { id: string; digest: string | null }) =>
      call("POST", `/${ask.id}/decision`, { approved: true, digest: ask.digest }),
  };
}

const any = (...people: readonly { id: string }[]): Audience => ({
  kind: "any",
  of: people.map(({ id }) => ({ afterMs: 0, node: toPerson(id) })),
});
const quorum = (min: number, ...people: readonly { id: string }[]): Audience => ({
  kind: "quorum",
  min,
  of: people.map(({ id }) => toPerson(id)),
});

for (const on of DATABASES) {
  describe(`a request that is handed on, on ${on}`, () => {
    const world = sharedWorld({ on, channels: [providerOf("slack")] });
    const ask = (audience: Audience, timeoutSeconds = 86_400) =>
      askPeople(world().server.ctx, { ref: fresh("call"), audience, timeoutSeconds });
    const three = async () =>
      [
        await somebody(world(), "Ana Ruiz"),
        await somebody(world(), "Bo Lind"),
        await somebody(world(), "Cy Moe"),
      ] as const;
    const told = async (id: string) =>
      (await listDeliveries(world().server.ctx.db, id)).flatMap(({ words, person }) =>
        words === null ? [] : [[person, words]],
      );
    const noted = async (id: string) =>
      (
        await world().server.ctx.db.all<{ action: string }>(
          sql`SELECT action FROM audit WHERE ask_id = ${id} AND action NOT LIKE '%.delivered' ORDER BY id`,
        )
      ).map(({ action }) => action);
    const handOnsOf = async (id: string) =>
      (
        await world().server.ctx.db.all<{ way: string }>(
          sql`SELECT person || ' ' || receiver AS way FROM request_hand_ons WHERE ask_id = ${id} ORDER BY 1`,
        )
      ).map(({ way }) => way);

    it("leaves one list, stands first in the other with the note, and is told there", async () => {
      const [ana, bo, cy] = await three();
      const [soon, late] = [await ask(any(ana, bo, cy), 3600), await ask(any(ana, bo, cy))];
      const reply = await ana.handOn(late.id, { person: bo.id }, "You know this customer.");
      assert.deepEqual([reply.status, reply.body.handed_on.to], [200, "Bo Lind"]);
      assert.equal(reply.body.handed_on.note, "You know this customer.");

      const left = await ana.list();
      assert.deepEqual([left.ids, left.counts.all, left.counts.snoozed], [[soon.id], 1, 1]);
      const aside = await ana.list("?snoozed=true");
      assert.deepEqual([aside.ids, aside.lines[0]?.handed_on?.to], [[late.id], "Bo Lind"]);

      for (const query of ["", "?order=asked", "?order=risk", "?state=open&q=refund"]) {
        const { ids, lines } = await bo.list(query);
        assert.deepEqual(ids, [late.id, soon.id], query);
        const { id, name, note } = lines[0]?.handed_by ?? {};
        assert.deepEqual([id, name, note], [ana.id, "Ana Ruiz", "You know this customer."]);
        assert.equal(lines[1]?.handed_by, null);
      }
      const { body } = await bo.get(`/${late.id}`);
      assert.deepEqual([body.may_decide, body.handed_by.name, body.handed_on], [true, "Ana Ruiz", null]);
      assert.deepEqual((await cy.list()).ids, [soon.id, late.id]);
      assert.deepEqual(await told(late.id), [[bo.id, "Ana Ruiz hands you this: You know this customer."]]);
      assert.deepEqual(await noted(late.id), ["function_call.created", "function_call.handed_on"]);
    });

    it("is handed on once, however often the same is said, and again with another note", async () => {
      const [ana, bo, cy] = await three();
      const { id } = await ask(any(ana, bo, cy));
      const replies = await Promise.all(["", "", ""].map(() => ana.handOn(id, { person: bo.id }, "Yours?")));
      assert.deepEqual(
        replies.map(({ status }) => status),
        [200, 200, 200],
      );
      assert.equal((await told(id)).length, 1);
      await ana.handOn(id, { person: bo.id }, "Please, today.");
      await ana.handOn(id, { person: cy.id });
      assert.deepEqual(
        (await told(id)).map(([, words]) => words),
        ["Ana Ruiz hands you this: Yours?", "Ana Ruiz hands you this: Please, today.", "Ana Ruiz hands you this."],
      );
      assert.deepEqual(await handOnsOf(id), [`${ana.id} ${cy.id}`]);
      assert.equal((await bo.get(`/${id}`)).body.handed_by, null);
    });

    it("comes back when it is taken back or handed back, and goes on from hand to hand", async () => {
      const [ana, bo, cy] = await three();
      const { id } = await ask(any(ana, bo, cy));
      await ana.handOn(id, { person: bo.id });
      for (let time = 0; time < 2; time += 1) {
        const reply = await ana.takeBack(id);
        assert.deepEqual([reply.status, reply.body], [200, { id, handed_by: null, handed_on: null }]);
      }
      assert.deepEqual([(await ana.list()).ids, (await bo.list()).lines[0]?.handed_by], [[id], null]);
      assert.equal((await noted(id)).filter((action) => action === "function_call.taken_back").length, 1);

      await ana.handOn(id, { person: bo.id }, "Yours?");
      await bo.handOn(id, { person: cy.id });
      assert.deepEqual([(await ana.list()).ids, (await bo.list()).ids, (await cy.list()).ids], [[], [], [id]]);
      await cy.handOn(id, { person: ana.id }, "No, yours.");
      assert.deepEqual([(await bo.list()).ids, (await cy.list()).ids], [[], []]);
      const [line] = (await ana.list()).lines;
      assert.deepEqual([line?.handed_by?.name, line?.handed_by?.note, line?.handed_on], ["Cy Moe", "No, yours.", null]);
    });

    it("goes to those alone who may decide it, at that time", async () => {
      const [ana, bo, cy] = await three();
      const later: Audience = {
        kind: "any",
        of: [
          { afterMs: 0, node: toPerson(ana.id) },
          { afterMs: HOUR, node: toPerson(bo.id) },
        ],
      };
      const { id } = await ask(later);
      assert.deepEqual(await ana.receivers(id), { people: [], groups: [] });
      const wrong = [
        [{ person: bo.id }, "to.person"],
        [{ person: cy.id }, "to.person"],
        [{ person: ana.id }, "to.person"],
        [{ person: "999999" }, "to.person"],
        [{ group: "nobody" }, "to.group"],
        [{}, "to"],
        [{ person: bo.id, group: "nobody" }, "to"],
      ] as const;
      for (const [to, field] of wrong) {
        const reply = await ana.handOn(id, to);
        assert.deepEqual(saidOf(reply), { status: 400, code: "VALIDATION_ERROR" }, JSON.stringify(to));
        assert.equal(reply.body.error.details.field, field);
      }
      const long = await ana.handOn(id, { person: bo.id }, "x".repeat(1001));
      assert.equal(long.body.error.details.field, "note");
      assert.deepEqual(saidOf(await bo.handOn(id, { person: ana.id })), { status: 403, code: "NOT_ASKED" });
      for (const reply of [
        await cy.handOn(id, { person: ana.id }),
        await cy.takeBack(id),
        await cy.get(`/${id}/receivers`),
      ])
        assert.deepEqual(saidOf(reply), { status: 404, code: "NOT_FOUND" });
      assert.deepEqual([await handOnsOf(id), await told(id)], [[], []]);

      await world().advance(HOUR);
      assert.deepEqual(await ana.receivers(id), {
        people: [{ id: bo.id, name: "Bo Lind", away_until: null }],
        groups: [],
      });
      assert.equal((await ana.handOn(id, { person: bo.id })).status, 200);
    });

    it("goes to everybody of a group who may decide it, and to no other of it", async () => {
      const [ana, bo, cy] = await three();
      const group = fresh("finance");
      (world().server.ctx.addressed.groups as Map<string, readonly string[]>).set(group, [ana.id, bo.id, cy.id]);
      const asked = any(ana, bo);
      const { id } = await ask(asked);
      await bo.snooze(id, wireNow(world(), HOUR));
      assert.deepEqual((await ana.receivers(id)).groups, [group]);
      const reply = await ana.handOn(id, { group }, "Who has time?");
      assert.equal(reply.body.handed_on.to, group);
      assert.deepEqual(await handOnsOf(id), [`${ana.id} ${bo.id}`]);
      assert.equal((await bo.list()).lines[0]?.handed_by?.note, "Who has time?", "it is aside no longer");
      assert.deepEqual((await cy.list()).ids, []);
      assert.deepEqual((await findRequest(world().server.ctx.db, id))?.request.audience, asked);
    });

    it("counts for nobody in a quorum, and is back once the receiver has done their part", async () => {
      const [ana, bo, cy] = await three();
      const made = await ask(quorum(2, ana, bo, cy));
      await ana.handOn(made.id, { person: bo.id });
      const { body } = await bo.decide(made);
      assert.deepEqual([body.state, body.decisions.length, body.handed_by], ["open", 1, null]);
      assert.deepEqual((await ana.list()).ids, [made.id], "the quorum needs one more");
      assert.equal((await bo.decide(made)).body.state, "open");
      await ana.handOn(made.id, { person: cy.id });
      assert.equal((await ana.decide(made)).body.state, "answered");
      assert.deepEqual(await handOnsOf(made.id), []);
      assert.deepEqual(saidOf(await cy.handOn(made.id, { person: ana.id })), { status: 409, code: "ALREADY_DECIDED" });
      assert.deepEqual(await cy.receivers(made.id), { people: [], groups: [] });
    });

    it("ends with the request, and comes back from somebody who was removed", async () => {
      const { ctx } = world().server;
      const [ana, bo, cy] = await three();
      const [first, second] = [await ask(any(ana, bo, cy)), await ask(any(ana, bo, cy), 600)];
      await ana.handOn(first.id, { person: bo.id });
      await ana.handOn(second.id, { person: cy.id });
      await removeHuman(ctx, Number(bo.id), { kind: "server", id: "test" });
      assert.deepEqual((await ana.list()).ids, [first.id]);
      await advanceUntil(world(), 60_000, async () => (await handOnsOf(second.id)).length === 0);
      assert.deepEqual(await told(second.id), [], "the note ends with it");
      await cy.handOn(first.id, { person: ana.id });
      await removeHuman(ctx, Number(cy.id), { kind: "server", id: "test" });
      assert.deepEqual([await handOnsOf(first.id), (await ana.list()).lines[0]?.handed_by], [[], null]);
    });

    it("has a note without what answers a request, and without secrets", async () => {
      const [ana, bo] = await three();
      const { id } = await ask(any(ana, bo));
      const [message] = await listDeliveries(world().server.ctx.db, id);
      const note = `See ${message?.id ?? ""}, with ghp_${"a1B2".repeat(9)} as its key`;
      const { body } = await ana.handOn(id, { person: bo.id }, note);
      assert.match(body.handed_on.note, /^See \[delivery\], with \[secret:[^\]]+\] as its key$/);
      assert.deepEqual(
        (await told(id)).map(([, words]) => words),
        [`Ana Ruiz hands you this: ${body.handed_on.note}`],
      );
    });

    it("pages on behind what was handed on", async () => {
      const [ana, bo] = await three();
      const asks: string[] = [];
      for (let i = 0; i < 54; i += 1) asks.push((await ask(any(ana, bo), 3600 + i * 60)).id);
      for (const id of asks.slice(2)) await ana.handOn(id, { person: bo.id });
      for (const order of ["", "&order=risk"]) {
        const first = await bo.list(`?state=open${order}`);
        assert.equal(first.ids.length, 50);
        const rest = await bo.list(`?state=open${order}&before=${encodeURIComponent(first.next)}`);
        assert.equal(rest.next, null);
        assert.deepEqual([...first.ids, ...rest.ids], [...asks.slice(2), ...asks.slice(0, 2)]);
      }
    });

    it("is told to both streams", async () => {
      const { ctx } = world().server;
      const [ana, bo] = await three();
      const { id } = await ask(any(ana, bo));
      const stop = new AbortController();
      const streams = [ana, bo].map((person) => followInbox(ctx, person.id, stop.signal));
      const next = async () => {
        const found = await Promise.all(
          streams.map(async (stream) => {
            let said: unknown;
            const looking = stream.next().then(({ value }) => (said = value));
            await advanceUntil(world(), 100, () => said !== undefined);
            await looking;
            return said;
          }),
        );
        return found;
      };
      assert.deepEqual(await next(), [[null], [null]]);
      await ana.handOn(id, { person: bo.id });
      assert.deepEqual(await next(), [[id], [id]]);
      await ana.takeBack(id);
      assert.deepEqual(await next(), [[id], [id]]);
      stop.abort();
      await Promise.all(streams.map((stream) => stream.return(undefined)));
    });

    it("is decided as if nobody had handed it on, however the two meet", async () => {
      const [ana, bo, cy] = await three();
      const made = await ask(any(ana, bo, cy));
      const [decided, handed] = await Promise.all([cy.decide(made), ana.handOn(made.id, { person: bo.id })]);
      assert.equal(decided.status, 200);
      assert.ok(handed.status === 200 || handed.status === 409);
      assert.deepEqual(await handOnsOf(made.id), []);

      const joint = await ask(any(ana, bo));
      await Promise.all([ana.handOn(joint.id, { person: bo.id }), bo.handOn(joint.id, { person: ana.id })]);
      assert.equal((await handOnsOf(joint.id)).length, 1, "one of them has it");
    });
  });
}
