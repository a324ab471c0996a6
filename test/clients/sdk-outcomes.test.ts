import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { Parley, ParleyError, type ParleyOptions } from "@parley/sdk";
import { canonical, digestOf } from "../../sdk/src/consent.ts";
import { openScene, type Scene } from "../support/a2h.ts";
import { advanceUntil, fresh, MINUTE, until } from "../support/contract.ts";
import { decider, type Decider } from "../support/deciders.ts";
import { actionsOf } from "../support/gate.ts";

const REFUND = { order: "A-1007", amount: 49.9 };
const A2H = "/a2h/v1alpha1";

describe("the outcome of an approved call, as the SDK reports it", () => {
  let scene: Scene;
  before(async () => {
    // Clients go by the time of day where a server is away.
    scene = await openScene("sqlite", { at: Date.now() });
  });
  after(() => scene[Symbol.asyncDispose]());

  const client = (options: ParleyOptions = {}) =>
    new Parley({ url: scene.world.url, key: scene.agent.key, ...options });
  async function somebody(): Promise<Decider & { name: string }> {
    const name = fresh("Ana Ruiz");
    const { person } = await scene.human(name);
    return { ...(await decider(scene.world, person, person)), name };
  }
  const statusOf = async (id: string) => (await scene.agent.call("GET", `/${A2H}/function_calls/${id}`)).body.status;
  const outcomeOf = async (id: string) => (await statusOf(id)).outcome;
  /** Returns the outcome as soon as it is this one. */
  const comesTo = (id: string, state: string) =>
    until(async () => {
      const outcome = await outcomeOf(id);
      return outcome?.state === state && outcome;
    });
  async function approved(more: { reports?: boolean } = {}, parley = client()) {
    const ana = await somebody();
    const asked = parley.approve({ fn: "issue_refund", args: REFUND, to: ana.name, ...more });
    await ana.decides({ approved: true });
    return asked;
  }
  const refused = (code: string) => (error: unknown) => error instanceof ParleyError && error.code === code;
  const pathIn = (input: Parameters<typeof fetch>[0]) => new URL(input instanceof Request ? input.url : input).pathname;
  /** A function behind an approval that is given as soon as it is asked for. */
  async function guarded<Result>(run: (args: typeof REFUND) => Result, options: ParleyOptions = {}) {
    const ana = await somebody();
    const guard = client(options).requireApproval(run, { name: "issue_refund", to: ana.name });
    return { ana, guard, id: fresh("refund") };
  }

  it("is what the program says of a decision, with its words and the digest of the result", async () => {
    const decision = await approved();
    assert.equal(await outcomeOf(decision.id), undefined, "nothing is promised");
    const result = { refunded: 49.9, lines: [2, null] };
    await decision.done({ text: "Refunded", result });
    const { state, text, result_digest: digest } = await outcomeOf(decision.id);
    assert.deepEqual([state, text, digest], ["done", "Refunded", await digestOf('{"lines":[2,null],"refunded":49.9}')]);
    await decision.done({ text: "Refunded", result });
    await assert.rejects(decision.failed(), refused("outcome_known"));
  });

  it("is promised with `reports`, and is unknown where the promise is not kept", async () => {
    const { id } = await approved({ reports: true });
    assert.equal((await outcomeOf(id)).state, "awaited");
    await advanceUntil(scene.world, MINUTE, async () => (await outcomeOf(id)).state === "unknown");
    await (await client().decision(id)).failed({ text: "No such order" });
    assert.equal((await outcomeOf(id)).text, "No such order");
  });

  it("has the digest that the program made, or none of a result that JSON cannot carry", async () => {
    const resultDigest = await digestOf("a large file");
    for (const [report, digest] of [
      [{ resultDigest }, resultDigest],
      [{ result: new Date() }, undefined],
      [{ result: { at: 1n } }, undefined],
      [{ result: null }, await digestOf("null")],
    ] as const) {
      const { id, done } = await approved();
      await done(report);
      assert.equal((await outcomeOf(id)).result_digest, digest);
    }
    const { failed } = await approved();
    await assert.rejects(failed({ text: "x".repeat(501) }), refused("validation_failed"));
    await assert.rejects(failed({ text: "half \ud83d" }), TypeError);
  });

  it("is withdrawn where the program gives the approval back, and nothing can start then", async () => {
    const { id, withdrawn } = await approved();
    await withdrawn("Not needed any more");
    assert.deepEqual([(await outcomeOf(id)).state, (await outcomeOf(id)).text], ["withdrawn", "Not needed any more"]);
    await assert.rejects(client().claim(id, { run: "late" }), refused("outcome_known"));
  });

  it("is reported by methods that are no members of the decision", async () => {
    const decision = await approved();
    assert.equal(JSON.stringify(decision), JSON.stringify({ ...decision }));
    assert.deepEqual(Object.keys(structuredClone(decision)).sort(), Object.keys(decision).sort());
    assert.ok(!Object.keys(decision).includes("done"));
  });

  it("is reported by itself where a function ran behind its approval", async () => {
    const { ana, guard, id } = await guarded(async ({ order }) => ({ refunded: order }));
    const running = guard(REFUND, { idempotencyKey: id });
    await ana.decides({ approved: true });
    assert.deepEqual(await running, { refunded: "A-1007" });
    const { state, text, result_digest: digest } = await comesTo(id, "done");
    assert.deepEqual([state, text, digest], ["done", undefined, await digestOf(canonical({ refunded: "A-1007" }))]);
    const { ask_id: ask } = await statusOf(id);
    assert.deepEqual(
      (await actionsOf(scene.world, ask)).map((action) => action.slice("function_call.".length)),
      ["created", "approved", "claimed", "outcome"],
    );
  });

  it("is failed where the function throws, by the error's name and not by its words", async () => {
    const error = new RangeError("postgres://root:hunter2@db is too far away");
    const { ana, guard, id } = await guarded(() => {
      throw error;
    });
    const running = assert.rejects(guard(REFUND, { idempotencyKey: id }), error);
    await ana.decides({ approved: true });
    await running;
    const { text, result_digest: digest } = await comesTo(id, "failed");
    assert.deepEqual([text, digest], ["RangeError", undefined]);
  });

  it("is of one run: another process with the same key is told, and does not run the function", async () => {
    let ran = 0;
    const run = (_: typeof REFUND) => (ran += 1);
    const { ana, guard, id } = await guarded(run);
    const other = client().requireApproval(run, { name: "issue_refund", to: ana.name });
    const both = Promise.allSettled([guard, other].map((one) => one(REFUND, { idempotencyKey: id })));
    await ana.decides({ approved: true });
    const reasons = (await both).flatMap((end) => (end.status === "rejected" ? [end.reason as ParleyError] : []));
    assert.deepEqual([ran, reasons.map(({ code }) => code)], [1, ["already_claimed"]]);
    const third = client().requireApproval(run, { name: "issue_refund", to: ana.name });
    await assert.rejects(
      third(REFUND, { idempotencyKey: id }),
      /^ParleyError: issue_refund did not run: another run has started it under this approval, and may have acted\.$/,
    );
    assert.equal(ran, 1);
  });

  it("is withdrawn where a signal ends it between the approval and the start, and the function does not run", async () => {
    const [stop, reason] = [new AbortController(), new Error("enough")];
    const stopping: typeof fetch = (input, init) => {
      if (pathIn(input).endsWith("/claim")) stop.abort(reason);
      return fetch(input, init);
    };
    let ran = 0;
    const { ana, guard, id } = await guarded(() => (ran += 1), { fetch: stopping });
    const running = assert.rejects(guard(REFUND, { idempotencyKey: id, signal: stop.signal }), reason);
    await ana.decides({ approved: true });
    await running;
    await comesTo(id, "withdrawn");
    await assert.rejects(guard(REFUND, { idempotencyKey: id }), /did not run: its approval has ended \(withdrawn\)/);
    assert.equal(ran, 0);
  });

  it("is reported once where a reply is lost, and the result does not wait for a server that is away", async () => {
    let state: "away" | "losing" | "there" = "away";
    const fails: typeof fetch = async (input, init) => {
      if (!pathIn(input).endsWith("/outcome") || state === "there") return fetch(input, init);
      if (state === "losing") {
        await (await fetch(input, init)).body?.cancel();
        state = "there";
      }
      throw new TypeError("the connection was cut");
    };
    const clock = { now: () => Date.now(), sleep: () => new Promise<void>((resolve) => setImmediate(resolve)) };
    const { ana, guard, id } = await guarded(() => "refunded", { fetch: fails, clock });
    const running = guard(REFUND, { idempotencyKey: id });
    await ana.decides({ approved: true });
    assert.equal(await running, "refunded");
    assert.equal((await outcomeOf(id)).state, "started");
    state = "losing";
    await comesTo(id, "done");
    await until(async () => state === "there");
    const actions = await actionsOf(scene.world, (await statusOf(id)).ask_id);
    assert.equal(actions.filter((action) => action.endsWith(".outcome")).length, 1);
  });

  it("changes nothing where the server refuses it", async () => {
    const { ana, guard, id } = await guarded(async () => {
      await (await client().decision(id)).failed({ text: "By hand" });
      return "refunded";
    });
    const running = guard(REFUND, { idempotencyKey: id });
    await ana.decides({ approved: true });
    assert.equal(await running, "refunded");
    assert.equal((await outcomeOf(id)).state, "failed");
  });

  it("is unknown to a server that knows no reports, and all else is as it was", async () => {
    const sent: string[] = [];
    /** Version 0.2.0 passes over members that it does not know, and has neither of these routes. */
    const older: typeof fetch = async (input, init) => {
      const address = String(input).replace(/\/(claim|outcome)$/, "/$1-of-later");
      sent.push(...(/\/(\w+)-of-later$/.exec(address)?.slice(1) ?? []));
      const { reports: _, ...body } = (typeof init?.body === "string" ? JSON.parse(init.body) : {}) as {
        reports?: unknown;
      };
      return fetch(address, { ...init, ...(typeof init?.body === "string" && { body: JSON.stringify(body) }) });
    };
    const { ana, guard, id } = await guarded(({ amount }) => amount, { fetch: older });
    const running = guard(REFUND, { idempotencyKey: id });
    await ana.decides({ approved: true });
    assert.equal(await running, 49.9);
    assert.equal(await outcomeOf(id), undefined);
    await (await client({ fetch: older }).decision(id)).done();
    assert.deepEqual(sent, ["claim", "outcome", "outcome"]);
  });

  it("is that of each call of a plan, from its use on", async () => {
    const ana = await somebody();
    const calls = [1, 2].map((amount) => ({ fn: "pay_out", args: { amount } }));
    const asked = client().approveAll(calls, { to: ana.name });
    await ana.decides({ approved: true });
    const [first, second] = (await asked).calls;
    assert.ok(first && second);
    const used = await first.use();
    assert.equal((await outcomeOf(first.id)).state, "started");
    await used.done({ result: "paid" });
    await (await second.use()).failed({ text: "No money" });
    const [one, other] = [await outcomeOf(first.id), await outcomeOf(second.id)];
    assert.deepEqual([one.state, one.result_digest], ["done", await digestOf('"paid"')]);
    assert.deepEqual([other.state, other.text], ["failed", "No money"]);
  });
});
