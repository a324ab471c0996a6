import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { sql } from "../../src/core/store/sql.ts";
import { openStream, until } from "../support/contract.ts";
import { claim, type Held } from "../support/jobs.ts";
import { answer, sharedRelay, type RelayScene } from "../support/relay.ts";
import { DATABASES } from "../support/world.ts";

const QUESTION = { ask_type: "CLARIFICATION", prompt: "Which branch?" };
const APPROVAL = { ask_type: "APPROVAL", prompt: "Deploy?", meta: { action: "deploy" } };
const YES = { answer_json: { approved: true }, answer_text: "Go." };

/** A job that was held, and the lease of which has run out, so that somebody else holds it. */
async function lost({ world, admin, bo }: RelayScene, { id, kind }: Held): Promise<Held> {
  const { epoch } = (await admin.get(`/jobs/${id}`)).body;
  await world.advance(16_000);
  await until(async () => {
    await world.advance(300);
    return (await admin.get(`/jobs/${id}`)).body.epoch > epoch;
  });
  return claim(bo, kind);
}

for (const on of DATABASES) {
  describe(`asks across epochs on ${on}`, () => {
    const scene = sharedRelay(on);
    const inboxCount = async (jobId: string) =>
      (
        await scene().world.server.ctx.db.all(
          sql`SELECT p.ask_id FROM requests p JOIN asks a ON a.addressed_id = p.ask_id WHERE a.job_id = ${jobId}`,
        )
      ).length;
    const begin = async (wish: Record<string, unknown>) => {
      const held = await scene().claimed(scene().ana, { max_attempts: 9 });
      const one = await scene().ask({ ...wish, job_id: held.id }, scene().ana, held.lease);
      await scene().withPeople(one);
      return { held, one };
    };

    it("joins one that is pending: people are asked once, and both get the answer", async () => {
      for (const input of [QUESTION, APPROVAL]) {
        const { ana, bo, ask, answerTo, person, eventsOf } = scene();
        const { held, one } = await begin(input);
        const next = await lost(scene(), held);
        const joined = await ask({ ...input, job_id: held.id, prompt: ` ${input.prompt}\r\n` }, bo, next.lease);
        assert.equal(joined.joined_to, one.ask_id);
        const shown = (await bo.get(`/asks/${joined.ask_id}`)).body;
        const leader = (await ana.get(`/asks/${one.ask_id}`)).body;
        assert.deepEqual([shown.stage, shown.expires_at], ["people", leader.expires_at]);
        const dana = await person();
        await answer(dana.by, one, input === APPROVAL ? YES : { answer_text: "main" });
        const [first, second] = [await answerTo(one), await answerTo(joined, bo)];
        assert.deepEqual({ ...second, ask_id: "", askId: "" }, { ...first, ask_id: "", askId: "" });
        assert.equal(await inboxCount(held.id), 1);
        const events = await eventsOf(held.id);
        assert.equal(events.filter((event) => event.startsWith("answer")).length, 2);
        assert.equal((await bo.get(`/jobs/${held.id}`)).body.state, "RUNNING");
      }
    });

    it("repeats an answer that no executor was given, whatever was asked", async () => {
      for (const input of [QUESTION, APPROVAL]) {
        const { bo, ask, answerTo, person } = scene();
        const { held, one } = await begin(input);
        await answer((await person()).by, one, input === APPROVAL ? YES : { answer_text: "main" });
        const next = await lost(scene(), held);
        const again = await ask({ ...input, job_id: held.id }, bo, next.lease);
        const { source, status } = await answerTo(again, bo);
        assert.deepEqual([source, status, await inboxCount(held.id)], ["person", "ANSWERED", 1]);
      }
    });

    it("repeats the answer to a question, and asks again for an approval, once it was delivered", async () => {
      const { ana, bo, ask, answerTo, person, withPeople } = scene();
      const dana = await person();
      for (const input of [QUESTION, APPROVAL]) {
        const { held, one } = await begin(input);
        await answer(dana.by, one, input === APPROVAL ? YES : { answer_text: "main" });
        await answerTo(one, ana);
        const next = await lost(scene(), held);
        const again = await ask({ ...input, job_id: held.id }, bo, next.lease);
        if (input === QUESTION) {
          assert.equal((await answerTo(again, bo)).answer_text, "main");
          continue;
        }
        const shown = (await dana.whole(await withPeople(again))).body;
        assert.match(shown.words, new RegExp(`Asked before: ${dana.name} approved this, and said: "Go\\."$`));
        assert.equal(await inboxCount(held.id), 2);
      }
    });

    it("says who decided before, on what, and in which words", async () => {
      const { ana, bo, ask, answerTo, person, withPeople } = scene();
      const dana = await person();
      const withArgs = (tag: string) => ({ ...APPROVAL, meta: { action: "deploy", args: { tag } } });
      for (const [decision, now, said] of [
        [{ approved: false, comment: "Not on a Friday." }, "v1", 'rejected this, and said: "Not on a Friday."'],
        [{ approved: false }, "v1", "rejected this."],
        [{ approved: true }, "v1", "approved this."],
        [{ approved: true, comment: "Once." }, "v2", 'approved something else in the same words, and said: "Once."'],
      ] as const) {
        const { held, one } = await begin(withArgs("v1"));
        await dana.decide(await scene().withPeople(one), decision);
        await answerTo(one, ana);
        const next = await lost(scene(), held);
        const again = await ask({ ...withArgs(now), job_id: held.id }, bo, next.lease);
        const { words } = (await dana.whole(await withPeople(again))).body;
        assert.equal(words, `Deploy?\n\nAsked before: ${dana.name} ${said}`);
      }
    });

    it("counts an approval as delivered that reached an executor by way of another ask, or of the history", async () => {
      const { ana, bo, ask, answerTo, person, withPeople } = scene();
      const dana = await person();
      const { held, one } = await begin(APPROVAL);
      const second = await lost(scene(), held);
      const joined = await ask({ ...APPROVAL, job_id: held.id }, bo, second.lease);
      await answer(dana.by, one, YES);
      await answerTo(joined, bo);
      const third = await lost(scene(), held);
      await withPeople(await ask({ ...APPROVAL, job_id: held.id }, bo, third.lease));
      assert.equal(await inboxCount(held.id), 2);

      const other = await begin(APPROVAL);
      await answer(dana.by, other.one, YES);
      await ana.get(`/jobs/${other.held.id}/asks`);
      const next = await lost(scene(), other.held);
      await withPeople(await ask({ ...APPROVAL, job_id: other.held.id }, bo, next.lease));
      assert.equal(await inboxCount(other.held.id), 2);
    });

    it("counts an approval as delivered that an executor heard on the job's stream", async () => {
      const { world, ana, bo, ask, person, withPeople } = scene();
      const { held, one } = await begin(APPROVAL);
      await answer((await person()).by, one, YES);
      const stream = await openStream(`${world.url}/jobs/${held.id}/events?after=0`, ana.headers);
      await until(async () => (await stream.next())?.event === "answer");
      stream.close();
      const next = await lost(scene(), held);
      await withPeople(await ask({ ...APPROVAL, job_id: held.id }, bo, next.lease));
      assert.equal(await inboxCount(held.id), 2);
    });

    it("goes on by itself when the one it joined is withdrawn or has no more time", async () => {
      const { ana, bo, ask, answerTo, person, withPeople, world } = scene();
      const dana = await person();
      const { held, one } = await begin(QUESTION);
      const next = await lost(scene(), held);
      const joined = await ask({ ...QUESTION, job_id: held.id }, bo, next.lease);
      assert.equal((await ana.call("DELETE", `/asks/${one.ask_id}`)).status, 200);
      const free = (await bo.get(`/asks/${joined.ask_id}`)).body;
      assert.deepEqual([free.status, free.joined_to], ["PENDING", undefined]);
      await world.advance(600);
      await withPeople(joined);
      await answer(dana.by, joined, { answer_text: "main" });
      assert.equal((await answerTo(joined, bo)).answer_text, "main");

      const timed = { ...QUESTION, constraints: { timeout_s: 30 } };
      const short = await begin(timed);
      const after = await lost(scene(), short.held);
      const waits = await ask({ ...timed, job_id: short.held.id }, bo, after.lease);
      await world.advance(14_000);
      assert.equal((await answerTo(short.one, ana)).status, "TIMEOUT");
      await world.advance(600);
      await withPeople(waits);
      assert.equal((await bo.get(`/asks/${waits.ask_id}`)).body.status, "PENDING");
    });

    it("joins nothing within one epoch, nor what asks something else", async () => {
      const { bo, ask } = scene();
      const { held } = await begin(QUESTION);
      const next = await lost(scene(), held);
      const input = { ...QUESTION, job_id: held.id };
      for (const more of [{ prompt: "Which tag?" }, { step_id: "S-2" }, { ask_type: "RESOURCE_FETCH" }]) {
        assert.equal((await ask({ ...input, ...more }, bo, next.lease)).joined_to, undefined);
      }
      const other = { context_hash: "another", context_envelope: undefined };
      assert.equal((await ask({ ...input, ...other }, bo, next.lease)).joined_to, undefined);
      assert.equal((await ask({ ...input, ...other }, bo, next.lease)).joined_to, undefined);
    });

    it("closes with the job that ends, also in the inbox", async () => {
      const { bo, ask, answerTo, planner, person, withPeople, world } = scene();
      const dana = await person();
      const { held, one } = await begin(APPROVAL);
      const next = await lost(scene(), held);
      const joined = await ask({ ...APPROVAL, job_id: held.id }, bo, next.lease);
      assert.equal((await planner.post(`/jobs/${held.id}/cancel`)).status, 200);
      const ended = `E_CANCELED: job ${held.id} ended (CANCELED)`;
      assert.equal((await answerTo(joined, bo)).error, ended);
      const [row] = await world.server.ctx.db.all<{ error: string }>(
        sql`SELECT error FROM answers WHERE ask_id = ${one.ask_id}`,
      );
      assert.equal(row?.error, ended);
      const id = await withPeople(one);
      await until(async () => {
        await world.advance(1000);
        return (await dana.whole(id)).body.state === "cancelled";
      });
      const late = await answer(dana.by, one, YES);
      assert.deepEqual([late.status, late.body.error.code], [410, "ASK_CLOSED"]);
    });
  });
}
