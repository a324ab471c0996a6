import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { sql } from "../../src/core/store/sql.ts";
import { examineStore } from "../../src/doctor/examine.ts";
import { DAY, fresh, HOUR, ROOMY, until } from "../support/contract.ts";
import { assertRelayError, claim, type Program } from "../support/jobs.ts";
import {
  answer,
  codeOf,
  gist,
  invalid,
  newAsk,
  openRelayScene,
  sharedRelay,
  type RelayScene,
} from "../support/relay.ts";
import { DATABASES, type Person, type Reply, onOneDatabase } from "../support/world.ts";

const DIR = mkdtempSync(join(tmpdir(), "parley-public-"));
after(() => rmSync(DIR, { recursive: true, force: true }));
const CONFIG = join(DIR, "parley.yaml");
writeFileSync(CONFIG, "relay: { people: { public: true } }\n");
const PUBLIC = { PARLEY_CONFIG: CONFIG, ...ROOMY };
const FOR_ALL = { audience: "public" };
const token = (): string =>
  `ghp_${Array.from({ length: 36 }, () => "aB3dE6gH9"[Math.floor(Math.random() * 9)]).join("")}`;

/** The question that an ask of the public became, as somebody of the crowd sees it. */
interface Shown {
  question_id: string;
  prompt: string;
  type: string;
  options?: string[];
}

async function questionOf({ world }: RelayScene, { ask_id: id }: { ask_id: string }): Promise<string> {
  return until(async () => {
    const [row] = await world.server.ctx.db.all<{ question_id: string | null }>(
      sql`SELECT question_id FROM asks WHERE ask_id = ${id}`,
    );
    return row?.question_id ?? undefined;
  });
}

async function feedOf(person: Person): Promise<Shown[]> {
  return (await person.get("/human/questions?limit=50")).body.questions as Shown[];
}

async function seen(person: Person, id: string): Promise<Shown | undefined> {
  return (await feedOf(person)).find((one) => one.question_id === id);
}

/** Puts an ask to the public and returns it with its question. */
async function asked(scene: RelayScene, more: Record<string, unknown> = {}, by?: Program, lease?: string) {
  // Each in a second of its own.
  await scene.world.advance(1000);
  const one = await scene.ask(
    { prompt: fresh("Which currency?"), ...more, meta: { ...FOR_ALL, ...(more["meta"] as object) } },
    by,
    lease,
  );
  return { ...one, question: await questionOf(scene, one) } as Reply["body"];
}

async function assertSound({ world }: RelayScene): Promise<void> {
  const findings = await examineStore(world.server.ctx, { quick: false });
  assert.deepEqual(
    findings.filter(({ offenders }) => offenders.length > 0),
    [],
  );
}

