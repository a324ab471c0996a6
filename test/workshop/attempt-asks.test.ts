import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { canonicalExact, sha256Digest } from "../../src/lib/json/exact-json.ts";
import type { AgentRequest } from "../../src/tasks/model/attempt-asks.ts";
import { consentText } from "../../src/requests/model/consent.ts";
import { Refusal } from "../../src/refusals.ts";
import { findJob } from "../../src/asks/store/jobs.ts";
import { sql } from "../../src/core/store/sql.ts";
import {
  askForAttempt,
  awaitAnswer,
  awaitDecision,
  reportForAttempt,
  withdrawForAttempt,
  type AskingAttempt,
} from "../../src/tasks/ask-for-attempt.ts";
import { giveUpUnreportedAsks } from "../../src/asks/loops/unreported.ts";
import { freeze, thaw } from "../../src/policy/freezes.ts";
import { cancelJob } from "../../src/asks/jobs/cancel-job.ts";
import { renewByPoll } from "../../src/asks/jobs/hold-job.ts";
import { attempt, claimAttempt, RUN, SHOP, withPeople } from "../support/attempts.ts";
import { MINUTE, until } from "../support/contract.ts";
import type { Decider } from "../support/deciders.ts";
import { answer, openRelayScene, sharedRelay } from "../support/relay.ts";
import { ONE_DATABASE } from "../support/world.ts";

const MIGRATE = RUN("npm run migrate");
const WHICH = { text: "Which currency?", options: [{ label: "EUR", description: "as before" }, { label: "USD" }] };
const askOf = ({ jobId, slug }: AskingAttempt, askId: string) => ({
  ask_id: askId,
  job_id: jobId,
  step_id: `task:${slug}`,
});
const refused = (code: string) => (error: unknown) => error instanceof Refusal && error.code === code;
const soon = () => AbortSignal.timeout(90_000);

