import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { canonicalExact, sha256Digest } from "../../src/lib/json/exact-json.ts";
import { consentText } from "../../src/requests/model/consent.ts";
import { Refusal } from "../../src/refusals.ts";
import { sql } from "../../src/core/store/sql.ts";
import { transact } from "../../src/core/store/transact.ts";
import { findHuman, updateHuman } from "../../src/access/store/humans.ts";
import { askForAttempt, awaitDecision, type AskingAttempt } from "../../src/tasks/ask-for-attempt.ts";
import { OPERATOR } from "../support/identities.ts";
import { postAsk } from "../../src/asks/create/post-ask.ts";
import { providerOf } from "../support/addressed.ts";
import { attempt, RUN, withPeople } from "../support/attempts.ts";
import { fresh, until } from "../support/contract.ts";
import { decider } from "../support/deciders.ts";
import { sharedRelay } from "../support/relay.ts";
import { DATABASES } from "../support/world.ts";

const soon = () => AbortSignal.timeout(90_000);
const KEY = "AKIAIOSFODNN7EXAMPLZ";
const OTHER_KEY = "AKIAJJSFODNN7EXAMPLZ";
const upload = (key: string) => RUN(`AWS_ACCESS_KEY_ID=${key} npm run upload`);

for (const on of DATABASES) {
  describe(`what rules say to agents of attempts, on ${on}`, () => {
    const slack = providerOf("slack");
    const scene = sharedRelay(on, { channels: [slack] });
    const ctx = () => scene().world.server.ctx;
    const decided = async (who: AskingAttempt, ref: string, request: Parameters<typeof askForAttempt>[3]) =>
      awaitDecision(ctx(), (await askForAttempt(ctx(), who, ref, request)).askId, soon());

    it("is theirs: the preset allows an allowed command and denies a write outside, and asks nobody", async () => {
      const who = await attempt(scene());
      assert.deepEqual(await decided(who, "p1", RUN("npm test")), { allow: true });
      const write = {
        tool: "Write",
        input: { path: "/etc/x", content: "" },
        action: "write",
        resource: "/etc/x",
      } as const;
      assert.deepEqual(await decided(who, "p2", write), {
        allow: false,
        why: "policy (assignment.write-outside@v1): Agents write in the folder of their task only",
      });
      assert.deepEqual(await decided({ ...who, sandbox: "bubblewrap" }, "p3", RUN("rm -rf ./*")), { allow: true });
      const rows = await ctx().db.all(
        sql`SELECT 1 AS one FROM asks WHERE job_id = ${who.jobId} AND addressed_id IS NOT NULL`,
      );
      assert.equal(rows.length, 0);
    });

    it("gives way to the operator's own rules", async () => {
      const who = await attempt(scene(), { repo: "guarded" });
      await scene().policy(
        "version: 71\nrules:\n  - { id: no-tests, when: { repo: guarded, resource: npm test }, decision: DENY, reason: Not here }\n",
      );
      assert.deepEqual(await decided(who, "p1", RUN("npm test")), {
        allow: false,
        why: "policy (no-tests@v71): Not here",
      });
      assert.deepEqual(await decided(await attempt(scene()), "p1", RUN("npm test")), { allow: true });
    });

    it("may be made for good by an admin, for that repository, agent, tool and resource alone", async () => {
      const who = await attempt(scene());
      const boss = await decider(scene().world, OPERATOR);
      const input = RUN("npm run migrate");
      const { askId, inboxId } = await withPeople(scene(), who, "p1", input);
      assert.equal((await boss.decide(inboxId, { approved: true, standing: true })).status, 200);
      assert.deepEqual(await awaitDecision(ctx(), askId, soon()), { allow: true });
      await until(async () => {
        await scene().world.advance(500);
        return (await ctx().db.all(sql`SELECT 1 AS one FROM policy_grants WHERE ask_id = ${askId}`)).length === 1;
      });
      assert.deepEqual(await decided(who, "p2", input), { allow: true });
      const elsewhere = await attempt(scene());
      const others: [AskingAttempt, Parameters<typeof askForAttempt>[3]][] = [
        [elsewhere, input],
        [{ ...who, agent: "codex" }, input],
        [who, { ...input, tool: "Shell" }],
        [who, RUN("npm run migrate -- --all")],
      ];
      for (const [i, [whose, other]] of others.entries()) await withPeople(scene(), whose, `o${i}`, other);
    });

    it("lets nobody of the public see what an attempt asks", async () => {
      const who = await attempt(scene());
      const input = {
        jobId: who.jobId,
        stepId: "S-1",
        type: "CLARIFICATION" as const,
        prompt: "Which one?",
        contextHash: "none",
        envelope: null,
        constraints: {},
        roleId: null,
        meta: { audience: "public" },
        principal: who.principal,
        bodyHash: "1",
        warnings: [],
        mismatch: false,
      };
      await assert.rejects(
        postAsk(ctx(), input),
        (error) => error instanceof Refusal && error.code === "invalid_input",
      );
      await postAsk(ctx(), { ...input, meta: { audience: "team" } });
    });

    it("binds a secret among the arguments as it is, and shows it on our own pages alone", async () => {
      const who = await attempt(scene());
      const dana = await scene().person(fresh("Dana"));
      await transact(ctx(), async (tx) => {
        const human = (await findHuman(tx, dana.id)) ?? assert.fail("nobody");
        const channels = [{ channel: "slack" as const, target: { to: "U1" } }];
        await updateHuman(tx, { ...human, channels }, [{ kind: "slack", value: "U1" }]);
      });
      await scene().policy(
        `version: 72\nrules:\n  - { id: uploads, when: { repo: ${who.repo} }, decision: ESCALATE, to: "${dana.name}" }\n`,
      );
      const { input, ...rest } = upload(KEY);
      const wish = { ...rest, input: { ...input, timeout: 5 } };
      const { askId, inboxId } = await withPeople(scene(), who, "p1", wish);
      const { body } = await dana.whole(inboxId);
      assert.equal(body.digest, sha256Digest(consentText("Bash", canonicalExact(wish.input))));
      assert.match(JSON.stringify(body.arguments), new RegExp(KEY));
      assert.equal(body.guarded, true);
      const folded = (body.arguments as { name: string; secret: boolean }[]).filter(({ secret }) => secret);
      assert.deepEqual(
        folded.map(({ name }) => name),
        ["command"],
      );
      assert.doesNotMatch(body.title + body.words, new RegExp(KEY));
      // Beside what the inbox shows it stands nowhere.
      const [row] = await ctx().db.all(sql`SELECT * FROM asks WHERE ask_id = ${askId}`);
      assert.doesNotMatch(JSON.stringify(row), new RegExp(KEY));
      assert.match((await scene().admin.get(`/asks/${askId}`)).text, /\[secret:/);

      const notice = await until(async () => {
        await scene().world.advance(500);
        return slack.sent.find(({ view }) => view.requestId === inboxId);
      });
      assert.equal(notice.whole, false);
      assert.doesNotMatch(JSON.stringify(notice), new RegExp(KEY));
      assert.equal((await dana.decide(inboxId, { approved: true })).status, 200);
      assert.deepEqual(await awaitDecision(ctx(), askId, soon()), { allow: true });
      const closing = await until(async () => {
        await scene().world.advance(500);
        return slack.closed.find(({ closing }) => closing.view.requestId === inboxId);
      });
      assert.doesNotMatch(JSON.stringify(closing), new RegExp(KEY));
    });

    it("takes no other secret for the one that was allowed for good", async () => {
      const who = await attempt(scene());
      const boss = await decider(scene().world, OPERATOR);
      const { askId, inboxId } = await withPeople(scene(), who, "p1", upload(KEY));
      await boss.decide(inboxId, { approved: true, standing: true });
      await until(async () => {
        await scene().world.advance(500);
        return (await ctx().db.all(sql`SELECT 1 AS one FROM policy_grants WHERE ask_id = ${askId}`)).length === 1;
      });
      assert.deepEqual(await decided(who, "p2", upload(KEY)), { allow: true });
      await withPeople(scene(), who, "p3", upload(OTHER_KEY));
      const [grant] = await ctx().db.all(sql`SELECT * FROM policy_grants WHERE ask_id = ${askId}`);
      assert.doesNotMatch(JSON.stringify(grant), new RegExp(KEY));
    });
  });
}
