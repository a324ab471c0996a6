import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createKey } from "../../../src/access/create-key.ts";
import { decideRequest } from "../../../src/requests/decide/decide.ts";
import { responderOf } from "../../../src/requests/decide/decider.ts";
import type { Decision } from "../../../src/requests/model/request.ts";
import { sql } from "../../../src/core/store/sql.ts";
import { transact } from "../../../src/core/store/transact.ts";
import { askPeople, newCallRequest, enrol, toPerson } from "../../support/addressed.ts";
import { fresh, sharedWorld } from "../../support/contract.ts";
import { DATABASES, type World } from "../../support/world.ts";

type CallFields = Parameters<typeof newCallRequest>[0];

/** Somebody who looks for what was decided. */
async function somebody(world: World, name = "Ana Ruiz") {
  const { ctx } = world.server;
  const id = await enrol(ctx, name);
  const { text } = await createKey(ctx, { name: fresh("phone"), scope: "answer", person: id });
  const headers = { authorization: `Bearer ${text}` };
  const page = async (query: string) => (await world.call("GET", `/people/me/asks?${query}`, { headers })).body;
  return {
    id,
    /** Has this asked and decided, after whatever was before; returns its id. */
    decided: async (input: CallFields, decision: Decision) => {
      await world.advance(1000);
      const ask = await askPeople(ctx, { ref: fresh("call"), audience: toPerson(id), ...input });
      await decideRequest(ctx, { requestId: ask.id, responder: await responderOf(ctx.db, id, "slack"), decision });
      return ask.id;
    },
    page,
    find: async (words: string): Promise<string[]> => {
      const { asks, next } = await page(`state=over&q=${encodeURIComponent(words)}`);
      assert.equal(next, null);
      return asks.map((ask: { id: string }) => ask.id);
    },
  };
}

for (const on of DATABASES) {
  describe(`looking for what was decided on ${on}`, () => {
    const world = sharedWorld({ on });

    it("goes by who asked and decided, what, the words and the day, all at once", async () => {
      const ana = await somebody(world());
      const refund = await ana.decided(
        { asker: "agent:support", kwargs: { order: "A-1007", amount: 49.9 }, words: "The kettle arrived broken." },
        { kind: "reject", comment: "Only after the return" },
      );
      const reply = await ana.decided(
        { asker: "agent:notes", title: "Which name?", digest: null, form: { kind: "reply", options: [] } },
        { kind: "reply", text: "Größe zählt" },
      );
      await askPeople(world().server.ctx, { audience: toPerson(ana.id), words: "a kettle that still waits" });

      for (const words of [
        "support",
        "issue_refund",
        "Issue refund",
        "a-1007",
        "KETTLE",
        "after return",
        "support 49.9",
      ]) {
        assert.deepEqual(await ana.find(words), [refund], words);
      }
      for (const words of ["notes", "which name", "GRÖSSE".replace("SS", "ß"), "gr\u006f\u0308ße"]) {
        assert.deepEqual(await ana.find(words), [reply], words);
      }
      const { asks } = await ana.page("state=over");
      const day = asks[0].settled_at.slice(0, 10);
      assert.deepEqual(await ana.find(`Ruiz ${day}`), [reply, refund]);
      assert.deepEqual(await ana.find(day.slice(0, 7)), [reply, refund]);
      assert.deepEqual(await ana.find("kettle notes"), []);
      assert.deepEqual(await ana.find("1999-12-31"), []);
    });

    it("looks through one kind where one is wanted, and through nothing of anybody else", async () => {
      const [ana, bo] = [await somebody(world()), await somebody(world(), "Bo Lind")];
      const mine = await ana.decided({ words: "a rare word" }, { kind: "reject" });
      await bo.decided({ words: "a rare word" }, { kind: "reject" });
      assert.deepEqual(await ana.find("rare"), [mine]);
      assert.deepEqual((await ana.page("state=over&q=rare&kind=reply")).asks, []);
      assert.equal((await ana.page("state=over&q=rare&kind=approval")).asks.length, 1);
      assert.equal((await ana.page("q=rare")).asks.length, 1, "without a state, what is over is searched");
      assert.deepEqual((await ana.page("state=open&q=rare")).asks, []);
    });

    it("finds nothing by an argument that holds a secret, nor by an address", async () => {
      const ana = await somebody(world());
      const guarded = { kwargs: { token: "hunter2hunter2", to: "bo" }, wire: { guarded: ["token"] } };
      const id = await ana.decided(guarded, { kind: "reject" });
      assert.deepEqual(await ana.find("bo"), [id]);
      assert.deepEqual(await ana.find("hunter2hunter2"), []);
      const by = JSON.stringify({
        status: "answered",
        approved: false,
        by: { kind: "address", id: "email:x@y.example", via: "email" },
      });
      await transact(world().server.ctx, (tx) => tx.all(sql`UPDATE requests SET outcome = ${by} WHERE ask_id = ${id}`));
      assert.deepEqual(await ana.find("bo"), [id]);
      assert.deepEqual(await ana.find("x@y.example"), []);
    });

    it("comes to the end of very many, a page at a time, each once", async () => {
      const ana = await somebody(world());
      const wanted = await ana.decided({ words: "needle" }, { kind: "reject" });
      await manyMoreLike(world(), ana.id, await ana.decided({ words: "hay" }, { kind: "reject" }));
      const first = await ana.page("state=over&q=needle");
      assert.deepEqual(first.asks, []);
      const rest = await ana.page(`state=over&q=needle&before=${first.next}`);
      assert.deepEqual([rest.asks.map(({ id }: { id: string }) => id), rest.next], [[wanted], null]);

      const found = new Set<string>();
      let [read, before] = [0, ""];
      for (let pages = 0; pages < 3; pages += 1) {
        const page = await ana.page(`state=over&q=hay${before}`);
        for (const { id } of page.asks) found.add(id);
        read += page.asks.length;
        before = `&before=${page.next}`;
      }
      assert.deepEqual([read, found.size], [150, 150]);
    });
  });
}

/** Two thousand more that ended later than this one, and say the same. */
async function manyMoreLike({ server }: World, person: string, id: string): Promise<void> {
  await transact(server.ctx, async (tx) => {
    await tx.all(sql`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
      INSERT INTO requests (ask_id, door, asker, ref, same_hash, title, words, form, kind, audience, digest, state,
        version, created_at, expires_at, settled_at, outcome, wire)
      SELECT a.ask_id || '_' || n.i, a.door, a.asker, a.ref || '_' || n.i, a.same_hash, a.title, a.words, a.form, a.kind,
        a.audience, a.digest, a.state, a.version, a.created_at, a.expires_at, a.settled_at + n.i, a.outcome, a.wire
      FROM requests a, n WHERE a.ask_id = ${id}`);
    await tx.all(sql`INSERT INTO request_recipients (reader, ask_id)
      SELECT ${person}, ask_id FROM requests WHERE ask_id LIKE ${`${id}_%`}`);
  });
}
