import assert from "node:assert/strict";
import { describe, it, mock } from "node:test";
import type { Tx } from "../../src/core/store/db.ts";
import { createSignInLink } from "../../src/access/create-sign-in-link.ts";
import { tokensOf } from "../../src/requests/links/delivery-tokens.ts";
import { listDeliveries } from "../../src/requests/store/deliveries.ts";
import { findRequest } from "../../src/requests/store/requests.ts";
import { askPeople, enrol, leaf, toPerson } from "../support/addressed.ts";
import { fresh, until } from "../support/contract.ts";
import { answer, sharedRelay } from "../support/relay.ts";
import { DATABASES, type Reply, type World } from "../support/world.ts";

/** A read of one request by its id: the plain one, and the lock. */
const READ = /SELECT \*(, parley_now\(\) AS now)?( ?, CASE WHEN EXISTS .*? AS frozen)? FROM requests WHERE ask_id/s;

/** Returns how often requests are read by their id, outside transactions and inside them, while something is done. */
async function readsDuring({ server }: World, act: () => Promise<Reply>): Promise<{ reply: Reply; reads: number[] }> {
  const { db } = server.ctx;
  const reads = [0, 0];
  const noting = (at: number, all: Tx["all"]): Tx["all"] => {
    return (statement) => {
      if (READ.test(statement.sql)) reads[at] = (reads[at] ?? 0) + 1;
      return all(statement);
    };
  };
  const [all, transact] = [db.all.bind(db), db.transact.bind(db)];
  const plain = mock.method(db, "all", noting(0, all));
  const inside = mock.method(db, "transact", ((work, options) =>
    transact((tx) => {
      const noted: Tx = { ...tx, all: noting(1, tx.all.bind(tx)), wake: tx.wake.bind(tx), tell: tx.tell.bind(tx) };
      return work(noted);
    }, options)) as typeof transact);
  try {
    return { reply: await act(), reads };
  } finally {
    plain.mock.restore();
    inside.mock.restore();
  }
}

for (const on of DATABASES) {
  describe(`one decision on ${on} reads its request once before the lock and once at the lock`, () => {
    const scene = sharedRelay(on);
    const outcomeOf = async (id: string) => (await findRequest(scene().world.server.ctx.db, id))?.request.outcome;

    it("in the inbox", async () => {
      const { world } = scene();
      const { ctx } = world.server;
      const ana = await enrol(ctx, "Ana Ruiz", []);
      const { code } = await createSignInLink(ctx, ana);
      const signedIn = await world.call("POST", "/session", { body: { code } });
      const cookie = (signedIn.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
      const headers = { cookie, "sec-fetch-site": "same-origin" };
      const { id, digest } = await askPeople(ctx, { ref: fresh("call"), audience: toPerson(ana) });
      const body = { approved: true, digest };
      const { reply, reads } = await readsDuring(world, () =>
        world.call("POST", `/people/me/asks/${id}/decision`, { headers, body }),
      );
      assert.deepEqual([reply.status, (await outcomeOf(id))?.approved], [200, true]);
      assert.deepEqual(reads, [1, 1]);
    });

    it("by the link of a message", async () => {
      const { world } = scene();
      const { ctx } = world.server;
      const to = `${fresh("ana")}@example.com`;
      await enrol(ctx, "Ana Ruiz", [], { identities: [{ kind: "email", value: to }] });
      const audience = leaf({ via: "email", to, informed: false, settings: {} });
      const { id } = await askPeople(ctx, { ref: fresh("call"), audience });
      const [delivery] = await listDeliveries(ctx.db, id);
      const { link, code } = tokensOf(ctx, delivery?.id ?? assert.fail("no message was planned"));
      const form = {
        "content-type": "application/x-www-form-urlencoded",
        origin: "null",
        "sec-fetch-site": "same-origin",
      };
      const opened = await world.call("POST", `/r/${link}/open`, { body: "", headers: form });
      await world.advance(1500);
      // The loop that sends the message reads its request, too.
      await until(async () => (await listDeliveries(ctx.db, id))[0]?.state === "failed", "the end of the message");
      const hidden = (name: string) => new RegExp(`name="${name}" value="([^"]*)"`).exec(opened.text)?.[1] ?? "";
      const given = { nonce: hidden("nonce"), digest: hidden("digest"), choice: "approve", code };
      const cookie = (opened.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
      const { reply, reads } = await readsDuring(world, () =>
        world.call("POST", `/r/${link}/decide`, {
          body: new URLSearchParams(given).toString(),
          headers: { ...form, cookie },
        }),
      );
      assert.deepEqual([reply.status, (await outcomeOf(id))?.approved], [303, true]);
      assert.deepEqual(reads, [1, 1]);
    });

    it("by a person's key at the relay", async () => {
      const { world, ask, withPeople, person } = scene();
      const dana = await person();
      const one = await ask();
      await withPeople(one);
      const { reply, reads } = await readsDuring(world, () => answer(dana.by, one, { answer_text: "EUR" }));
      assert.equal(reply.status, 202, reply.text);
      assert.deepEqual(reads, [1, 1]);
    });
  });
}