for (const on of ONE_DATABASE) {
  describe(`what the agent of an attempt wants, on ${on}`, () => {
    const scene = sharedRelay(on);
    const ctx = () => scene().world.server.ctx;

    it("is allowed by a person who saw the tool and its whole input, and whose approval binds exactly these", async () => {
      const who = await attempt(scene(), { title: "Add VAT" });
      const dana = await scene().person();
      const input = { ...RUN("npm run migrate -- --all"), diff: "+ one line" };
      const { askId, inboxId } = await withPeople(scene(), who, "p1", input);
      const { body } = await dana.whole(inboxId);
      assert.deepEqual([body.kind, body.fn, body.title], ["approval", "Bash", "Run: npm run migrate -- --all"]);
      assert.equal(body.agent, "claude");
      assert.deepEqual(
        body.arguments.map(({ name }: { name: string }) => name),
        ["command"],
      );
      assert.equal(body.digest, sha256Digest(consentText("Bash", canonicalExact(input.input))));
      assert.match(body.words, /card-1 \(Add VAT\) in shop.*by claude.*No sandbox.*\+ one line/s);
      assert.equal(body.run, `${who.jobId} / task:card-1-3f2a`);

      const waiting = awaitDecision(ctx(), askId, soon());
      assert.equal((await dana.decide(inboxId, { approved: true })).status, 200);
      assert.deepEqual(await waiting, { allow: true });
    });

    it("has an outcome that the request to people shows, from the moment when its agent may begin", async () => {
      const who = await attempt(scene());
      const dana = await scene().person();
      const reported = (command: string) => ({ ...RUN(command), reportsEnd: true });
      const state = async (askId: string) => (await scene().admin.get(`/asks/${askId}`)).body.outcome?.state;
      const end = { state: "failed", resultDigest: `sha256:${"5f".repeat(32)}`, words: "exit 1" } as const;

      const one = await withPeople(scene(), who, "o1", reported("npm run one"));
      assert.equal((await dana.decide(one.inboxId, { approved: true })).status, 200);
      assert.equal(await state(one.askId), "awaited");
      assert.deepEqual(await awaitDecision(ctx(), one.askId, soon()), { allow: true });
      assert.equal(await state(one.askId), "started");
      await reportForAttempt(ctx(), who, "o1", end);
      assert.equal(await state(one.askId), "failed");
      const { call_outcome: shown } = (await dana.whole(one.inboxId)).body;
      assert.deepEqual([shown.state, shown.text], ["failed", "exit 1"]);
      // A use that has ended is not allowed once more, whoever asks for the decision again.
      const decision = await awaitDecision(ctx(), one.askId, soon());
      assert.equal(decision?.allow, false);

      const two = await withPeople(scene(), who, "o2", reported("npm run two"));
      assert.equal((await dana.decide(two.inboxId, { approved: true })).status, 200);
      const rejected = await withPeople(scene(), who, "o3", reported("npm run three"));
      assert.equal((await dana.decide(rejected.inboxId, { approved: false })).status, 200);
      await reportForAttempt(ctx(), who, "o3", end);
      assert.equal(await state(rejected.askId), undefined);
      await cancelJob(ctx(), who.jobId, { principal: SHOP, isAdmin: true });
      assert.equal(await state(two.askId), "not_run");
    });

    it("has no end of its time while its own agent is frozen, whoever runs the attempt", async () => {
      const { world, admin, policy } = scene();
      await policy("version: 2\nrules:\n  - { id: tests, when: { action: execute }, decision: ALLOW }\n");
      const who = await attempt(scene(), { agent: "gemini" });
      const { askId } = await askForAttempt(ctx(), who, "f1", { ...RUN("npm test"), reportsEnd: true });
      const outcome = async () => (await admin.get(`/asks/${askId}`)).body.outcome;
      await until(async () => (await outcome())?.state === "awaited");
      await policy("version: 2\n");

      const by = { actor: { kind: "admin", id: "admin:boss" }, via: "cli", isAdmin: true } as const;
      const frozen = await freeze(ctx(), { scope: "agent", subject: "attempt:gemini" }, by);
      await world.advance(90 * MINUTE);
      assert.equal(await giveUpUnreportedAsks(ctx(), ctx().stopping), false);
      await thaw(ctx(), frozen.id, by);
      assert.equal((await outcome())?.state, "awaited");
    });

    it("is asked also where it holds what no store takes, and binds exactly that", async () => {
      const who = await attempt(scene());
      const dana = await scene().person();
      const input = { ...RUN("printf a\0b"), diff: "+ \0" };
      const { askId, inboxId } = await withPeople(scene(), who, "nul", input);
      const { body } = await dana.whole(inboxId);
      assert.equal(body.title, "Run: printf a\u2400b");
      assert.equal(body.digest, sha256Digest(consentText("Bash", canonicalExact(input.input))));
      assert.equal((await dana.decide(inboxId, { approved: true })).status, 200);
      assert.deepEqual(await awaitDecision(ctx(), askId, soon()), { allow: true });
      await withPeople(scene(), who, "nul-2", { text: "a\0b", options: [] });
    });

    it("is denied with the words of the person who said no", async () => {
      const who = await attempt(scene());
      const dana = await scene().person();
      const first = await withPeople(scene(), who, "p1", RUN("npm run migrate"));
      await dana.decide(first.inboxId, { approved: false, comment: "use the fixture database" });
      assert.deepEqual(await awaitDecision(ctx(), first.askId, soon()), {
        allow: false,
        why: `${dana.name}: use the fixture database`,
      });
      const second = await withPeople(scene(), who, "p2", RUN("npm run drop"));
      await dana.decide(second.inboxId, { approved: false });
      assert.deepEqual(await awaitDecision(ctx(), second.askId, soon()), {
        allow: false,
        why: `${dana.name} declined`,
      });
    });

    it("is asked once, however often it is said, also after a restart of the server", async () => {
      await using own = await openRelayScene(on);
      const who = await attempt(own);
      const dana = await own.person();
      const first = await withPeople(own, who, "p1", MIGRATE);
      await own.world.restart();
      assert.deepEqual(await withPeople(own, who, "p1", MIGRATE), first);
      assert.equal((await dana.inbox()).length, 1);
      await dana.decide(first.inboxId, { approved: true });
      for (const again of [1, 2]) {
        const { askId } = await askForAttempt(own.world.server.ctx, who, "p1", MIGRATE);
        assert.deepEqual(await awaitDecision(own.world.server.ctx, askId, soon()), { allow: true }, `time ${again}`);
      }
      await assert.rejects(askForAttempt(own.world.server.ctx, who, "p1", RUN("rm -rf .")), refused("ref_taken"));
      await assert.rejects(
        askForAttempt(own.world.server.ctx, { ...who, lease: "lease_other" }, "p2", MIGRATE),
        refused("fenced"),
      );
    });

    it("is denied when nobody answers in time, and canceled with its attempt", async () => {
      const who = await attempt(scene(), { deadlineS: 60 });
      const late = await askForAttempt(ctx(), who, "p1", MIGRATE);
      const silent = await askForAttempt(ctx(), who, "q1", WHICH);
      await until(async () => {
        await scene().world.advance(5000);
        await heldOn(who);
        const rows = await ctx().db.all(
          sql`SELECT 1 AS one FROM asks WHERE job_id = ${who.jobId} AND status = 'TIMEOUT'`,
        );
        return rows.length === 2;
      });
      assert.deepEqual(await awaitDecision(ctx(), late.askId, soon()), { allow: false, why: "no one answered" });
      assert.deepEqual(await awaitAnswer(ctx(), silent.askId, soon()), { none: true, why: "no one answered" });

      const { askId } = await withPeople(scene(), who, "p2", RUN("npm run drop"));
      const waiting = awaitDecision(ctx(), askId, soon());
      const question = await askForAttempt(ctx(), who, "q2", WHICH);
      await cancelJob(ctx(), who.jobId, { principal: SHOP, isAdmin: false });
      const why = "it was withdrawn, because the work ends";
      assert.deepEqual(await waiting, { allow: false, why, canceled: true });
      assert.deepEqual(await awaitAnswer(ctx(), question.askId, soon()), { none: true, why });
      await assert.rejects(askForAttempt(ctx(), who, "p3", MIGRATE), refused("job_closed"));
    });

    it("needs no open relay: that is for executors", async () => {
      await using own = await openRelayScene(on, { env: { PARLEY_PHASE2_ASK_ANSWER: "0" } });
      const who = await attempt(own);
      const { askId } = await askForAttempt(own.world.server.ctx, who, "p1", RUN("npm test"));
      assert.deepEqual(await awaitDecision(own.world.server.ctx, askId, soon()), { allow: true });
    });

    it("stays undecided for whoever stops waiting", async () => {
      const who = await attempt(scene());
      const { askId } = await withPeople(scene(), who, "p1", MIGRATE);
      const stop = new AbortController();
      const waiting = awaitDecision(ctx(), askId, stop.signal);
      stop.abort();
      assert.equal(await waiting, null);
    });

    it("brings answers to questions: a choice, words, or none", async () => {
      const who = await attempt(scene());
      const dana = await scene().person();
      const choice = await withPeople(scene(), who, "q1", WHICH);
      const shown = (await dana.whole(choice.inboxId)).body;
      assert.match(shown.words, /Which currency\?\nEUR: as before\n\nFor task card-1 in .*, by claude\. No sandbox/);
      await dana.decide(choice.inboxId, { option: "2" });
      assert.deepEqual(await awaitAnswer(ctx(), choice.askId, soon()), { text: "USD", by: dana.name });

      for (const input of [
        { text: "Which name?", options: [] },
        { ...WHICH, multiple: true },
      ]) {
        const words = await withPeople(scene(), who, `q ${input.text}`, input);
        await dana.decide(words.inboxId, { text: "EUR and USD" });
        assert.deepEqual(await awaitAnswer(ctx(), words.askId, soon()), { text: "EUR and USD", by: dana.name });
      }
      const declined = await withPeople(scene(), who, "q4", { text: "Shall I?", options: [] });
      await answer(dana.by, askOf(who, declined.askId), { status: "REJECTED", error: "Ask Bo." });
      assert.deepEqual(await awaitAnswer(ctx(), declined.askId, soon()), { none: true, why: `${dana.name}: Ask Bo.` });
    });

    it("is asked as one form where the answer has to fit a schema, and answered by the value", async () => {
      const who = await attempt(scene());
      const dana = await scene().person();
      const schema = { type: "object", properties: { port: { type: "integer" } }, required: ["port"] };
      const form = await withPeople(scene(), who, "f1", { text: "Which port?", options: [], schema });
      assert.deepEqual([(await dana.whole(form.inboxId)).body.kind, await timesAsked(who)], ["value", 1]);
      assert.equal((await dana.decide(form.inboxId, { value: { port: "x" } })).status, 400);
      assert.equal((await dana.decide(form.inboxId, { value: { port: 4711 } })).status, 200);
      assert.deepEqual(await awaitAnswer(ctx(), form.askId, soon()), { text: '{"port":4711}', by: dana.name });
    });

    it("is with people no more once the agent has withdrawn it", async () => {
      const who = await attempt(scene());
      const dana = await scene().person();
      const { askId, inboxId } = await withPeople(scene(), who, "p1", MIGRATE);
      const waiting = awaitDecision(ctx(), askId, soon());
      await withdrawForAttempt(ctx(), who, "p1");
      assert.equal(((await waiting) as { canceled?: boolean }).canceled, true);
      assert.equal((await dana.decide(inboxId, { approved: true })).status, 409);
      await withdrawForAttempt(ctx(), who, "p1");
      await withdrawForAttempt(ctx(), who, "never asked");
    });

    it("joins what a holder before asked and nobody decided, or nobody was told", async () => {
      const dana = await scene().person();
      for (const input of [MIGRATE, WHICH]) {
        const who = await attempt(scene());
        const first = await withPeople(scene(), who, "1:p1", input);
        const next = await resumed(who);
        const joined = await askForAttempt(ctx(), next, "2:p1", input);
        await decideOn(dana, first.inboxId, input);
        const third = await resumed(next);
        const repeated = await askForAttempt(ctx(), third, "3:p1", input);
        for (const { askId } of [joined, repeated]) await isYes(askId, input);
        assert.equal(await timesAsked(who), 1);
      }
    });

    it("is asked again, with the decision before, once that was delivered; an answer is not", async () => {
      const dana = await scene().person();
      for (const input of [MIGRATE, WHICH]) {
        const who = await attempt(scene());
        const first = await withPeople(scene(), who, "1:p1", input);
        await decideOn(dana, first.inboxId, input);
        await isYes(first.askId, input);
        const next = await resumed(who);
        if (input === WHICH) {
          await isYes((await askForAttempt(ctx(), next, "2:p1", input)).askId, input);
          assert.equal(await timesAsked(who), 1);
          continue;
        }
        const again = await withPeople(scene(), next, "2:p1", input);
        assert.match((await dana.whole(again.inboxId)).body.words, /Asked before: Dana[^:]* approved this/);
        assert.equal(await timesAsked(who), 2);
      }
    });

    /** The attempt's lease has run out, and somebody else goes on with it. */
    async function resumed(who: AskingAttempt): Promise<AskingAttempt> {
      const epoch = (await findJob(ctx().db, who.jobId))?.job.epoch;
      await scene().world.advance(16_000);
      await until(async () => {
        await scene().world.advance(300);
        return (await findJob(ctx().db, who.jobId))?.job.epoch !== epoch;
      });
      return { ...who, lease: await claimAttempt(scene(), who.repo) };
    }

    /** Renews the lease of the attempt's job, as its living worker does. */
    async function heldOn({ jobId }: AskingAttempt): Promise<void> {
      const { epoch } = (await findJob(ctx().db, jobId))?.job ?? assert.fail("there is no job");
      await renewByPoll(ctx(), jobId, epoch);
    }

    async function isYes(askId: string, request: AgentRequest): Promise<void> {
      if (request === MIGRATE) assert.deepEqual(await awaitDecision(ctx(), askId, soon()), { allow: true });
      else assert.equal(((await awaitAnswer(ctx(), askId, soon())) as { text: string }).text, "EUR");
    }

    const decideOn = async ({ decide }: Decider, inboxId: string, request: AgentRequest): Promise<void> => {
      const { status, text } = await decide(inboxId, request === MIGRATE ? { approved: true } : { option: "1" });
      assert.equal(status, 200, text);
    };

    const timesAsked = async ({ jobId }: AskingAttempt): Promise<number> =>
      (
        await ctx().db.all(
          sql`SELECT p.ask_id FROM requests p JOIN asks a ON a.addressed_id = p.ask_id WHERE a.job_id = ${jobId}`,
        )
      ).length;
  });
}
