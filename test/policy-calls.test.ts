import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { describe, it } from "node:test";
import { revokeGrant } from "../src/store/policy-grants.ts";
import { sql } from "../src/store/sql.ts";
import { examineStore } from "../src/verbs/examine-store.ts";
import { OPERATOR } from "../src/verbs/prepare-first-start.ts";
import { accepted, callBody, contactBody, messageBody, openScene, sharedScene, type Scene } from "./a2h.ts";
import { until } from "./addressed.ts";
import { openAgentServer } from "./agent-server.ts";
import { decider, type Decider } from "./deciders.ts";
import { DATABASES } from "./world.ts";

const DAY_MS = 86_400_000;
const RULES = `version: 1
defaults: { read: ALLOW, other: DENY }
rules:
  - { id: lookups, when: { fn: [ "look_up_*", ping ], agent: support }, decision: ALLOW, reason: Reading is harmless }
  - { id: no-drops, when: { fn: drop_database }, decision: DENY, reason: Databases are dropped by hand }
  - { id: no-wipes, when: { fn: wipe }, decision: DENY }
  - { id: payouts, when: { fn: pay_out }, decision: ESCALATE, standing: false }
  - { id: relayed, when: { agent: support }, decision: ALLOW }
  - { id: anything, when: { action: "*" }, decision: DENY }
`;

async function withRules(scene: Scene, text = RULES): Promise<void> {
  writeFileSync(scene.world.config.relay.policyFile, text);
  await scene.world.server.reload();
}

const operatorOf = ({ world }: Scene): Promise<Decider> => decider(world, OPERATOR);

/** Asks whether a call may run; returns its status as the reply and as a later reading have it. */
async function asked(scene: Scene, spec: Record<string, unknown>, by = scene.agent, more = {}) {
  const body = callBody(spec, more);
  const call = accepted(await by.post("/function_calls", body));
  assert.deepEqual(accepted(await by.get(`/function_calls/${body.call_id}`)), call);
  return call.status;
}

const record = async (scene: Scene, askId: string) =>
  accepted(await scene.admin.get(`/audit?ask_id=${askId}`)).items as Record<string, unknown>[];

const messagesAbout = async (scene: Scene, askId: string): Promise<number> => {
  const { db } = scene.world.server.ctx;
  const rows = await db.all(sql`SELECT delivery_id FROM deliveries WHERE ask_id = ${askId}`);
  return rows.length;
};

async function broken({ world }: Scene): Promise<string[]> {
  const findings = await examineStore(world.server.ctx, { quick: false });
  return findings.filter(({ offenders }) => offenders.length > 0).map(({ check }) => check);
}

