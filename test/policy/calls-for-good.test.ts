import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { revokeGrant } from "../../src/policy/store/grants.ts";
import { sql } from "../../src/core/store/sql.ts";
import { OPERATOR } from "../support/identities.ts";
import { accepted, sharedScene } from "../support/a2h.ts";
import { until } from "../support/addressed.ts";
import { decider } from "../support/deciders.ts";
import { asked, broken, messagesAbout, operatorOf, record, RULES, withRules } from "../support/policy-calls.ts";
import { DATABASES } from "../support/world.ts";

const DAY_MS = 86_400_000;

for (const on of DATABASES) {
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
      const by = { kind: "person", id: OPERATOR, via: "policy", at: said.settled_at, shown: consent_digest, grant: id };
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