for (const on of DATABASES) {
  describe(`what executors ask the public on ${on}`, () => {
    const itOnOne = onOneDatabase(on);
    const scene = sharedRelay(on, { env: PUBLIC });
    const stranger = () => scene().world.person(fresh("stranger"));

    it("is in the feed like any other question, and the first answer is the executor's", async () => {
      const { answerTo, eventsOf, ana } = scene();
      const one = await asked(scene(), {
        context_envelope: { job_snapshot: {}, role: "default", facts: { team: "red" } },
        context_hash: undefined,
      });
      const bo = stranger();
      const shown = await seen(bo, one.question);
      assert.deepEqual(
        [shown?.prompt, shown?.type, Object.keys(shown ?? {}).sort()],
        [
          one.prompt,
          "text",
          ["audience", "created_at", "expires_at", "points", "prompt", "question_id", "responses_needed", "type"],
        ],
      );
      const polled = ana.get(`/asks/${one.ask_id}/answer?wait=25s`);
      assert.equal((await bo.answer(one.question, "EUR")).status, 201);
      assert.equal((await polled).status, 200);
      const given = await answerTo(one);
      assert.deepEqual(gist(given), { status: "ANSWERED", source: "person", answer_text: "EUR" });
      assert.deepEqual(
        [given.answered_by, given.cacheable, given.policy_trace.decision, given.consent_digest],
        ["the public", false, "ALLOW", undefined],
      );
      assert.deepEqual(await eventsOf(one.job_id), [
        "status RUNNING",
        "log ask.created",
        "status WAITING_ON_ANSWER",
        `answer ${one.ask_id}`,
        "log answer.recorded",
        "status RUNNING",
      ]);
      const { body } = await ana.get(`/asks/${one.ask_id}`);
      assert.deepEqual(body.stages.at(-1).outcome, "answered by the public");
      const late = await stranger().answer(one.question, "USD");
      assert.deepEqual([late.status, late.body.error.details.status], [410, "CLOSED"]);
    });

    it("is answered by exactly one of many at once", async () => {
      const { answerTo, world } = scene();
      const one = await asked(scene());
      const replies = await Promise.all(
        world.people(20).map((person, i) => person.answer(one.question, `answer ${i}`)),
      );
      const taken = replies.flatMap(({ status }, i) => (status === 201 ? [i] : []));
      assert.equal(taken.length, 1);
      assert.equal((await answerTo(one)).answer_text, `answer ${taken[0]}`);
      assert.ok(replies.every(({ status }) => status === 201 || status === 410));
    });

    itOnOne("is a choice where it has options, or where its schema lists few values", async () => {
      const { answerTo } = scene();
      const bo = stranger();
      const choice = await asked(scene(), {
        ask_type: "CHOICE",
        meta: { options: [{ id: "r", label: "Red" }, "Blue"] },
      });
      assert.deepEqual((await seen(bo, choice.question))?.options, ["Red", "Blue"]);
      await bo.answer(choice.question, 0);
      assert.deepEqual(gist(await answerTo(choice)), {
        status: "ANSWERED",
        source: "person",
        answer_text: "Red",
        answer_json: { choice: "r", index: 0 },
      });
      const schema = { type: "integer", enum: [7, 19] };
      const listed = await asked(scene(), {
        ask_type: "RESOURCE_FETCH",
        meta: { prompt_overrides: { output_schema: schema } },
      });
      assert.deepEqual((await seen(bo, listed.question))?.options, ["7", "19"]);
      await bo.answer(listed.question, 1);
      assert.deepEqual((await answerTo(listed)).answer_json, 19);
    });

    itOnOne("takes what fits its schema and tells what does not, without ending", async () => {
      const { answerTo } = scene();
      const bo = stranger();
      const schema = { type: "integer", minimum: 1 };
      const one = await asked(scene(), { meta: { prompt_overrides: { output_schema: schema } } });
      assert.equal((await seen(bo, one.question))?.prompt, `${one.prompt}\n\nWanted: a whole number, at least 1.`);
      const refused = await bo.answer(one.question, "many");
      assert.deepEqual(
        [refused.status, refused.body.error],
        [
          400,
          {
            code: "VALIDATION_ERROR",
            message: "answer does not fit what was asked for: must be a whole number, at least 1",
            details: { field: "answer", constraint: "schema" },
          },
        ],
      );
      assert.equal((await bo.answer(one.question, "12")).status, 201);
      assert.deepEqual((await answerTo(one)).answer_json, 12);
    });

    itOnOne("takes no secret from anybody, and keeps none", async () => {
      const { world } = scene();
      const one = await asked(scene());
      const bo = stranger();
      const secret = token();
      const refused = await bo.answer(one.question, `It is ${secret}`);
      assert.deepEqual(
        [refused.status, refused.body.error.details],
        [400, { field: "answer", constraint: "secret", rule: "github-token", from: 6, to: 46 }],
      );
      assert.ok(!refused.text.includes(secret));
      const rows = await world.server.ctx.db.all(sql`SELECT 1 AS one FROM responses WHERE ask_id = ${one.question}`);
      assert.equal(rows.length, 0);
      assert.equal((await bo.answer(one.question, "It is in the vault")).status, 201);
    });

    itOnOne(
      "is never consent: what is a decision is refused, and so is what the crowd could not be asked",
      async () => {
        const { ana, world } = scene();
        const { db } = world.server.ctx;
        const long = "x".repeat(201);
        const eleven = Array.from({ length: 11 }, (_, i) => `Option ${i}`);
        for (const [more, details] of [
          [
            { ask_type: "APPROVAL", meta: { action: "deploy" } },
            { field: "meta.audience", constraint: "enum", allowed: ["team"] },
          ],
          [
            { ask_type: "POLICY_DECISION", meta: { action: "deploy" } },
            { field: "meta.audience", constraint: "enum", allowed: ["team"] },
          ],
          [{ prompt: "x".repeat(2001) }, { field: "prompt", constraint: "length", min: 1, max: 2000 }],
          [
            { ask_type: "CHOICE", meta: { options: eleven } },
            { field: "meta.options", constraint: "length", min: 2, max: 10 },
          ],
          [
            { ask_type: "CHOICE", meta: { options: ["a", long] } },
            { field: "meta.options[1]", constraint: "length", min: 1, max: 200 },
          ],
        ] as const) {
          const body = newAsk({
            ask_id: fresh("refused"),
            ...more,
            meta: { ...FOR_ALL, ...("meta" in more && more.meta) },
          });
          assertRelayError(await ana.post("/asks", body), 400, invalid(details));
          assert.deepEqual(await db.all(sql`SELECT ask_id FROM asks WHERE ask_id = ${String(body["ask_id"])}`), []);
        }
      },
    );

    itOnOne("is with whom policy or the ask itself names, and then nobody else sees it", async () => {
      const { ask, person, policy, withPeople, world } = scene();
      const dana = await person();
      await policy(
        "version: 2\ndefaults: { read: ALLOW, other: ESCALATE }\nrules: [{ id: pay, when: { resource: pay }, decision: ESCALATE }]\n",
      );
      for (const meta of [{ resource: "pay" }, { to: dana.name }, { action: "write" }]) {
        const one = await ask({ prompt: fresh("Who pays?"), meta: { ...FOR_ALL, ...meta } });
        await withPeople(one);
        const shown = await feedOf(world.person(fresh("stranger")));
        assert.deepEqual(
          shown.filter(({ prompt }) => prompt.startsWith(one.prompt)),
          [],
        );
      }
    });

    it("times out with its question, and nobody's silence is an answer", async () => {
      const { ana, world } = scene();
      const answerOf = async ({ ask_id: id }: { ask_id: string }) => (await ana.get(`/asks/${id}/answer?wait=0`)).body;
      const short = await asked(scene(), { constraints: { timeout_s: 90.5 } });
      const usual = await asked(scene());
      await world.advance(89_499);
      assert.equal((await stranger().answer(usual.question, "EUR")).status, 201);
      assert.equal((await ana.get(`/asks/${short.ask_id}`)).body.status, "PENDING");
      await world.advance(1);
      assert.deepEqual((await stranger().answer(short.question, "EUR")).status, 410);
      assert.deepEqual(gist(await answerOf(short)), {
        status: "TIMEOUT",
        source: "server",
        error: "E_TIMEOUT: no answer within 91 s",
      });
      const days = await asked(scene());
      await world.advance(DAY);
      assert.deepEqual(codeOf(await stranger().answer(days.question, "EUR")), [410, "QUESTION_CLOSED"]);
      assert.equal((await answerOf(days)).status, "TIMEOUT");
    });

    it("is gone from the feed when it is withdrawn, answered by a service, or its job ends", async () => {
      const { ana, answerTo, program, world } = scene();
      const service = await program({ name: fresh("service"), scope: "answer" });
      const [withdrawn, served, lost] = [await asked(scene()), await asked(scene()), await asked(scene())];
      assert.equal((await ana.call("DELETE", `/asks/${withdrawn.ask_id}`)).status, 200);
      assert.equal((await answer(service, served, { answer_text: "EUR" })).status, 202);
      assert.equal((await ana.post(`/jobs/${lost.job_id}/cancel`, {})).status, 200);
      for (const one of [withdrawn, served, lost]) {
        const late = await stranger().answer(one.question, "USD");
        assert.deepEqual([late.status, late.body.error.details?.status], [410, "EXPIRED"]);
        await until(async () => {
          await world.advance(1000);
          return !(await seen(stranger(), one.question));
        });
      }
      assert.deepEqual(gist(await answerTo(withdrawn)).error, "E_CANCELED: the asker withdrew it");
      assert.deepEqual(gist(await answerTo(served)), { status: "ANSWERED", source: "service", answer_text: "EUR" });
    });

    it("is asked once where the next holder of the job asks the same", async () => {
      const { ana, bo, answerTo, claimed, world } = scene();
      const held = await claimed(ana);
      const prompt = fresh("Which region?");
      const first = await asked(scene(), { job_id: held.id, prompt }, ana, held.lease);
      await ana.post(`/jobs/${held.id}/release`, {}, held.lease);
      const next = await claim(bo, held.kind);
      const second = await scene().ask({ job_id: held.id, prompt, meta: FOR_ALL }, bo, next.lease);
      assert.equal(second.joined_to, first.ask_id);
      const rows = await world.server.ctx.db.all(sql`SELECT 1 AS one FROM questions WHERE prompt = ${prompt}`);
      assert.equal(rows.length, 1);
      assert.equal((await stranger().answer(first.question, "eu-west")).status, 201);
      assert.equal((await answerTo(second, bo)).answer_text, "eu-west");
    });

    itOnOne("is not answered by whoever asked", async () => {
      const one = await asked(scene());
      const { ana, world } = scene();
      const reply = await world.call("POST", "/human/responses", {
        headers: ana.headers,
        body: { question_id: one.question, answer: "Mine" },
      });
      assert.notEqual(reply.status, 201);
      assert.equal((await ana.get(`/asks/${one.ask_id}`)).body.status, "PENDING");
    });

    itOnOne("is in the record: what the public was shown, and that the crowd answered", async () => {
      const { admin, world } = scene();
      const one = await asked(scene());
      await stranger().answer(one.question, "EUR");
      const { db } = world.server.ctx;
      const rows = await db.all<{ entry: string }>(
        sql`SELECT entry FROM audit WHERE ask_id = ${one.ask_id} ORDER BY id`,
      );
      const entries = rows.map(({ entry }) => JSON.parse(entry) as { action: string; actor: object });
      assert.deepEqual(
        entries.map(({ action, actor }) => [action, actor]),
        [
          ["relay.asked_public", { kind: "server", id: "relay" }],
          ["relay.answered", { kind: "crowd", id: "crowd" }],
        ],
      );
      const { body } = await admin.get(`/admin/asks/${one.ask_id}`);
      assert.deepEqual([body.question_id, body.answer.answered_by, body.people], [one.question, "the public", null]);
    });

    it("leaves a store that the doctor finds nothing in", async () => {
      await assertSound(scene());
    });
  });

  describe(`the limits of the public on ${on}`, () => {
    it("count an executor's questions with those that agents ask the crowd", async () => {
      const env = {
        ...PUBLIC,
        PARLEY_ASK_A_HUMAN_LIMITS_QUESTIONS_PER_HOUR: "3",
        PARLEY_ASK_A_HUMAN_LIMITS_OPEN_QUESTIONS: "2",
      };
      await using scene = await openRelayScene(on, { env });
      const { ana, ask, world } = scene;
      const one = newAsk({ ask_id: "one", meta: FOR_ALL });
      for (const again of [false, true]) {
        const reply = await ana.post("/asks", one);
        assert.deepEqual([reply.status, reply.headers.get("idempotency-replayed")], [202, again ? "true" : null]);
      }
      const first = { ask_id: "one", question: await questionOf(scene, { ask_id: "one" }) };
      await asked(scene);
      assert.deepEqual(codeOf(await ana.post("/asks", newAsk({ meta: FOR_ALL }))), [429, "RATE_LIMITED"]);
      assert.equal((await world.person("bo").answer(first.question, "EUR")).status, 201);
      await asked(scene);
      const over = await ana.post("/asks", newAsk({ meta: FOR_ALL }));
      assert.deepEqual([...codeOf(over), over.body.error.details.window_seconds], [429, "RATE_LIMITED", 3600]);
      await ask();
    });
  });

  describe(`the public, where the operator has not allowed it, on ${on}`, () => {
    const scene = sharedRelay(on);

    it("is not asked: the asker is told, and nobody sees anything", async () => {
      const { ana, world } = scene();
      const reply = await ana.post("/asks", newAsk({ prompt: fresh("Secret?"), meta: FOR_ALL }));
      assertRelayError(reply, 400, invalid({ field: "meta.audience", constraint: "enum", allowed: ["team"] }));
      assert.deepEqual(await feedOf(world.person("bo")), []);
    });
  });

  describe(`a question to the public across a restart on ${on}`, () => {
    it("ends in time though the server was away, and is deleted with what the crowd was asked", async () => {
      await using scene = await openRelayScene(on, { env: { ...PUBLIC, PARLEY_RELAY_RETENTION_DAYS: "1" } });
      const { answerTo, world } = scene;
      const one = await asked(scene, { constraints: { timeout_s: 3600 } });
      const kept = await asked(scene, { constraints: { timeout_s: 7200 } });
      await world.advance(HOUR);
      await world.restart();
      assert.equal((await answerTo(one)).status, "TIMEOUT");
      assert.equal((await world.person("bo").answer(kept.question, "EUR")).status, 201);
      assert.equal((await answerTo(kept)).answer_text, "EUR");
      await world.advance(8 * DAY);
      await until(async () => {
        await world.advance(HOUR);
        const left = await world.server.ctx.db.all(sql`SELECT 1 AS one FROM questions WHERE door = 'relay'`);
        return left.length === 0;
      });
      await assertSound(scene);
    });
  });
}
