import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { loadPolicy } from "../../src/policy/model/text.ts";
import { replayPolicy } from "../../src/requests/read/replay-policy.ts";
import { accepted, callBody, openScene } from "../support/a2h.ts";
import { ONE_DATABASE } from "../support/world.ts";

const HOUR_MS = 3_600_000;

for (const on of ONE_DATABASE) {
  describe(`a policy tried on recorded calls on ${on}`, () => {
    it("uses up an allowance, the oldest call first, and is tried over HTTP before it is in force", async () => {
      await using scene = await openScene(on);
      for (let day = 0; day < 2; day += 1) {
        for (const amount of [6, 5, 4]) {
          accepted(await scene.agent.post("/function_calls", callBody({ fn: "refund", kwargs: { amount } })));
          await scene.world.advance(1000);
        }
        await scene.world.advance(24 * HOUR_MS);
      }
      const most = "{ per: day, calls: 2, /amount: 10 }";
      const text = `version: 1\nrules: [{ id: few, when: { fn: refund }, decision: ALLOW, most: ${most} }]\n`;
      const replay = (body: object) => scene.admin.call("POST", "//admin/policy/replay", body);
      const { calls, allowed, refused, asked, rules, newest, more } = accepted(
        await replay({ text, since_s: 200_000 }),
      );
      assert.deepEqual([calls, allowed, refused, asked, more], [6, 4, 0, 2, false]);
      assert.deepEqual(rules, [{ rule: "few", calls: 4 }]);
      assert.deepEqual(newest.map(({ decision }: { decision: string }) => decision).slice(0, 3), [
        "ALLOW",
        "ESCALATE",
        "ALLOW",
      ]);
      assert.equal(accepted(await replay({ since_s: 200_000 })).asked, 6);
      const wrong = await replay({ text: "version: 1\nrules: [{ when: {} }]\n", since_s: 60 });
      assert.deepEqual([wrong.status, wrong.body.error.details.field], [400, "text"]);
      assert.match(wrong.text, /policy.yaml:2: rules\[0\]/);
      assert.equal((await scene.agent.call("POST", "//admin/policy/replay", { since_s: 60 })).status, 403);
    });

    it("tells how many calls each observed rule would change", async () => {
      await using scene = await openScene(on);
      for (const amount of [1, 2])
        accepted(await scene.agent.post("/function_calls", callBody({ fn: "refund", kwargs: { amount } })));
      const rule = (id: string, decision: string, more = "") =>
        `  - { id: ${id}, when: { fn: refund${more} }, decision: ${decision} }\n`;
      const observed = ["ALLOW", "DENY", "ESCALATE"].map((one) => rule(`o-${one}`, `${one}, mode: observe`));
      const policyOf = (...rules: readonly string[]) => loadPolicy(`version: 1\nrules:\n${rules.join("")}`);
      const { ctx } = scene.world.server;
      const changes = async (...rules: readonly string[]) =>
        (await replayPolicy(ctx, await policyOf(...observed, ...rules), { sinceMs: HOUR_MS })).matched
          .slice(0, 3)
          .map(({ changed }) => changed);
      assert.deepEqual(await changes(), [2, 2, 0]);
      assert.deepEqual(await changes(rule("all", "ALLOW")), [0, 2, 2]);
      assert.deepEqual(await changes(rule("none", "DENY")), [0, 0, 0]);
      assert.deepEqual(await changes(rule("small", "ALLOW", ", args: { /amount: 1 }")), [1, 2, 1]);
    });

    it("names the rule that decides, and tries only the newest calls", async () => {
      await using scene = await openScene(on);
      for (let call = 0; call < 3; call += 1) {
        accepted(await scene.agent.post("/function_calls", callBody({ fn: "refund" })));
        await scene.world.advance(1000);
      }
      const policy = await loadPolicy(`version: 1
rules:
  - { id: first, when: { fn: refund }, decision: ALLOW }
  - { id: stronger, when: { fn: refund }, decision: DENY }
`);
      const newestOf = async (most: number) => {
        await scene.world.advance(1);
        return replayPolicy(scene.world.server.ctx, policy, { sinceMs: HOUR_MS, most });
      };
      const { calls, more, newest } = await newestOf(2);
      assert.deepEqual([calls, more, newest[0]?.rule], [2, true, "stronger"]);
      const all = await newestOf(3);
      assert.deepEqual([all.calls, all.more], [3, false]);
    });

    it("counts what it would decide, and names what people decided otherwise", async () => {
      await using scene = await openScene(on);
      const { ctx } = scene.world.server;
      const ana = await scene.human("Ana");
      const channel = { human: { id: ana.id } };
      const ask = async (fn: string, kwargs: Record<string, unknown>): Promise<string> => {
        await scene.world.advance(1000);
        return accepted(await scene.agent.post("/function_calls", callBody({ fn, kwargs, channel }))).status.ask_id;
      };
      const decide = async (id: string, approved: boolean) =>
        accepted(await ana.answer.post(`/agent/function_calls/${id}/respond`, { approved }));
      const small = await ask("refund", { amount: 5 });
      const refused = await ask("refund", { amount: 9 });
      const large = await ask("refund", { amount: 500 });
      const forced = await ask("deploy", { force: true });
      await ask("deploy", {});
      await decide(small, true);
      await decide(refused, false);
      await decide(large, true);
      await decide(forced, true);
      const policy = await loadPolicy(`version: 1
rules:
  - { id: small, when: { fn: refund, args: { /amount: { max: 10 } } }, decision: ALLOW }
  - { id: no-force, when: { fn: deploy, args: { /force: { exists: true, equals: true } } }, decision: DENY }
`);
      const pages: number[] = [];
      const replay = await replayPolicy(ctx, policy, { sinceMs: HOUR_MS, onProgress: (calls) => pages.push(calls) });
      assert.deepEqual([replay.calls, replay.decisions, pages], [5, { ALLOW: 2, DENY: 1, ESCALATE: 2 }, [5]]);
      assert.deepEqual(replay.matched, [
        { rule: "small", calls: 2 },
        { rule: "no-force", calls: 1 },
      ]);
      assert.deepEqual(
        replay.contradictions.map(({ id, approvedByPeople, decision, rule }) => [id, approvedByPeople, decision, rule]),
        [
          [forced, true, "DENY", "no-force"],
          [refused, false, "ALLOW", "small"],
        ],
      );
      assert.deepEqual(
        replay.newest.map(({ fn, decision, rule }) => [fn, decision, rule]),
        [
          ["deploy", "ESCALATE", "policy.yaml"],
          ["deploy", "DENY", "no-force"],
          ["refund", "ESCALATE", "policy.yaml"],
          ["refund", "ALLOW", "small"],
          ["refund", "ALLOW", "small"],
        ],
      );
      await scene.world.advance(2 * HOUR_MS);
      assert.equal((await replayPolicy(ctx, policy, { sinceMs: HOUR_MS })).calls, 0);
    });
  });
}
