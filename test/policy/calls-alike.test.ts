import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { sql } from "../../src/core/store/sql.ts";
import { OPERATOR } from "../support/identities.ts";
import { accepted, callBody, sharedScene } from "../support/a2h.ts";
import { erasePerson } from "../../src/personal-data/erase-person.ts";
import { enrol } from "../support/addressed.ts";
import { type Decider, decider } from "../support/deciders.ts";
import { asked, broken, operatorOf, record, withRules } from "../support/policy-calls.ts";
import { DATABASES } from "../support/world.ts";

const HOUR_S = 3600;
const FOLDER = "/home/kim/shop";

interface Offered {
  id: string;
  says: string;
  covered: object;
}

for (const on of DATABASES) {
  describe(`calls like one that a person allowed, on ${on}`, () => {
    const scene = sharedScene(on);
    const headers = () => ({ authorization: `Bearer ${scene().admin.key}` });
    const prompt = { run_id: "session-1", agent_prompt: { agent: "claude" } };
    const bash = (command: string, cwd = FOLDER) => ({
      fn: "Bash",
      kwargs: { command, description: `of ${command}`, cwd },
      editable: true,
    });
    const ask = (spec: Record<string, unknown>, more = {}) =>
      asked(scene(), spec, scene().agent, { ...prompt, ...more });
    const offered = async (ask_id: string, to?: Decider) =>
      accepted(await (to ?? (await operatorOf(scene()))).alike(ask_id)) as { patterns: Offered[]; has_run: boolean };
    const grants = async () =>
      accepted(await scene().world.call("GET", "/admin/policy", { headers: headers() })).grants as Record<
        string,
        unknown
      >[];
    const revoke = async (id: unknown) =>
      accepted(await scene().world.call("DELETE", `/admin/policy/grants/${id}`, { headers: headers() }));
    const clear = async () => {
      for (const { id, live } of await grants()) if (live === true) await revoke(id);
    };

    /** The operator approves the call, and allows the pattern at this place of those that are offered. */
    async function allow(spec: Record<string, unknown>, at: number, more = {}) {
      const { ask_id } = await ask(spec);
      const { patterns } = await offered(ask_id);
      const like = { pattern: patterns[at]?.id, for_s: HOUR_S, ...more };
      accepted(await (await operatorOf(scene())).decide(ask_id, { approved: true, like }));
      const grant = (await grants()).find((one) => one["ask_id"] === ask_id);
      return grant ?? assert.fail("nothing was allowed");
    }

    it("are approved in that person's name, by a grant that receipt, record and list name, until it ends", async () => {
      await withRules(scene(), "version: 1\n");
      const grant = await allow(bash("npm test"), 1);
      assert.match(String(grant["covers"]), /^Bash: “npm test …”, in “\/home\/kim\/shop”, by “support”/);
      assert.deepEqual([grant["digest"], grant["live"], grant["spared"]], [null, true, 0]);

      const status = await ask(bash("npm test src/a.test.ts"));
      assert.deepEqual([status.approved, status.user_info.via], [true, "policy"]);
      const receipt = await scene().world.call("GET", `/receipts/${status.ask_id}`, { headers: headers() });
      const said = JSON.parse(Buffer.from(receipt.text.split(".")[1] ?? "", "base64url").toString());
      const by = { kind: "person", id: OPERATOR, via: "policy", at: said.settled_at, shown: null, grant: grant["id"] };
      assert.deepEqual(said.decided, [by]);
      const [, decided] = await record(scene(), status.ask_id);
      assert.equal((decided?.["data"] as { grant: string }).grant, grant["id"]);
      const [made] = await record(scene(), grant["ask_id"] as string).then((all) =>
        all.filter(({ action }) => action === "policy_grant.created"),
      );
      assert.deepEqual((made?.["data"] as { pattern: { when: object } }).pattern.when, {
        fn: "Bash",
        agent: "support",
        command: ["npm test *"],
        args: { "/cwd": { equals: FOLDER } },
      });

      for (const [command, decision] of [
        ["npm test b", "ALLOW"],
        ["npm run b", "ESCALATE"],
      ]) {
        const body = { fn: "Bash", agent: "support", args: { command, cwd: FOLDER } };
        const { trace } = accepted(
          await scene().world.call("POST", "/admin/policy/test", { headers: headers(), body }),
        );
        assert.equal(trace.decision, decision);
      }
      const mallory = await scene().holder({ name: "mallory", scope: "agent" });
      for (const other of [
        ask(bash("npm test; rm -rf .")),
        ask(bash("npm test", "/home/kim/other")),
        ask({ ...bash("npm test"), fn: "shell" }),
        asked(scene(), bash("npm test"), mallory, prompt),
      ])
        assert.equal((await other).approved, undefined);
      await scene().world.restart();
      assert.equal((await ask(bash("npm test"))).approved, true);
      assert.deepEqual(await broken(scene()), []);
      await scene().world.advance(HOUR_S * 1000);
      assert.equal((await ask(bash("npm test"))).approved, undefined);
      assert.deepEqual(await broken(scene()), []);
    });

    it("are people's again once it is revoked, by a stricter rule, for several who must agree, and in another session", async () => {
      await clear();
      const { id } = await allow(bash("npm run build"), 1, { this_run: true });
      assert.equal((await ask(bash("npm run build"))).approved, true);
      assert.equal((await ask(bash("npm run build"), { run_id: "session-2" })).approved, undefined);
      const [ana, bo] = [await scene().human("Ana"), await scene().human("Bo")];
      const channel = { all_of: [{ human: { id: ana.id } }, { human: { id: bo.id } }] };
      const { editable: _, ...joint } = { ...bash("npm run build"), channel };
      assert.equal((await ask(joint)).approved, undefined);

      const rule = (more: string) => `version: 1\nrules: [{ id: it, when: { fn: Bash, command: npm * }, ${more} }]\n`;
      for (const [more, approved] of [
        ["decision: DENY", false],
        ["decision: ESCALATE, standing: false", undefined],
        ["decision: ESCALATE, risk: high", undefined],
        ["decision: ESCALATE", true],
      ] as const) {
        await withRules(scene(), rule(more));
        assert.equal((await ask(bash("npm run build"))).approved, approved, more);
      }
      await withRules(scene(), "version: 1\n");
      await revoke(id);
      assert.equal((await ask(bash("npm run build"))).approved, undefined);
    });

    it("are people's again on every server at once where one of them revokes it", async () => {
      await clear();
      const { id } = await allow(bash("npm run lint"), 1);
      const other = on === "postgres" ? await scene().world.addNode() : scene().world;
      const askOther = async () => {
        const body = callBody(bash("npm run lint"), prompt);
        const key = { authorization: `Bearer ${scene().agent.key}` };
        return accepted(await other.call("POST", "/a2h/v1alpha1/function_calls", { headers: key, body })).status
          .approved;
      };
      assert.equal(await askOther(), true);
      await revoke(id);
      assert.equal(await askOther(), undefined);
    });

    it("are asked about where they look high, though the pattern covers them", async () => {
      await clear();
      const pay = (amount: number) => ({ fn: "pay_out", kwargs: { amount, currency: "EUR" } });
      for (const amount of [20, 90_000]) {
        const { ask_id } = await ask(pay(amount));
        const decision = { approved: true };
        accepted(await (await operatorOf(scene())).decide(ask_id, decision));
      }
      const { says, covered } = (await offered((await ask(pay(30))).ask_id)).patterns[1] ?? assert.fail("one pattern");
      assert.equal(says, 'pay_out: amount from 20 to 90000, currency "EUR", by “support”');
      assert.deepEqual(covered, { calls: 2, approved: 2, rejected: 0 });
      await allow(pay(30), 1);
      assert.equal((await ask(pay(40))).approved, true);
      assert.equal((await ask(pay(80_000))).approved, undefined);
      const high = await ask(pay(85_000));
      assert.deepEqual((await offered(high.ask_id)).patterns, []);
    });

    it("are people's again where the row of a grant cannot be read, and all else stays as it is", async () => {
      await clear();
      const { db } = scene().world.server.ctx;
      const [broken1, kept] = [await allow(bash("npm run lint"), 1), await allow(bash("npm run docs"), 1)];
      for (const text of ["{", "null", "{}", '{"when":{"fn":"Bash","agent":"support"}}']) {
        await db.all(sql`UPDATE policy_grants SET pattern = ${text} WHERE grant_id = ${String(broken1["id"])}`);
        assert.equal((await ask(bash("npm run lint"))).approved, undefined, text);
        assert.equal((await ask(bash("npm run docs"))).approved, true, text);
        const listed = (await grants()).find(({ id }) => id === broken1["id"]);
        assert.equal(listed?.["covers"], "nothing: the pattern cannot be read");
      }
      assert.deepEqual(await broken(scene()), []);
      await revoke(broken1["id"]);
      await revoke(kept["id"]);
    });

    it("are in the record still once a person whom the pattern named is erased", async () => {
      await clear();
      const to = "kim.doe@shop.example";
      const person = await enrol(scene().world.server.ctx, "Kim Doe", [], {
        identities: [{ kind: "email", value: to }],
      });
      const mail = (copies: number) => ({ fn: "send_copies", kwargs: { to: [to], copies } });
      const { id } = await allow(mail(3), 0);
      assert.equal((await ask(mail(2))).approved, true);
      const by = { kind: "human", id: OPERATOR } as const;
      await erasePerson(scene().world.server.ctx, person, { by, dryRun: false });
      const { covers } = (await grants()).find((one) => one["id"] === id) ?? {};
      assert.match(String(covers), /to\/0 "erased-\d+-1"/);
      assert.deepEqual(await broken(scene()), []);
      assert.equal((await ask(mail(2))).approved, undefined);
    });

    it("are allowed by who decides alone, and end at once beside calls that come in", async () => {
      await clear();
      const ana = await scene().human("Ana");
      const operator = await operatorOf(scene());
      const member = await decider(scene().world, ana.person);
      const { ask_id } = await ask({ ...bash("npm run x"), channel: { human: { id: ana.id } } });
      const like = { pattern: (await offered(ask_id)).patterns[1]?.id, for_s: HOUR_S };
      assert.equal((await operator.decide(ask_id, { approved: true, like })).status, 403);
      accepted(await member.decide(ask_id, { approved: true }));
      assert.deepEqual((await offered(ask_id)).patterns, []);
      assert.equal((await operator.decide(ask_id, { approved: true, like })).status >= 400, true);
      assert.equal((await ask(bash("npm run x"))).approved, undefined);

      const { id } = await allow(bash("npm run y"), 1);
      const calls = Array.from({ length: 8 }, (_, at) => ask(bash(`npm run y a${at}`)));
      await Promise.all([...calls, revoke(id)]);
      assert.equal((await ask(bash("npm run y"))).approved, undefined);
      const { spared } = (await grants()).find((one) => one["id"] === id) ?? {};
      assert.equal((await Promise.all(calls)).filter(({ approved }) => approved === true).length, spared);

      const twice = await ask(bash("npm run z"));
      const [exact, open] = (await offered(twice.ask_id)).patterns;
      await Promise.all(
        [exact, open].map((one) =>
          operator.decide(twice.ask_id, { approved: true, like: { pattern: one?.id, for_s: HOUR_S } }),
        ),
      );
      assert.equal((await grants()).filter((one) => one["ask_id"] === twice.ask_id).length, 1);
      assert.deepEqual(await broken(scene()), []);
    });

    it("are allowed by an admin alone, as they were shown, for at most thirty days, and not by an edit", async () => {
      await clear();
      const operator = await operatorOf(scene());
      const ana = await scene().human("Ana");
      const { ask_id } = await ask({ ...bash("npm ls"), channel: { human: { id: ana.id } } });
      const member = await decider(scene().world, ana.person);
      const first = await ask(bash("npm ls"));
      const { patterns, has_run } = await offered(first.ask_id);
      assert.equal(has_run, true);
      const like = { pattern: patterns[1]?.id ?? "", for_s: HOUR_S };
      const refusals = [
        [member, ask_id, { like }, 409],
        [operator, first.ask_id, { like: { ...like, pattern: "sha256:other" } }, 409],
        [operator, first.ask_id, { like, kwargs: { command: "npm ls x", cwd: FOLDER } }, 409],
        [operator, first.ask_id, { standing: true, kwargs: { command: "npm ls x", cwd: FOLDER } }, 409],
        [operator, first.ask_id, { like: { ...like, for_s: 30 * 24 * HOUR_S + 1 } }, 400],
        [operator, first.ask_id, { like: { ...like, for_s: 1 } }, 400],
      ] as const;
      for (const [who, of, more, status] of refusals)
        assert.equal((await who.decide(of, { approved: true, ...more })).status, status, JSON.stringify(more));
      assert.deepEqual((await offered(ask_id, member)).patterns, []);
      accepted(await operator.decide(first.ask_id, { approved: false, like }));
      assert.equal((await ask(bash("npm ls"))).approved, undefined);
      assert.deepEqual(
        (await grants()).filter(({ live }) => live),
        [],
      );
      const plain = await ask({ fn: "refund", kwargs: { amount: 3 }, editable: true }, { agent_prompt: undefined });
      assert.deepEqual((await offered(plain.ask_id)).patterns, []);
    });
  });
}
