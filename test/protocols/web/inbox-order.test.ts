import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createKey } from "../../../src/access/create-key.ts";
import { transact } from "../../../src/core/store/transact.ts";
import { sql } from "../../../src/core/store/sql.ts";
import { askPeople, enrol, newCallRequest, toPerson } from "../../support/addressed.ts";
import { fresh, sharedWorld } from "../../support/contract.ts";
import { DATABASES, type World } from "../../support/world.ts";

interface Listed {
  id: string;
  risk: string;
}
interface Page {
  asks: Listed[];
  next: string | null;
  error: { code: string; details: { field: string } };
}

/** Somebody with a key, and what waits for them. */
async function somebody(world: World, name = "Ana Ruiz") {
  const { ctx } = world.server;
  const id = await enrol(ctx, name);
  const { text } = await createKey(ctx, { name: fresh("phone"), scope: "answer", person: id });
  const headers = { authorization: `Bearer ${text}` };
  const page = async (query: string): Promise<Page> =>
    (await world.call("GET", `/people/me/asks?${query}`, { headers })).body;
  return {
    id,
    ask: (more: Parameters<typeof newCallRequest>[0] = {}) =>
      askPeople(ctx, { ref: fresh("call"), audience: toPerson(id), ...more }),
    page,
    /** Every row of a list, page after page, and how many pages there are. */
    all: async (query: string): Promise<{ rows: Listed[]; pages: number }> => {
      let read = await page(query);
      const rows = [...read.asks];
      let pages = 1;
      for (; read.next !== null; pages += 1) {
        read = await page(`${query}&before=${encodeURIComponent(read.next)}`);
        rows.push(...read.asks);
      }
      return { rows, pages };
    },
  };
}

const idsOf = (rows: readonly { id: string }[]) => rows.map(({ id }) => id);

const call = (fn: string, kwargs: object) => ({
  title: fn,
  form: { kind: "approval", fn, kwargs: JSON.stringify(kwargs), rejectOptions: [], editable: false } as const,
});
const RISKS = {
  high: call("refund_order", { amount: 250_000, currency: "EUR" }),
  unjudged: call("execute_sql", { sql: "FROBNICATE everything" }),
  normal: call("send_letter", { to: "the desk" }),
  low: call("list_orders", { page: 2 }),
};

