import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { sha256Digest } from "../../../src/lib/json/exact-json.ts";
import { freshId, sharedScene } from "../../support/a2h.ts";
import { decider } from "../../support/deciders.ts";
import { DATABASES } from "../../support/world.ts";

const PNG = "iVBORw0KGgoAAAANSUhEUg==";
const pay = (amount: number) => ({ spec: { fn: "pay_out", kwargs: { amount, currency: "EUR" } } });
const wipe = { spec: { fn: "Bash", kwargs: { command: "rm -rf /srv/data" } } };

for (const on of DATABASES) {
  describe(`a plan in the inbox on ${on}`, () => {
    const scene = sharedScene(on);
    const made = async (more: object = {}) => {
      const ana = await scene().human("Ana Ruiz");
      const given = { plan_id: freshId(), run_id: "run_9", channel: { human: { id: ana.id } }, ...more };
      const reply = await scene().agent.post("/plans", given);
      assert.equal(reply.status, 201, reply.text);
      const who = await decider(scene().world, ana.person);
      const id = reply.body.status.ask_id as string;
      return { id, ana: who, whole: (await who.whole(id)).body };
    };

    it("is its calls in their order, each with its sentence, risk, digest and arguments", async () => {
      const { whole } = await made({ title: "Pay and tidy", calls: [pay(1), pay(2), wipe] });
      assert.deepEqual(
        [whole.arguments, whole.kwargs, whole.plan.title, whole.sentence],
        [null, null, "Pay and tidy", "Plan of 3 calls: Pay and tidy"],
      );
      assert.deepEqual(
        whole.plan.calls.map(({ place, fn, risk }: Record<string, unknown>) => [place, fn, risk]),
        [
          [1, "pay_out", "normal"],
          [2, "pay_out", "normal"],
          [3, "Bash", "high"],
        ],
      );
      const [first, , third] = whole.plan.calls;
      assert.equal(first.sentence, "Pay out 1 EUR");
      assert.deepEqual(
        first.arguments.map(({ name, text }: Record<string, unknown>) => [name, text]),
        [
          ["amount", "1"],
          ["currency", '"EUR"'],
        ],
      );
      assert.match(first.digest, /^sha256:/);
      assert.deepEqual(third.risk_reasons, whole.risk_reasons);
    });

    it("without a title is its first call and the number of the others", async () => {
      const { ana, whole } = await made({ calls: [pay(1), pay(2), pay(3)] });
      assert.deepEqual([whole.plan.title, whole.sentence], [null, "Pay out 1 EUR and 2 more"]);
      assert.equal((await made({ calls: [pay(4)] })).whole.sentence, "Pay out 4 EUR");
      const lines = await ana.inbox();
      assert.ok(lines.some((one) => "sentence" in one && one.sentence === whole.sentence));
    });

    it("has its evidence by kind, and each image by its address on this server", async () => {
      const { id, whole } = await made({
        calls: [pay(1)],
        evidence: [
          { kind: "markdown", title: "Why", text: "# Why\n![x](https://evil.example/x.png) <b>\u202e</b>" },
          { kind: "image", media_type: "image/png", data: PNG },
          { kind: "table", columns: ["a", "b"], rows: [["1", "2\u200b"]] },
          { kind: "link", url: "https://example.com/build/412", digest: sha256Digest("x") },
          { kind: "diff", text: "-a\n+b" },
          { kind: "diff", text: "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b" },
        ],
      });
      const digest = sha256Digest(Buffer.from(PNG, "base64"));
      assert.deepEqual(whole.plan.evidence, [
        { kind: "markdown", title: "Why", text: "# Why\n![x](https://evil.example/x.png) <b>\\u202e</b>" },
        { kind: "image", title: null, src: `/people/me/asks/${id}/evidence/2`, media_type: "image/png", digest },
        { kind: "table", title: null, columns: ["a", "b"], rows: [["1", "2\\u200b"]] },
        {
          kind: "link",
          title: null,
          text: "https://example.com/build/412",
          href: "https://example.com/build/412",
          host: "example.com",
          digest: sha256Digest("x"),
        },
        {
          kind: "diff",
          title: null,
          lines: [
            { sign: "-", text: "-a" },
            { sign: "+", text: "+b" },
          ],
        },
        {
          kind: "diff",
          title: null,
          lines: [
            { sign: "@", text: "--- a/x" },
            { sign: "@", text: "+++ b/x" },
            { sign: "@", text: "@@ -1 +1 @@" },
            { sign: "-", text: "-a" },
            { sign: "+", text: "+b" },
          ],
        },
      ]);
    });

    it("says how many of its calls were approved", async () => {
      const { id, ana, whole } = await made({ calls: [pay(1), pay(2), pay(3)] });
      assert.equal(whole.outcome, null);
      await ana.decide(id, { approved: true, approved_calls: 2 });
      assert.equal((await ana.whole(id)).body.outcome.approved_calls, 2);
      const all = await made({ calls: [pay(1), pay(2)] });
      await all.ana.decide(all.id, { approved: true });
      assert.equal((await all.ana.whole(all.id)).body.outcome.approved_calls, 2);
      const none = await made({ calls: [pay(1), pay(2)] });
      await none.ana.decide(none.id, { approved: true, approved_calls: 0 });
      const { approved, approved_calls: calls } = (await none.ana.whole(none.id)).body.outcome;
      assert.deepEqual([approved, calls], [false, null]);
    });

    it("of 200 large calls is read without holding up others", async () => {
      const text = "word ".repeat(3000);
      const { id, ana } = await made({
        calls: Array.from({ length: 200 }, (_, at) => ({ spec: { fn: "write_note", kwargs: { at, text } } })),
      });
      let turns = 0;
      let isRead = false;
      const count = (): void => {
        turns += 1;
        if (!isRead) setImmediate(count);
      };
      count();
      const { body } = await ana.whole(id);
      isRead = true;
      assert.equal(body.plan.calls.length, 200);
      assert.ok(turns > 200, `${turns} turns of the event loop`);
    });
  });
}
