import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { accepted, callBody, contactBody, messageBody, openScene } from "../support/a2h.ts";
import { openAgentServer } from "../support/agent-server.ts";
import { advanceUntil } from "../support/contract.ts";
import { asked, broken, messagesAbout, operatorOf, record, withRules } from "../support/policy-calls.ts";
import { ONE_DATABASE } from "../support/world.ts";

for (const on of ONE_DATABASE) {
  describe(`rules about function calls on ${on}`, () => {
    it("decide as people do, at once and in their own name, and nobody is told", async () => {
      await using scene = await openScene(on);
      await withRules(scene);
      await using agent = await openAgentServer();
      const hooked = { url: `${agent.url}/hooks`, format: "v1beta2" };
      accepted(await scene.agent.post("/webhook_endpoints", hooked));
      const channel = { slack: { channel_or_user_id: "C024BE91L" } };

      const allowed = await asked(scene, { fn: "look_up_order", channel });
      const at = { responded_at: allowed.requested_at, resolved_at: allowed.requested_at };
      assert.deepEqual(allowed, {
        requested_at: allowed.requested_at,
        ...at,
        expires_at: allowed.expires_at,
        ask_id: allowed.ask_id,
        consent_digest: allowed.consent_digest,
        approved: true,
        comment: "Reading is harmless",
        user_info: { name: "policy: lookups", via: "policy" },
      });
      const denied = await asked(scene, { fn: "drop_database", channel });
      assert.deepEqual(
        [denied.approved, denied.comment, denied.user_info],
        [false, "Databases are dropped by hand", { name: "policy: no-drops", via: "policy" }],
      );
      assert.equal((await asked(scene, { fn: "wipe" })).comment, "no-wipes says DENY");

      for (const { ask_id, consent_digest, approved } of [allowed, denied]) {
        assert.equal(await messagesAbout(scene, ask_id), 0);
        const [created, decided, ...others] = await record(scene, ask_id);
        assert.deepEqual([created?.["action"], others], ["function_call.created", []]);
        assert.deepEqual(
          [decided?.["action"], decided?.["actor"], decided?.["via"], decided?.["consent_digest"]],
          [
            `function_call.${approved ? "approved" : "rejected"}`,
            { kind: "policy", id: approved ? "lookups" : "no-drops" },
            "policy",
            consent_digest,
          ],
        );
      }
      await advanceUntil(scene.world, 1000, () => agent.told.length >= 3);
      const told = agent.told.map(({ text }) => JSON.parse(text).event.status);
      assert.deepEqual(told.map(({ approved }) => approved).sort(), [false, false, true]);
      assert.deepEqual([scene.slack.sent, await (await operatorOf(scene)).inbox()], [[], []]);
      assert.deepEqual(await broken(scene), []);
    });

    it("see the arguments as they are bound, and leave to people what they cannot decide", async () => {
      await using scene = await openScene(on);
      await withRules(
        scene,
        `version: 1
rules:
  - { id: small, when: { fn: pay_out, args: { /amount: { max: 100 } }, expr: 'args.to == "shop"' }, decision: ALLOW }
  - { id: exact, when: { fn: move_units, args: { /units: { max: "9007199254740992" } } }, decision: ALLOW }
  - { id: looks, when: { fn: Bash, command: git log * }, decision: ALLOW }
  - { id: no-force, when: { fn: Bash, command: git push --force * }, decision: DENY }
`,
      );
      const decided = async (fn: string, kwargs: string) => {
        const body = JSON.stringify(callBody({ fn, kwargs: 0 })).replace('"kwargs":0', `"kwargs":${kwargs}`);
        const { approved = null, user_info } = accepted(await scene.agent.call("POST", "/function_calls", body)).status;
        return [approved, user_info?.name];
      };
      for (const [fn, kwargs, expected] of [
        ["pay_out", '{"amount":99.5,"to":"shop"}', [true, "policy: small"]],
        ["pay_out", '{"amount":1e2,"to":"shop"}', [true, "policy: small"]],
        ["pay_out", '{"amount":100.5,"to":"shop"}', [null, undefined]],
        ["pay_out", '{"amount":"99","to":"shop"}', [null, undefined]],
        ["pay_out", '{"to":"shop"}', [null, undefined]],
        ["move_units", '{"units":9007199254740992}', [true, "policy: exact"]],
        ["move_units", '{"units":9007199254740993}', [null, undefined]],
        ["Bash", '{"command":"git log -3"}', [true, "policy: looks"]],
        ["Bash", '{"command":"git log -3; ls"}', [null, undefined]],
        ["Bash", '{"command":"git push --force origin"}', [false, "policy: no-force"]],
        ["Bash", '{"command":"echo $(git push --force)"}', [false, "policy: no-force"]],
      ] as const) {
        assert.deepEqual(await decided(fn, kwargs), expected, `${fn} ${kwargs}`);
      }
    });

    it("come before whom the call names and how many must agree, and before edits; a replay is the same", async () => {
      await using scene = await openScene(on);
      await withRules(scene);
      const [ana, bo] = [await scene.human("Ana"), await scene.human("Bo")];
      const both = { all_of: [{ human: { id: ana.id } }, { human: { id: bo.id } }] };
      const { approved, ask_id } = await asked(scene, { fn: "ping", channel: both });
      assert.equal(approved, true);
      const late = await ana.answer.post(`/agent/function_calls/${ask_id}/respond`, { approved: false });
      const { code, by } = late.body.error;
      assert.deepEqual([late.status, code, by], [409, "already_responded", "policy: lookups"]);

      const big = '{"user":1152921504606846977,"note":null}';
      const body = JSON.stringify(callBody({ fn: "look_up_user", kwargs: 0, editable: true }));
      const sent = body.replace('"kwargs":0', `"kwargs":${big}`);
      const first = await scene.agent.call("POST", "/function_calls", sent);
      const again = await scene.agent.call("POST", "/function_calls", sent);
      assert.equal(first.status, 200, first.text);
      assert.ok(first.text.endsWith(`"kwargs":{"note":null,"user":1152921504606846977},"edited":false}}`), first.text);
      assert.deepEqual([again.text, again.headers.get("idempotency-replayed")], [first.text, "true"]);
      assert.equal(accepted(await scene.admin.get("/audit?action=function_call.approved")).items.length, 2);
    });

    it("leave to people what none of them names, whatever is said of executors, and never decide anything else", async () => {
      await using scene = await openScene(on);
      await withRules(scene);
      const other = await scene.holder({ name: "mallory", scope: "agent" });
      const open = [
        await asked(scene, { fn: "issue_refund" }),
        await asked(scene, { fn: "Ping" }),
        await asked(scene, { fn: "pay_out" }),
        await asked(scene, { fn: "look_up_order" }, other),
      ];
      for (const { approved, user_info, expires_at } of open) {
        assert.deepEqual([approved, user_info], [undefined, undefined]);
        assert.ok(expires_at);
      }
      accepted(await scene.agent.post("/human_contacts", contactBody({ msg: "ping" })));
      accepted(await scene.agent.post("/messages", messageBody({ message: "ping" })));
      assert.equal((await (await operatorOf(scene)).inbox()).length, open.length + 2);
    });

    it("change with the file, and what they decided stays; a file that holds a mistake leaves the last one", async () => {
      await using scene = await openScene(on);
      assert.equal((await asked(scene, { fn: "ping" })).approved, undefined);
      await withRules(scene);
      const { ask_id } = await asked(scene, { fn: "ping" });
      await withRules(scene, `version: 2\nrules: [{ id: x, when: { fn: "*" }, decision: ALLOW }]\n`);
      assert.equal((await asked(scene, { fn: "ping" })).user_info?.name, "policy: lookups");
      await withRules(scene, `version: 2\nrules: [{ id: no-pings, when: { fn: ping }, decision: DENY }]\n`);
      assert.equal((await asked(scene, { fn: "ping" })).approved, false);
      await withRules(scene, "version: 3\n");
      assert.equal((await asked(scene, { fn: "ping" })).approved, undefined);
      await scene.world.restart();
      assert.equal((await asked(scene, { fn: "ping" })).approved, undefined);
      const receipt = await scene.world.call("GET", `/receipts/${ask_id}`, {
        headers: { authorization: `Bearer ${scene.agent.key}` },
      });
      const said = JSON.parse(Buffer.from(receipt.text.split(".")[1] ?? "", "base64url").toString());
      assert.deepEqual(
        [said.outcome, said.decided, said.policy_version.slice(0, 2)],
        ["approved", [{ kind: "policy", id: "lookups", via: "policy", at: said.settled_at, shown: null }], "1:"],
      );
    });
  });
}