for (const on of DATABASES) {
  describe(`the order of what waits, and looking through it, on ${on}`, () => {
    const world = sharedWorld({ on });

    it("is by deadline, by the longest wait, or by risk with the riskiest first", async () => {
      const ana = await somebody(world());
      const made = [];
      for (const [risk, timeoutSeconds] of [
        ["low", 7200],
        ["high", null],
        ["normal", 600],
        ["unjudged", 3600],
      ] as const) {
        made.push((await ana.ask({ ...RISKS[risk], timeoutSeconds })).id);
        await world().advance(1000);
      }
      const [low, high, normal, unjudged] = made;
      for (const query of ["", "order=deadline"]) {
        assert.deepEqual(idsOf((await ana.page(query)).asks), [normal, unjudged, low, high], query);
      }
      assert.deepEqual(idsOf((await ana.page("order=asked")).asks), made);
      const { asks, next } = await ana.page("order=risk");
      assert.deepEqual(
        asks.map(({ risk }) => risk),
        ["high", "unjudged", "normal", "low"],
      );
      assert.deepEqual([idsOf(asks), next], [[high, unjudged, normal, low], null]);
      assert.deepEqual(idsOf((await ana.page("order=risk&state=open&q=orders")).asks), [low]);
    });

    it("is looked through by sentence, agent, function and person, and shows nobody what is not theirs", async () => {
      const [ana, bo] = [await somebody(world()), await somebody(world(), "Bo Lindqvist")];
      const refund = await ana.ask({ ...RISKS.high, asker: "agent:kettle-shop" });
      const both = await ana.ask({
        ...RISKS.normal,
        audience: { kind: "any", of: [ana, bo].map(({ id }) => ({ afterMs: 0, node: toPerson(id) })) },
      });
      await bo.ask({ ...RISKS.high, asker: "agent:kettle-shop", words: "Only for Bo" });
      const find = async (words: string) => (await ana.page(`state=open&q=${encodeURIComponent(words)}`)).asks;
      for (const words of ["250000 EUR", "KETTLE", "refund_order", "kettle refund"]) {
        assert.deepEqual(idsOf(await find(words)), [refund.id], words);
      }
      assert.deepEqual(idsOf(await find("lindqvist")), [both.id]);
      assert.deepEqual(await find("only for bo"), []);
      assert.equal((await bo.page("state=open&q=kettle")).asks.length, 1);
    });

    it("goes on behind what was looked through, and neither loses nor repeats a row", async () => {
      const ana = await somebody(world());
      const hay = await ana.ask({ ...RISKS.low, words: "hay" });
      await manyMoreLike(world(), ana.id, hay.id, 2100);
      await world().advance(1000);
      const needle = await ana.ask({ ...RISKS.high, asker: "agent:hider", words: "needle", timeoutSeconds: 86_400 });
      for (const order of ["deadline", "asked"]) {
        const first = await ana.page(`state=open&q=needle&order=${order}`);
        assert.deepEqual(first.asks, [], "two thousand are looked through for one page");
        assert.notEqual(first.next, null);
        assert.deepEqual(idsOf((await ana.all(`state=open&q=needle&order=${order}`)).rows), [needle.id]);
      }
    });

    it("judges so many risks for one page, and by risk too neither loses nor repeats a row", async () => {
      const bo = await somebody(world(), "Bo Lind");
      for (const [risk, count] of [
        ["low", 520],
        ["unjudged", 70],
      ] as const) {
        const one = await bo.ask({ ...RISKS[risk], asker: `agent:${risk}` });
        await manyMoreLike(world(), bo.id, one.id, count - 1);
      }
      const last = await bo.ask({ ...RISKS.high, asker: "agent:last", timeoutSeconds: 86_400 });
      const { rows } = await bo.all("order=risk");
      assert.deepEqual([rows.length, new Set(idsOf(rows)).size, rows[0]?.id], [591, 591, last.id]);
      const risks = rows.map(({ risk }) => risk);
      assert.deepEqual(risks, ["high", ...Array<string>(70).fill("unjudged"), ...Array<string>(520).fill("low")]);
    });

    it("takes no order, place or words that mean nothing", async () => {
      const ana = await somebody(world());
      for (const [query, field] of [
        ["order=sideways", "order"],
        ["state=over&order=asked", "order"],
        [`state=open&q=${"x".repeat(201)}`, "q"],
        ["state=open&q=", "q"],
        ["order=risk&before=high.1_2_x", "before"],
      ] as const) {
        const { error } = await ana.page(query);
        assert.deepEqual([error.code, error.details.field], ["VALIDATION_ERROR", field], query);
      }
    });
  });
}

/** So many more that wait as this one does, and say the same. */
async function manyMoreLike({ server }: World, person: string, id: string, count: number): Promise<void> {
  await transact(server.ctx, async (tx) => {
    await tx.all(sql`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
      INSERT INTO requests (ask_id, door, asker, ref, same_hash, title, words, form, kind, audience, digest, state,
        version, created_at, expires_at, wire)
      SELECT a.ask_id || '_' || n.i, a.door, a.asker, a.ref || '_' || n.i, a.same_hash, a.title, a.words, a.form, a.kind,
        a.audience, a.digest, a.state, a.version, a.created_at, a.expires_at, a.wire
      FROM requests a, n WHERE a.ask_id = ${id}`);
    await tx.all(sql`INSERT INTO request_recipients (reader, ask_id)
      SELECT ${person}, ask_id FROM requests WHERE ask_id LIKE ${`${id}_%`}`);
  });
}