for (const on of DATABASES) {
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
        ...{ requested_at: allowed.requested_at, ...at, expires_at: allowed.expires_at, ask_id: allowed.ask_id },
        ...{ consent_digest: allowed.consent_digest, approved: true, comment: "Reading is harmless" },
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
            ...["policy", consent_digest],
          ],
        );
      }
      for (let i = 0; agent.told.length < 3; i += 1) {
        assert.ok(i < 500, "the agent was not told");
        await scene.world.advance(1000);
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      const told = agent.told.map(({ text }) => JSON.parse(text).event.status);
      assert.deepEqual(told.map(({ approved }) => approved).sort(), [false, false, true]);
      assert.deepEqual([scene.slack.sent, await (await operatorOf(scene)).inbox()], [[], []]);
      assert.deepEqual(await broken(scene), []);
    });

    it("come before whom the call names and how many must agree, and before edits; a replay is the same", async () => {
      await using scene = await openScene(on);
      await withRules(scene);
      const [ana, bo] = [await scene.human("Ana"), await scene.human("Bo")];
      const both = { all_of: [{ human: { id: ana.id } }, { human: { id: bo.id } }] };
      assert.equal((await asked(scene, { fn: "ping", channel: both })).approved, true);

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

  describe(`calls that a person allowed for good, on ${on}`, () => {
    const scene = sharedScene(on);
    const DEPLOY = { fn: "deploy", kwargs: { env: "staging", version: "1.4.2" } };

    /** The operator approves the call, and allows it for good; returns the grant. */
    async function allow(spec: Record<string, unknown> = DEPLOY, by = scene().agent) {
      const operator = await operatorOf(scene());
      const { ask_id } = await asked(scene(), spec, by);
      assert.equal((await operator.whole(ask_id)).body.may_stand, true);
      accepted(await operator.decide(ask_id, { approved: true, standing: true }));
      const grants = (await policy()).grants as { ask_id: string; id: string }[];
      return grants.find((one) => one.ask_id === ask_id) ?? assert.fail("nothing was allowed for good");
    }
    const headers = () => ({ authorization: `Bearer ${scene().admin.key}` });
    const policy = async () => accepted(await scene().world.call("GET", "/admin/policy", { headers: headers() }));
    const revoke = async (id: string) =>
      accepted(await scene().world.call("DELETE", `/admin/policy/grants/${id}`, { headers: headers() }));

    it("are approved in that person's name: for this agent, exactly these arguments and thirty days", async () => {
      const { id } = await allow();
      const status = await asked(scene(), { ...DEPLOY, kwargs: { version: "1.4.2", env: "staging" } });
      const { user_info, approved, ask_id, consent_digest } = status;
      const [{ id: number }] = accepted(await scene().admin.get("/humans?view=admin")).humans;
      assert.deepEqual([approved, user_info], [true, { id: number, name: "operator", via: "policy" }]);
      assert.equal(await messagesAbout(scene(), ask_id), 0);
      const [, decided] = await record(scene(), ask_id);
      assert.deepEqual(
        [decided?.["actor"], decided?.["via"], decided?.["consent_digest"]],
        [{ kind: "human", id: OPERATOR }, "policy", consent_digest],
      );
      const [grant] = (await policy()).grants;
      assert.deepEqual(
        [grant.id, grant.action, grant.agent, grant.digest, grant.by, grant.live, grant.spared],
        [id, "deploy", "support", consent_digest, OPERATOR, true, 1],
      );

      const question = { fn: "deploy", agent: "support", digest: consent_digest };
      const test = { headers: headers(), body: question };
      const { trace, words } = accepted(await scene().world.call("POST", "/admin/policy/test", test));
      assert.deepEqual([trace.decision, trace.grant], ["ALLOW", id]);
      assert.equal(words[0], 'Asked about: agent "support", fn "deploy".');

      const mallory = await scene().holder({ name: "mallory", scope: "agent" });
      const rotated = await scene().holder({ name: "support", scope: "agent" });
      assert.equal((await asked(scene(), DEPLOY, rotated)).approved, true);
      for (const other of [
        asked(scene(), DEPLOY, mallory),
        asked(scene(), { ...DEPLOY, fn: "Deploy" }),
        asked(scene(), { ...DEPLOY, kwargs: { ...DEPLOY.kwargs, force: null } }),
        asked(scene(), { ...DEPLOY, kwargs: { ...DEPLOY.kwargs, env: "prod" } }),
      ])
        assert.equal((await other).approved, undefined);
      const receipt = await scene().world.call("GET", `/receipts/${ask_id}`, { headers: headers() });
      const said = JSON.parse(Buffer.from(receipt.text.split(".")[1] ?? "", "base64url").toString());
      const by = { kind: "person", id: OPERATOR, via: "policy", at: said.settled_at, shown: consent_digest };
      assert.deepEqual(said.decided, [by]);

      await scene().world.advance(30 * DAY_MS - 60_000);
      assert.equal((await asked(scene(), DEPLOY)).approved, true);
      await scene().world.advance(60_000);
      assert.equal((await asked(scene(), DEPLOY)).approved, undefined);
      assert.deepEqual(await broken(scene()), []);
    });

    it("are people's again once it is revoked, by a stricter rule, and at no time for several who must agree", async () => {
      const spec = { ...DEPLOY, kwargs: { version: "2" } };
      const { id } = await allow(spec);
      const [ana, bo] = [await scene().human("Ana"), await scene().human("Bo")];
      const of = [{ human: { id: ana.id } }, { human: { id: bo.id } }];
      for (const channel of [{ all_of: of }, { quorum: { min: 1, of } }])
        assert.equal((await asked(scene(), { ...spec, channel })).approved, undefined);
      assert.equal((await asked(scene(), { ...spec, channel: { human: { id: ana.id } } })).approved, true);

      await withRules(scene(), `version: 1\nrules: [{ id: no, when: { fn: deploy }, decision: DENY }]\n`);
      assert.equal((await asked(scene(), spec)).approved, false);
      const strict = "{ id: always, when: { fn: deploy }, decision: ESCALATE, standing: false }";
      await withRules(scene(), `version: 1\nrules: [${strict}]\n`);
      assert.equal((await asked(scene(), spec)).approved, undefined);
      await withRules(scene(), "version: 1\n");
      assert.equal((await asked(scene(), spec)).approved, true);

      const { revoked_at, spared } = await revoke(id);
      assert.deepEqual([revoked_at === null, spared], [false, 2]);
      assert.equal((await asked(scene(), spec)).approved, undefined);
      await scene().world.restart();
      assert.equal((await asked(scene(), spec)).approved, undefined);
    });

    it("survive a restart, but for a start with a file that is not in force: then people decide everything", async () => {
      const spec = { ...DEPLOY, kwargs: { version: "3" } };
      await allow(spec);
      await scene().world.restart();
      assert.equal((await asked(scene(), spec)).approved, true);
      await withRules(scene(), "version: [\n");
      assert.equal((await asked(scene(), spec)).approved, true);
      await scene().world.restart();
      assert.equal((await asked(scene(), spec)).approved, undefined);
      await withRules(scene(), "version: 1\n");
      assert.equal((await asked(scene(), spec)).approved, true);
    });

    it("were allowed by an admin who was asked alone and saw what will run", async () => {
      const operator = await operatorOf(scene());
      const ana = await scene().human("Ana");
      const [bo, cy] = [await scene().human("Bo"), await scene().human("Cy")];
      const of = [{ human: { id: bo.id } }, { human: { id: cy.id } }];
      await withRules(scene(), RULES);
      for (const [spec, person] of [
        [{ fn: "restart", channel: { human: { id: ana.id } } }, await decider(scene().world, ana.person)],
        [{ fn: "restart", channel: { all_of: of } }, await decider(scene().world, bo.person)],
        [{ fn: "restart", editable: true }, operator],
        [{ fn: "pay_out" }, operator],
      ] as const) {
        const { ask_id } = await asked(scene(), spec);
        assert.equal((await person.whole(ask_id)).body.may_stand, false);
        const refused = await person.decide(ask_id, { approved: true, standing: true });
        assert.deepEqual([refused.status, refused.body.error.code], [409, "NOT_GRANTABLE"]);
        accepted(await person.decide(ask_id, { approved: true }));
      }
      await withRules(scene(), "version: 1\n");
    });

    if (on === "postgres") {
      it("are for people where it is revoked between being read and being used", async () => {
        const spec = { ...DEPLOY, kwargs: { version: "5" } };
        const { id } = await allow(spec);
        const { db } = scene().world.server.ctx;
        const [held, commit] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
        const revoking = db.transact(async (tx) => {
          await revokeGrant(tx, id, OPERATOR);
          held.resolve();
          await commit.promise;
        });
        await held.promise;
        const asking = asked(scene(), spec);
        const waiting = sql`SELECT pid FROM pg_stat_activity
          WHERE datname = current_database() AND wait_event_type = 'Lock'`;
        await until(async () => (await db.all(waiting)).length > 0);
        commit.resolve();
        await revoking;
        const { approved, user_info, ask_id } = await asking;
        assert.deepEqual([approved, user_info], [undefined, undefined]);
        assert.equal((await record(scene(), ask_id)).length, 1);
        assert.ok((await (await operatorOf(scene())).inbox()).some((one) => one.id === ask_id));
      });
    }

    it("are decided once each when what allowed them is revoked meanwhile: by its person before, by people after", async () => {
      for (let round = 0; round < 5; round += 1) {
        const spec = { ...DEPLOY, kwargs: { version: "4", round } };
        const { id } = await allow(spec);
        const calls = Array.from({ length: 8 }, () => asked(scene(), spec));
        const [{ spared }, ...all] = await Promise.all([revoke(id), ...calls]);
        const approved = all.filter((status) => status.approved === true);
        assert.equal(approved.length, spared);
        for (const one of all) assert.ok(one.approved === true || one.user_info === undefined);
        assert.equal((await asked(scene(), spec)).approved, undefined);
      }
      assert.deepEqual(await broken(scene()), []);
    });
  });
}
