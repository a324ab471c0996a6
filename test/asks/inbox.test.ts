import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { sql } from "../../src/core/store/sql.ts";
import { OPERATOR } from "../support/identities.ts";
import { fresh, until } from "../support/contract.ts";
import { decider } from "../support/deciders.ts";
import { codeOf, gist, sharedRelay } from "../support/relay.ts";
import { DATABASES } from "../support/world.ts";

const DEPLOY = { action: "deploy", resource: "shop-api", env: "staging" };

for (const on of DATABASES) {
  describe(`what executors ask, in the inbox, on ${on}`, () => {
    const scene = sharedRelay(on);

    it("shows who asks, where, and what would run, and gives the executor what was decided", async () => {
      const { ask, person, withPeople, answerTo, ana } = scene();
      const dana = await person();
      const one = await ask({ ask_type: "APPROVAL", prompt: "Deploy?", meta: { ...DEPLOY, args: { v: 1 } } });
      const id = await withPeople(one);
      const { body } = await dana.whole(id);
      assert.deepEqual(
        [body.kind, body.fn, body.agent],
        ["approval", "deploy", ana.principal.slice("executor:".length)],
      );
      assert.equal(body.run, `${one.job_id} / S-1`);
      const names = body.arguments.map(({ name }: { name: string }) => name);
      assert.deepEqual(names.sort(), ["args", "env", "prompt", "resource"]);
      assert.equal((await dana.decide(id, { approved: true, comment: "Go." })).status, 200);
      const given = await answerTo(one);
      assert.deepEqual(gist(given), {
        status: "ANSWERED",
        source: "person",
        answer_text: "Go.",
        answer_json: { approved: true, by: "person" },
      });
      assert.equal(given.consent_digest, body.digest);
      assert.deepEqual(codeOf(await dana.decide(id, { approved: false }))[0], 409);
    });

    it("offers options to press, forms to fill in and words, each of which may be declined", async () => {
      const { ask, person, withPeople, answerTo } = scene();
      const dana = await person();
      const choice = await ask({ ask_type: "CHOICE", meta: { options: [{ id: "r", label: "Red" }, "Blue"] } });
      const shown = (await dana.whole(await withPeople(choice))).body;
      assert.deepEqual(
        shown.options.map(({ name, title }: { name: string; title: string }) => [name, title]),
        [
          ["1", "Red"],
          ["2", "Blue"],
        ],
      );
      await dana.decide(shown.id, { option: "1" });
      assert.deepEqual((await answerTo(choice)).answer_json, { choice: "r", index: 0 });

      const schema = { type: "object", required: ["n"], properties: { n: { type: "integer" } } };
      const form = await ask({ ask_type: "RESOURCE_FETCH", meta: { prompt_overrides: { output_schema: schema } } });
      const id = await withPeople(form);
      assert.equal((await dana.whole(id)).body.kind, "value");
      assert.deepEqual((await dana.decide(id, { value: { n: "x" } })).status, 400);
      await dana.decide(id, { value: { n: 3 } });
      assert.deepEqual((await answerTo(form)).answer_json, { n: 3 });
    });

    it("gives a person's answer again to the same question where the person says so, in that person's name", async () => {
      const { ask, person, withPeople, answerTo } = scene();
      const dana = await person();
      const prompt = fresh("Which currency?");
      for (const same_next_time of [false, true]) {
        const one = await ask({ prompt });
        const id = await withPeople(one);
        assert.notEqual((await dana.whole(id)).body.keep_until, null);
        assert.equal((await dana.decide(id, { text: "EUR", same_next_time })).status, 200);
        assert.equal((await answerTo(one)).source, "person");
      }
      const again = await answerTo(await ask({ prompt }));
      assert.deepEqual(
        [gist(again), again.answered_by],
        [{ status: "ANSWERED", source: "cache", answer_text: "EUR" }, dana.name],
      );
    });

    it("gives a person's answer again to the same asker alone, and only where the same people would be asked", async () => {
      const { ask, person, withPeople, answerTo, program } = scene();
      const [dana, mallory] = [await person(), await person()];
      const other = await program({ name: fresh("other"), scope: "executor" });
      const prompt = fresh("Which account gets the refund?");
      const first = await ask({ prompt, meta: { to: mallory.name } });
      const saying = { text: "DE00 MALLORY", same_next_time: true };
      assert.equal((await mallory.decide(await withPeople(first), saying)).status, 200);
      await answerTo(first);
      // Each of these is another asker or goes to other people, so that people are asked.
      const OTHERS = [
        { to: dana.name, by: scene().ana },
        { to: mallory.name, by: other },
        { to: dana.name, by: other },
        { to: undefined, by: scene().ana },
      ];
      for (const { to, by } of OTHERS) await withPeople(await ask({ prompt, ...(to && { meta: { to } }) }, by));
      const again = await answerTo(await ask({ prompt, meta: { to: mallory.name } }));
      assert.deepEqual([again.source, again.answered_by], ["cache", mallory.name]);
    });

    it("keeps no decision and no follow-up for the next time", async () => {
      const { ask, person, withPeople } = scene();
      const dana = await person();
      const before = await ask({ prompt: fresh("Which?") });
      for (const [input, said] of [
        [{ ask_type: "APPROVAL", meta: DEPLOY }, { approved: true }],
        [{ prompt: fresh("And?"), meta: { in_reply_to: before.ask_id } }, { text: "EUR" }],
      ] as const) {
        const id = await withPeople(await ask(input));
        assert.equal((await dana.whole(id)).body.keep_until, null);
        assert.deepEqual(codeOf(await dana.decide(id, { ...said, same_next_time: true }))[0], 409);
        assert.equal((await dana.decide(id, said)).status, 200);
      }
    });

    it("allows for good what an admin says so of, until that is revoked, and what nobody else does", async () => {
      const { ask, person, withPeople, answerTo, world } = scene();
      const boss = await decider(world, OPERATOR);
      const dana = await person();
      const input = { ask_type: "APPROVAL", meta: { ...DEPLOY, resource: fresh("shop") } };
      const first = await ask(input);
      const id = await withPeople(first);
      assert.notEqual((await dana.decide(id, { approved: true, standing: true })).status, 200);
      assert.equal((await boss.decide(id, { approved: true, standing: true })).status, 200);
      await answerTo(first);
      const { db } = world.server.ctx;
      await until(async () => {
        await world.advance(500);
        return (await db.all(sql`SELECT 1 AS one FROM policy_grants WHERE ask_id = ${first.ask_id}`)).length === 1;
      });
      const second = await ask(input);
      const given = await answerTo(second);
      assert.deepEqual(gist(given), {
        status: "ANSWERED",
        source: "policy",
        answer_json: { approved: true, by: "policy" },
      });
      assert.equal(typeof given.policy_trace.grant, "string");
      await withPeople(await ask({ ...input, meta: { ...input.meta, env: "test" } }));
    });
  });
}
