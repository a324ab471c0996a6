import assert from "node:assert/strict";
import { it } from "node:test";
import { insertConversation, insertMessageIfNew } from "../../src/conversations/store/conversations.ts";
import { transact } from "../../src/core/store/transact.ts";
import { createKey } from "../../src/access/create-key.ts";
import { askPeople, enrol, toPerson } from "../support/addressed.ts";
import { DATABASES, openWorld } from "../support/world.ts";

const MANY = 120;

for (const on of DATABASES) {
  it(`hands out every conversation and all of a long one, each thing once, on ${on}`, async () => {
    await using world = await openWorld({ on });
    const { ctx } = world.server;
    const person = await enrol(ctx, "Ana Ruiz");
    const { text: key } = await createKey(ctx, { name: "phone", scope: "answer", person });
    const headers = { authorization: `Bearer ${key}` };
    const read = (path: string) => world.call("GET", `/people/me/conversations${path}`, { headers });

    // The clock stands still: all is of the same moment.
    await transact(ctx, async (tx) => {
      const target = { via: "person", person } as const;
      for (let number = 1001; number <= 1000 + MANY; number += 1) {
        const of = { entry: "desk", agent: "agent:desk", channel: "inbox", person, opener: null, target } as const;
        await insertConversation(tx, { ...of, number });
        const said = { agent: "agent:desk", raw: "{}", followUp: false, conversation: 1001 };
        const source = `test ${number}`;
        await insertMessageIfNew(tx, { ...said, id: ctx.newId("nc"), words: `Word ${number}`, source });
      }
    });
    const question = { title: "Which?", digest: null, form: { kind: "reply", options: [] } } as const;
    const asked = { asker: "agent:desk", conversation: 1001, audience: toPerson(person) };
    for (let i = 0; i < 3; i += 1) await askPeople(ctx, { ...asked, ...question });

    const listed: number[] = [];
    for (let query = ""; ;) {
      const { body } = await read(query);
      assert.equal(body.count, MANY);
      listed.push(...body.conversations.map(({ id }: { id: number }) => id));
      if (body.next === null) break;
      query = `?before=${body.next}`;
    }
    assert.deepEqual([listed.length, new Set(listed).size], [MANY, MANY]);

    const said: string[] = [];
    for (let query = ""; ;) {
      const { body } = await read(`/1001${query}`);
      assert.equal(body.waiting.length, 2);
      const things = [...body.messages, ...body.asks].map(({ id }: { id: string }) => id);
      assert.ok(things.length <= 50);
      said.push(...things);
      if (body.next === null) break;
      query = `?before=${body.next}`;
    }
    assert.deepEqual([said.length, new Set(said).size], [MANY + 3, MANY + 3]);
    for (const path of ["?before=x", "?before=1_x", "/1001?before=1", "/1001?before=1_'"]) {
      assert.equal((await read(path)).status, 400, path);
    }
  });
}
