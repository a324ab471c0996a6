import assert from "node:assert/strict";
import { chmodSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { describe, it } from "node:test";
import { transact } from "../../src/core/store/transact.ts";
import { noteServer } from "../../src/policy/store/servers.ts";
import { accepted, callBody, openScene, type Scene } from "../support/a2h.ts";
import { advanceUntil } from "../support/contract.ts";
import { withRules } from "../support/policy-calls.ts";
import { DATABASES } from "../support/world.ts";

const FILE = `# The rules of the shop.
version:   1

rules:
  # Refunds are looked at.
  - id: refunds   # since March
    when: { fn:   refund }
    decision: ESCALATE

  # Nobody drops a table.
  - { id: drops, when: { fn: drop_table },
      decision: DENY }   # never
  # The end.
`;
const REFUND = "id: refunds\nwhen: { fn: refund }\ndecision: ALLOW";

const listed = async (scene: Scene) => accepted(await scene.admin.call("GET", "//admin/policy/file"));
const preview = (scene: Scene, change: object) =>
  scene.admin.call("POST", "//admin/policy/file/preview", { since_s: 3600, ...change });
const save = (scene: Scene, change: object) => scene.admin.call("POST", "//admin/policy/file", change);
const fileOf = ({ world }: Scene) => readFileSync(world.config.relay.policyFile, "utf8");

/** Looks at a change and saves it as it was shown. */
async function saved(scene: Scene, change: object): Promise<string> {
  const { digest: from } = await listed(scene);
  const { shown } = accepted(await preview(scene, { ...change, from }));
  accepted(await save(scene, { ...change, from, shown }));
  return fileOf(scene);
}

for (const on of DATABASES) {
  describe(`a rule edited by an admin on ${on}`, () => {
    it("is shown first, then stands in the file as the only change, is in force, and is on record", async () => {
      await using scene = await openScene(on);
      await withRules(scene, FILE);
      chmodSync(scene.world.config.relay.policyFile, 0o640);
      accepted(await scene.agent.post("/function_calls", callBody({ fn: "refund" })));
      await scene.world.advance(1000);
      const { digest: from, fixed, rules } = await listed(scene);
      assert.deepEqual([fixed, rules.length], [null, 2]);
      assert.equal(rules[0], "id: refunds   # since March\nwhen: { fn:   refund }\ndecision: ESCALATE");
      const change = { from, do: "replace", place: 0, rule: REFUND };
      const { shown, rule, diff, before, after } = accepted(await preview(scene, change));
      assert.deepEqual([rule, before.asked, after.allowed], ["refunds", 1, 1]);
      assert.match(diff, /^-    decision: ESCALATE$/m);
      assert.match(diff, /^\+    decision: ALLOW$/m);
      assert.equal(fileOf(scene), FILE, "a preview stores nothing");
      const done = accepted(await save(scene, { ...change, shown }));
      assert.equal(done.digest, shown);
      const old = "id: refunds   # since March\n    when: { fn:   refund }\n    decision: ESCALATE";
      assert.equal(fileOf(scene), FILE.replace(old, REFUND.replaceAll("\n", "\n    ")));
      assert.equal(statSync(scene.world.config.relay.policyFile).mode & 0o777, 0o640);
      // A server that shares the database hears of it within a second.
      await advanceUntil(scene.world, 500, async () => {
        const call = accepted(await scene.agent.post("/function_calls", callBody({ fn: "refund" })));
        return call.status.approved === true;
      });
      const { items } = accepted(await scene.admin.get("/audit?action=policy_rule.changed"));
      assert.deepEqual(items[0].data, { rule: "refunds", change: "replace", before: from, after: shown });
    });

    it("is added at its place, or removed with its comment, and all else stays", async () => {
      await using scene = await openScene(on);
      await withRules(scene, FILE);
      const rule = "id: payouts\nwhen: { fn: pay_out }\ndecision: DENY";
      const lines = "  - id: payouts\n    when: { fn: pay_out }\n    decision: DENY\n";
      const first = await saved(scene, { do: "add", place: 0, rule });
      assert.equal(first, FILE.replace("  # Refunds", `${lines}  # Refunds`));
      assert.equal(await saved(scene, { do: "remove", place: 0 }), FILE);
      const last = await saved(scene, { do: "add", place: 2, rule });
      assert.equal(last, FILE.replace("  # The end", `${lines}  # The end`));
      await saved(scene, { do: "remove", place: 2 });
      const gone =
        "  # Nobody drops a table.\n  - { id: drops, when: { fn: drop_table },\n      decision: DENY }   # never\n";
      assert.equal(await saved(scene, { do: "remove", place: 1 }), FILE.replace(gone, ""));
      await withRules(scene, "version: 1\n# none\n");
      assert.equal(await saved(scene, { do: "add", place: 0, rule }), `version: 1\n# none\nrules:\n${lines}`);
      await withRules(scene, "version: 1\nrules: [ { id: a, when: { fn: x }, decision: DENY } ] # in brackets\n");
      const flow = "{ id: b, when: { fn: y }, decision: DENY }";
      assert.equal(
        await saved(scene, { do: "add", place: 1, rule: flow }),
        `version: 1\nrules: [ { id: a, when: { fn: x }, decision: DENY }, ${flow} ] # in brackets\n`,
      );
    });

    it("is refused with the member that is wrong, and the file stays", async () => {
      await using scene = await openScene(on);
      await withRules(scene, FILE);
      const { digest: from } = await listed(scene);
      const wrong = async (rule: string, change: object = {}) => {
        const reply = await preview(scene, { from, do: "replace", place: 0, rule, ...change });
        return [reply.status, reply.body.error.details.field];
      };
      assert.deepEqual(await wrong("id: refunds\nwhen: { fn: refund }\ndecision: MAYBE"), [400, "rule.decision"]);
      assert.deepEqual(await wrong("id: refunds\nwhen: { colour: red }\ndecision: DENY"), [400, "rule.when"]);
      assert.deepEqual(await wrong("id: drops\nwhen: { fn: refund }\ndecision: DENY", { place: 0 }), [400, "rule"]);
      assert.deepEqual(await wrong("id: [oops"), [400, "rule"]);
      assert.deepEqual(await wrong("- id: refunds"), [400, "rule"]);
      assert.deepEqual(await wrong(REFUND, { place: 7 }), [400, "place"]);
      assert.equal(fileOf(scene), FILE);
    });

    it("is not saved over a file that changed meanwhile, nor otherwise than it was shown", async () => {
      await using scene = await openScene(on);
      await withRules(scene, FILE);
      const { digest: from } = await listed(scene);
      const change = { from, do: "replace", place: 0, rule: REFUND };
      const { shown } = accepted(await preview(scene, change));
      const other = await save(scene, { ...change, rule: REFUND.replace("ALLOW", "DENY"), shown });
      assert.deepEqual([other.status, other.body.error.code], [409, "POLICY_FILE_CHANGED"]);
      writeFileSync(scene.world.config.relay.policyFile, `${FILE}# by hand\n`);
      for (const late of [await save(scene, { ...change, shown }), await preview(scene, change)])
        assert.deepEqual([late.status, late.body.error.code], [409, "POLICY_FILE_CHANGED"]);
      assert.equal(fileOf(scene), `${FILE}# by hand\n`);
      const { items } = accepted(await scene.admin.get("/audit?action=policy_rule.changed"));
      assert.deepEqual(items, []);
    });

    it("is refused where the file cannot be written, has a mistake, is gone, or is not the only one", async () => {
      await using scene = await openScene(on);
      await withRules(scene, FILE);
      const { ctx } = scene.world.server;
      const { policyFile: path } = scene.world.config.relay;
      const refused = async () => {
        const { fixed, digest: from } = await listed(scene);
        const reply = await save(scene, { from, do: "remove", place: 0, shown: from });
        assert.deepEqual([reply.status, reply.body.error.code], [409, "POLICY_FILE_FIXED"]);
        return [fixed, reply.body.error.details.reason, reply.body.error.message];
      };
      chmodSync(path, 0o444);
      assert.deepEqual((await refused()).slice(0, 2), ["read_only", "read_only"]);
      chmodSync(path, 0o644);
      await transact(ctx, (tx) =>
        noteServer(tx, { id: "o", name: "berlin, /etc/p.yaml", policyVersion: "1:0", policy: FILE }),
      );
      const [fixed, , says] = await refused();
      assert.equal(fixed, "other_servers");
      assert.match(says, /berlin, \/etc\/p\.yaml/);
      writeFileSync(path, "version: 1\nrules: 7\n");
      assert.equal((await refused())[0], "mistake");
      rmSync(path);
      assert.equal((await refused())[0], "missing");
    });
  });
}
