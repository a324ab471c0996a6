import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Request } from "../../../src/requests/model/request.ts";
import { sql } from "../../../src/core/store/sql.ts";
import { transact } from "../../../src/core/store/transact.ts";
import { createKey } from "../../../src/access/create-key.ts";
import { askPeople, enrol, toPerson } from "../../support/addressed.ts";
import { fresh, sharedWorld } from "../../support/contract.ts";
import { DATABASES, type World } from "../../support/world.ts";

const MINUTE_S = 60;
const HOUR_S = 3600;

/** Somebody with a key, and what asks this of them. */
async function somebody(world: World) {
  const { ctx } = world.server;
  const id = await enrol(ctx, "Ana Ruiz");
  const { text } = await createKey(ctx, { name: fresh("phone"), scope: "answer", person: id });
  const headers = { authorization: `Bearer ${text}` };
  return {
    ask: (more: Parameters<typeof askPeople>[1]) =>
      askPeople(ctx, { ref: fresh("call"), audience: toPerson(id), ...more }),
    inbox: async (query = "") => (await world.call("GET", `/people/me/asks${query}`, { headers })).body,
    refused: async (query: string) => (await world.call("GET", `/people/me/asks${query}`, { headers })).body.error,
    reject: async (ask: string) => {
      const reply = await world.call("POST", `/people/me/asks/${ask}/decision`, { headers, body: { approved: false } });
      assert.equal(reply.status, 200);
    },
  };
}

const question = { title: "Which?", digest: null, form: { kind: "reply", options: [] } } as const;
const form = { title: "How many?", digest: null, form: { kind: "value", schema: { type: "integer" } } } as const;
const idsIn = (body: { asks: { id: string }[] }) => body.asks.map(({ id }) => id);

for (const on of DATABASES) {
  describe(`the pages of the inbox on ${on}`, () => {
    const world = sharedWorld({ on });

    it("reach everything that waits, each once, also while asks end and come in", async () => {
      const ana = await somebody(world());
      const made: Request[] = [];
      // Deadlines that are equal, that differ, and none at all; the last page is a full one.
      for (let i = 0; i < 150; i += 1) {
        const timeoutSeconds = i < 60 ? HOUR_S : i < 120 ? HOUR_S + i * MINUTE_S : null;
        made.push(await ana.ask({ asker: `agent:bot-${i % 3}`, timeoutSeconds }));
      }
      const seen: string[] = [];
      let page = await ana.inbox();
      assert.equal(page.counts.all, 150);
      for (let number = 1; ; number += 1) {
        const ids = idsIn(page);
        assert.equal(ids.length, 50);
        seen.push(...ids);
        if (page.next === null) break;
        // The items of the page end, the last one included. A more urgent item than all of them arrives.
        await ana.reject(ids[0] ?? "");
        await ana.reject(ids[49] ?? "");
        await ana.ask({ timeoutSeconds: MINUTE_S * number });
        page = await ana.inbox(`?before=${page.next}`);
        assert.equal(page.counts, null, "counts come with the first page");
      }
      assert.deepEqual(seen.toSorted(), made.map(({ id }) => id).toSorted());
      assert.equal((await ana.inbox()).counts.all, 150 - 4 + 2);
    });

    it("hold what is wanted alone, and the counts are those of the whole of it", async () => {
      const ana = await somebody(world());
      const make = async (count: number, more: Parameters<typeof ana.ask>[0]) => {
        for (let i = 0; i < count; i += 1) await ana.ask(more);
      };
      await make(53, { asker: "agent:dev", timeoutSeconds: 30 * MINUTE_S });
      await make(2, { ...question, asker: "open:dev", timeoutSeconds: 5 * HOUR_S });
      await make(3, { ...form, asker: "agent:ops", timeoutSeconds: 50 * HOUR_S });
      await make(1, { ...question, asker: "agent:ops", timeoutSeconds: null });

      const { asks, counts, next } = await ana.inbox();
      assert.deepEqual([asks.length, typeof next], [50, "string"]);
      const { at, newest_at: newestAt, ...numbers } = counts;
      assert.deepEqual(numbers, {
        all: 59,
        kinds: { approval: 53, reply: 3, value: 3 },
        due: { soon: 53, today: 2, later: 3, none: 1 },
        agents: [
          { agent: "dev", count: 53 },
          { agent: "dev (without a key)", count: 2 },
          { agent: "ops", count: 4 },
        ],
        snoozed: 0,
      });
      assert.ok(newestAt <= at);

      for (const [query, all, kinds] of [
        ["?kind=reply", 3, ["reply", "reply", "reply"]],
        ["?due=none", 1, ["reply"]],
        ["?due=today", 2, ["reply", "reply"]],
        ["?due=later", 3, ["value", "value", "value"]],
        ["?agent=ops", 4, ["value", "value", "value", "reply"]],
        ["?agent=dev&kind=reply", 0, []],
        ["?agent=dev+(without+a+key)&kind=reply", 2, ["reply", "reply"]],
        ["?agent=nobody", 0, []],
        [`?agent=${"x".repeat(200)}`, 0, []],
      ] as const) {
        const found = await ana.inbox(query);
        assert.deepEqual(
          [found.counts.all, found.asks.map(({ kind }: { kind: string }) => kind)],
          [all, kinds],
          `of ${query}`,
        );
      }
      const soon = await ana.inbox("?due=soon&agent=dev");
      const rest = await ana.inbox(`?due=soon&agent=dev&before=${soon.next}`);
      assert.deepEqual([soon.counts.all, idsIn(rest).length, rest.next], [53, 3, null]);
    });

    it("name the coding agent of a task that asks by the key of its attempt", async () => {
      const ana = await somebody(world());
      const task = { own_task: { repo: "shop", id: "t-1", attempt: 1, agent: "claude", sandbox: null } };
      const own = await ana.ask({ asker: `agent:${fresh("att")}` });
      // Stands on the ask where its asker is an attempt; no attempt runs here.
      await transact(world().server.ctx, (tx) =>
        tx.all(sql`UPDATE requests SET wire = ${JSON.stringify(task)} WHERE ask_id = ${own.id}`),
      );
      await ana.ask({ asker: "agent:dev" });
      const { counts, asks } = await ana.inbox("?agent=claude");
      assert.deepEqual([counts.agents, idsIn({ asks })], [[{ agent: "claude", count: 1 }], [own.id]]);
    });

    it("hold what is over too, of which nothing is due", async () => {
      const ana = await somebody(world());
      const over = await ana.ask({});
      await ana.ask({});
      await ana.reject(over.id);
      for (const query of ["", "&kind=approval"]) {
        assert.deepEqual(idsIn(await ana.inbox(`?state=over${query}`)), [over.id]);
      }
      assert.equal((await ana.refused("?state=over&agent=dev")).details.field, "agent");
      assert.deepEqual(idsIn(await ana.inbox("?state=over&kind=value")), []);
      assert.equal((await ana.refused("?state=over&due=soon")).details.field, "due");
      assert.equal((await ana.refused("?due=yesterday")).details.field, "due");
    });
  });
}
