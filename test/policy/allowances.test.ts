import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { listUsed } from "../../src/policy/store/allowances.ts";
import { accepted, callBody, sharedScene } from "../support/a2h.ts";
import { asked, withRules } from "../support/policy-calls.ts";
import { DATABASES } from "../support/world.ts";

const HOUR_MS = 3_600_000;

for (const on of DATABASES) {
  describe(`rules that allow so much, on ${on}`, () => {
    const scene = sharedScene(on);
    const rules = (most: string, id = "some") =>
      withRules(scene(), `version: 1\nrules: [{ id: ${id}, when: { fn: refund }, decision: ALLOW, most: ${most} }]\n`);
    const refund = (amount: unknown, more = {}) =>
      asked(scene(), { fn: "refund", kwargs: { amount } }, scene().agent, more).then(({ approved }) => approved);
    const used = async (id: string) => (await listUsed(scene().world.server.ctx.db, [id]))[0];

    it("allow exactly so much of an amount, and count nothing of what people decide", async () => {
      await rules("{ per: hour, /amount: 100 }", "sum");
      const decided = [];
      for (const amount of [60, 40.01, 39.99, 0.02, "1", -5, 0.01, 0.000001]) decided.push(await refund(amount));
      assert.deepEqual(decided, [true, undefined, true, undefined, undefined, undefined, true, undefined]);
      assert.equal((await used("sum"))?.amount, 100_000_000);
      const { rules: shown } = accepted(await scene().admin.call("GET", "//admin/policy"));
      const about =
        /^fn is "refund"; at most 100 of \/amount an hour \(3 calls, 100 of \/amount used since 20\d\d-.*Z\)$/;
      assert.match(shown[0].about, about);
      await scene().world.advance(HOUR_MS - 1000);
      assert.equal(await refund(1), undefined);
      await scene().world.advance(1000);
      assert.deepEqual([await refund(100), await refund(0.01)], [true, undefined]);
    });

    it("count a call once that is made again, and none that is refused", async () => {
      await rules("{ per: day, calls: 5 }", "once");
      const body = callBody({ fn: "refund", kwargs: { amount: 1 } });
      const made = await Promise.all([1, 2, 3].map(() => scene().agent.post("/function_calls", body)));
      assert.deepEqual(
        made.map((reply) => accepted(reply).status.approved),
        [true, true, true],
      );
      const other = await scene().agent.post("/function_calls", { ...body, spec: { fn: "refund", kwargs: {} } });
      assert.deepEqual([other.status, (await used("once"))?.calls], [409, 1]);
    });

    it("allow each run of an agent its own", async () => {
      await rules("{ per: run, calls: 1 }", "runs");
      const runs = ["a", "a", "b"].map((run_id) => ({ run_id }));
      const decided = [];
      for (const run of runs) decided.push(await refund(1, run));
      assert.deepEqual(decided, [true, undefined, true]);
    });

    it("allow exactly so many calls at once, on each server, and leave the rest to people", async () => {
      await rules("{ per: day, calls: 7, /amount: 1000 }", "seven");
      const servers = on === "postgres" ? [scene().world, await scene().world.addNode()] : [scene().world];
      const headers = { authorization: `Bearer ${scene().agent.key}` };
      const calls = Array.from({ length: 24 }, async (_, i) => {
        const body = callBody({ fn: "refund", kwargs: { amount: i } });
        const server = servers[i % servers.length] ?? scene().world;
        return accepted(await server.call("POST", "/a2h/v1alpha1/function_calls", { headers, body })).status.approved;
      });
      const approved = (await Promise.all(calls)).filter((one) => one === true).length;
      assert.deepEqual([approved, (await used("seven"))?.calls], [7, 7]);
      await scene().world.restart();
      assert.equal(await refund(1), undefined);
    });
  });
}
