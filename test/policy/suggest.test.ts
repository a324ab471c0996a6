import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { loadPolicy } from "../../src/policy/model/text.ts";
import { suggestPolicy } from "../../src/requests/read/suggest-policy.ts";
import { accepted, callBody, openScene } from "../support/a2h.ts";
import { withRules } from "../support/policy-calls.ts";
import { parley } from "../support/program.ts";
import { ONE_DATABASE } from "../support/world.ts";

const HOUR_MS = 3_600_000;
const cwd = "/home/kim/shop";
const prompt = { agent_prompt: { agent: "claude" } };

for (const on of ONE_DATABASE) {
  describe(`rules that recorded decisions speak for, on ${on}`, () => {
    const opened = async () => {
      const scene = await openScene(on, { running: true });
      const ana = await scene.human("Ana");
      const ask = async (fn: string, kwargs: object, approved: boolean | null): Promise<void> => {
        const spec = { fn, kwargs, channel: { human: { id: ana.id } } };
        const { status } = accepted(await scene.agent.post("/function_calls", callBody(spec, prompt)));
        if (approved === null || status.approved !== undefined) return;
        accepted(await ana.answer.post(`/agent/function_calls/${status.ask_id}/respond`, { approved }));
      };
      return { scene, ask, bash: (command: string, said: boolean | null) => ask("Bash", { command, cwd }, said) };
    };

    it("are printed for the policy file, with examples and their nearest neighbours, and change nothing", async () => {
      const { scene, ask, bash } = await opened();
      await using world = scene.world;
      for (const command of ["npm test", "npm test a.test.ts", "npm test b.test.ts"]) await bash(command, true);
      await bash("npm test; rm x", false);
      await bash("npm publish", null);
      for (const amount of [20_000, 20_001, 20_002]) await ask("refund", { amount, currency: "EUR" }, true);
      const place = ["--data-dir", world.config.dataDir];
      const { code, out, err } = await parley(["policy", "suggest", ...place]);
      assert.deepEqual(
        [code, out],
        [
          0,
          `  # 3 approved calls, such as: Run \`npm test\`; Run \`npm test a.test.ts\`; Run \`npm test b.test.ts\`
  # Not covered: Run \`npm test; rm x\`; Run \`npm publish\`
  - id: suggested-support-Bash
    when:
      fn: Bash
      agent: support
      command: [ npm test * ]
      args:
        /cwd: { equals: /home/kim/shop }
    decision: ALLOW
`,
        ],
      );
      assert.match(
        err,
        /8 calls of the last 30d, 3 approved by people and by no rule: 1 rule proposed, and none in force/,
      );
      const json = JSON.parse((await parley(["policy", "suggest", "--json", ...place])).out) as { rules: object[] };
      assert.equal(json.rules.length, 1);
      await bash("npm test", null);
      await withRules(scene, `version: 1\nrules:\n${out}`);
      const { calls, approved, rules } = await suggestPolicy(
        world.server.ctx,
        await loadPolicy(`version: 1\nrules:\n${out}`),
        { sinceMs: HOUR_MS, least: 3 },
      );
      assert.deepEqual([calls, approved, rules], [9, 0, []]);
    });

    it("are proposed to admins over HTTP, none for a call that was refused, as lines that a policy file may hold", async () => {
      const { scene, ask, bash } = await opened();
      await using world = scene.world;
      await world.server.reload();
      for (const command of ["npm test", "npm test a.test.ts", "npm test b.test.ts"]) await bash(command, true);
      await bash("npm test; rm x", false);
      await bash("npm publish", false);
      for (const path of ["src/a.ts", "src/b.ts", "src/c.ts"]) await ask("Read", { file_path: path, cwd }, true);
      await ask("Read", { file_path: "src/keys.ts", cwd }, false);
      const suggest = (by: typeof scene.agent, since_s = 3600) =>
        by.call("POST", "//admin/policy/suggest", { since_s });
      const { file, learn_after, calls, approved, more, rules } = accepted(await suggest(scene.admin));
      const [rule = assert.fail()] = rules as { lines: readonly string[]; flow: string }[];
      assert.deepEqual([file, learn_after], [world.config.relay.policyFile, 3]);
      assert.deepEqual([calls, approved, more], [9, 6, false]);
      assert.deepEqual(rules, [
        {
          id: "suggested-support-Bash",
          when: { fn: "Bash", agent: "support", command: ["npm test *"], args: { "/cwd": { equals: cwd } } },
          approved: 3,
          examples: ["Run `npm test`", "Run `npm test a.test.ts`", "Run `npm test b.test.ts`"],
          not_covered: ["Run `npm test; rm x`", "Run `npm publish`"],
          lines: rule.lines,
          flow: rule.flow,
        },
      ]);
      const block = ["version: 1", "rules:", ...rule.lines, ""].join("\n");
      for (const text of [block, `version: 1\nrules: [${rule.flow}]\n`]) {
        const replayed = accepted(await scene.admin.call("POST", "//admin/policy/replay", { text, since_s: 3600 }));
        assert.deepEqual([replayed.allowed, replayed.asked, replayed.contradictions], [3, 6, []]);
      }
      assert.equal((await suggest(scene.agent)).status, 403);
      assert.equal((await suggest(scene.admin, 5)).status, 400);
      await withRules(scene, block);
      assert.deepEqual(accepted(await suggest(scene.admin)).rules, []);
    });

    it("are none where the setting says so", async () => {
      await using scene = await openScene(on, { env: { PARLEY_POLICY_LEARN_AFTER: "0" } });
      const { learn_after, rules } = accepted(
        await scene.admin.call("POST", "//admin/policy/suggest", { since_s: 3600 }),
      );
      assert.deepEqual([learn_after, rules], [0, []]);
    });
  });
}
