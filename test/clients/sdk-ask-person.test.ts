import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { NotAnswered, Parley, ParleyError, type PersonQuestion } from "@parley/sdk";
import { openScene, type Scene } from "../support/a2h.ts";
import { fresh, until } from "../support/contract.ts";
import { decider, type Decider } from "../support/deciders.ts";

describe("a person who is asked by the SDK", () => {
  let scene: Scene;
  let parley: Parley;
  before(async () => {
    scene = await openScene("sqlite", { at: Date.now() });
    parley = new Parley({ url: scene.world.url, key: scene.agent.key });
  });
  after(() => scene[Symbol.asyncDispose]());

  async function somebody(): Promise<Decider & { name: string }> {
    const name = fresh("Ana Ruiz");
    const { person } = await scene.human(name);
    return { ...(await decider(scene.world, person, person)), name };
  }
  const failure = (work: Promise<unknown>): Promise<unknown> =>
    work.then(
      () => assert.fail("it was answered"),
      (error: unknown) => error,
    );

  it("is not asked where a program cut a text within an emoji: the error names the text", async () => {
    const cut = "done \ud83d";
    const whole = { to: "nobody", message: "Done?" };
    const call = { fn: "note", args: {} };
    for (const [asking, says] of [
      [parley.askPerson({ ...whole, message: cut }), /^message is nothing that JSON can carry/],
      [parley.askPerson({ ...whole, options: ["yes", cut] }), /^options\[1\] is nothing/],
      [parley.ask({ prompt: cut }), /^prompt is nothing/],
      [parley.approve({ ...call, fn: cut }), /^fn is nothing/],
      [parley.approve({ ...call, args: { lines: [cut] } }), /^args\.lines\[0\] is nothing/],
      [parley.approve({ ...call, args: { to: { "\ude00": 1 } } }), /^args\.to\.\ude00 is nothing/],
      [parley.approve({ ...call, reason: cut }), /^reason is nothing/],
      [parley.approve({ ...call, rejectOptions: [{ name: "no", title: cut }] }), /^rejectOptions\[0\]\.title/],
    ] as const) {
      const error = await failure(asking);
      assert.ok(error instanceof TypeError);
      assert.match(error.message, says);
    }
  });

  it("chooses one of the options", async () => {
    const ana = await somebody();
    const options = ["Monday", "Tuesday"] as const;
    const asked = parley.askPerson({ to: ana.name, message: "Which of the two days?", options });
    await ana.decides({ text: "tuesday" });
    const { value, by, id } = await asked;
    const day: "Monday" | "Tuesday" = value;
    assert.deepEqual([day, by?.name], ["Tuesday", ana.name]);
    assert.equal((await parley.answer(id)).value, "Tuesday");
  });

  it("is asked by ask with a name, as the crowd is without one", async () => {
    const ana = await somebody();
    const idempotency_key = fresh("day");
    const question = { to: ana.name, prompt: "Which of the two days?", idempotency_key } as const;
    const asked = parley.ask({ ...question, options: ["Monday", "Tuesday"], timeout_seconds: 3600 });
    await ana.decides({ text: "tuesday" });
    const { value, id } = await asked;
    const day: "Monday" | "Tuesday" = value;
    assert.deepEqual([day, id], ["Tuesday", idempotency_key]);
    const gone = AbortSignal.abort(new Error("gone"));
    await assert.rejects(parley.ask({ to: ana.name, prompt: "And now?" }, { signal: gone }), /gone/);
    const { question_id, status } = await parley.ask({ prompt: "Which label is clearer to read?" });
    assert.ok(question_id);
    assert.equal(status, "OPEN");
  });

  it("answers in words", async () => {
    const ana = await somebody();
    const asked = parley.askPerson({ to: ana.number, message: "What shall it be called?" });
    await ana.decides({ text: "The Ledger" });
    const { value, words } = await asked;
    assert.deepEqual([value.toUpperCase(), words], ["THE LEDGER", "The Ledger"]);
  });

  it("answers with a value that fits the schema", async () => {
    const ana = await somebody();
    const schema = { type: "object", properties: { days: { type: "integer" } }, required: ["days"] };
    const asked = parley.askPerson<{ days: number }>({ to: ana.name, message: "For how long?", schema });
    await ana.decides({ value: { days: 3 } });
    assert.equal((await asked).value.days, 3);
  });

  it("may stay silent, which is an error of its own", async () => {
    const ana = await somebody();
    const asked = failure(parley.askPerson({ to: ana.name, message: "Are you there?", timeoutSeconds: 60 }));
    await until(async () => (await ana.inbox()).length === 1);
    await scene.world.advance(61_000);
    const error = await asked;
    assert.ok(error instanceof NotAnswered && error.code === "EXPIRED", String(error));
    const again = await failure(parley.answer(error.id));
    assert.ok(again instanceof NotAnswered);
  });

  it("is asked once under one key, and not any more once it is cancelled", async () => {
    const ana = await somebody();
    const question: PersonQuestion = { to: ana.name, message: "Ship build 412?", idempotencyKey: fresh("ship") };
    const both = [question, question].map((one) => failure(parley.askPerson(one)));
    await until(async () => (await ana.inbox()).length === 1);
    const other = await failure(parley.askPerson({ ...question, message: "Ship build 413?" }));
    assert.ok(other instanceof ParleyError && other.code === "uid_conflict");
    await scene.agent.post(`/messages/${question.idempotencyKey}/cancel`);
    for (const error of await Promise.all(both)) assert.ok(error instanceof NotAnswered && error.code === "CANCELLED");
  });

  it("is asked no more what was taken back, which ends the wait of whoever asked", async () => {
    const ana = await somebody();
    const id = fresh("ship");
    const waiting = failure(parley.askPerson({ to: ana.name, message: "Ship build 412?", idempotencyKey: id }));
    await until(async () => (await ana.inbox()).length === 1);
    await parley.withdrawQuestion(id, { reason: "Nobody ships it any more" });
    assert.equal((await ana.inbox()).length, 0);
    const error = await waiting;
    assert.ok(error instanceof NotAnswered && error.code === "CANCELLED" && error.id === id, String(error));
    await parley.withdrawQuestion(id);

    const answered = parley.askPerson({ to: ana.name, message: "And build 413?" });
    await ana.decides({ text: "Yes" });
    const late = await failure(parley.withdrawQuestion((await answered).id));
    assert.ok(late instanceof ParleyError && late.code === "already_responded", String(late));
    const never = await failure(parley.withdrawQuestion(fresh("never")));
    assert.ok(never instanceof ParleyError && never.code === "not_found", String(never));
    const gone = AbortSignal.abort(new Error("gone"));
    await assert.rejects(parley.withdrawQuestion(id, { signal: gone }), /gone/);
  });

  it("is not asked what cannot be answered", async () => {
    const ana = await somebody();
    const both = { options: ["a"], schema: { type: "string" } };
    assert.ok((await failure(parley.askPerson({ to: ana.name, message: "Which?", ...both }))) instanceof TypeError);
    const schema = { type: "object", $ref: "https://example.com/schema" };
    const refused = await failure(parley.askPerson({ to: ana.name, message: "Which?", schema }));
    assert.ok(refused instanceof ParleyError && refused.code === "schema_invalid");
    assert.match(String(refused.details["path"]), /\$ref/);
    assert.equal((await ana.inbox()).length, 0);
  });
});
