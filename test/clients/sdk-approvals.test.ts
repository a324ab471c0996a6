import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import {
  ApprovalMismatch,
  ApprovalRejected,
  ApprovalUndecided,
  NotApproved,
  Parley,
  ParleyError,
  type ApprovalRequest,
  type ParleyOptions,
  type ReceiptKeys,
} from "@parley/sdk";
import fc from "fast-check";
import { canonical, consentDigest, copyOf } from "../../sdk/src/consent.ts";
import { canonicalExact } from "../../src/lib/json/exact-json.ts";
import { makeSigningKey, openReceipt, publicPart, signReceipt, type Receipt } from "../../src/lib/receipt.ts";
import { openScene, type Scene } from "../support/a2h.ts";
import { fresh, until } from "../support/contract.ts";
import { decider, type Decider } from "../support/deciders.ts";
import { withRules } from "../support/policy-calls.ts";

const REFUND = { order: "A-1007", amount: 49.9 };

describe("an approval by the SDK", () => {
  let scene: Scene;
  before(async () => {
    // Clients go by the time of day where a server is away.
    scene = await openScene("sqlite", { at: Date.now() });
  });
  after(() => scene[Symbol.asyncDispose]());

  const client = (options: ParleyOptions = {}) =>
    new Parley({ url: scene.world.url, key: scene.agent.key, ...options });
  /** Somebody who is asked nothing but what this test asks. */
  async function somebody(): Promise<Decider & { name: string; id: string }> {
    const name = fresh("Ana Ruiz");
    const { id, person } = await scene.human(name);
    return { ...(await decider(scene.world, person, person)), name, id };
  }
  const isAsked = (person: Decider) => until(async () => (await person.inbox())[0]);
  /** Asks, and has it end as it may: it could be over before somebody looks. */
  function asks(to: string, more: Partial<ApprovalRequest<typeof REFUND>> = {}, parley = client()) {
    const asked = parley.approve({ fn: "issue_refund", args: REFUND, to, ...more });
    asked.catch(() => undefined);
    return asked;
  }
  const failure = (work: Promise<unknown>): Promise<unknown> =>
    work.then(
      () => assert.fail("it was approved"),
      (error: unknown) => error,
    );

  it("is one of those whom by names, or none", async () => {
    const [ana, bo] = [await somebody(), await somebody()];
    for (const by of [[ana.id], [bo.id, ana.id], "enrolled"] as const) {
      const asked = asks(ana.name, { by });
      await ana.decides({ approved: true });
      assert.equal((await asked).by?.id, ana.id);
    }
    const id = fresh("refund");
    const other = failure(asks(ana.name, { by: [bo.id], idempotencyKey: id }));
    await ana.decides({ approved: true });
    assert.ok((await other) instanceof ApprovalMismatch);
    assert.ok((await failure(client().decision(id, { by: [bo.id] }))) instanceof ApprovalMismatch);
    assert.equal((await client().decision(id, { by: [ana.id] })).approved, true);
  });

  it("is the decision of whoever was named, and its receipt proves it", async () => {
    const ana = await somebody();
    const asked = asks(ana.name, { reason: "Torn on arrival", idempotencyKey: fresh("refund") });
    const { id: ask } = await isAsked(ana);
    assert.equal((await ana.whole(ask)).body.words, "Torn on arrival");
    await ana.decides({ approved: true, comment: "ok for Q4" });
    const decision = await asked;
    const { receipt, receiptUrl, digest, by, ...rest } = decision;
    assert.deepEqual(rest, {
      id: rest.id,
      approved: true,
      fn: "issue_refund",
      args: REFUND,
      edited: false,
      comment: "ok for Q4",
      verified: true,
    });
    assert.deepEqual([by?.id, by?.name, by?.via], [ana.number, ana.name, "api"]);
    assert.equal(receiptUrl, `${scene.world.url}/receipts/${ask}`);
    const keys = (await scene.world.call("GET", "/.well-known/jwks.json")).body;
    const said = await openReceipt(receipt, keys);
    assert.deepEqual([said?.outcome, said?.consent_digest, said?.call_id], ["approved", digest, rest.id]);
    const headers = { authorization: `Bearer ${scene.agent.key}` };
    assert.equal((await fetch(receiptUrl, { headers })).status, 200);
    assert.deepEqual(await client().decision(rest.id), decision);
  });

  it("is refused with what whoever rejected said", async () => {
    const ana = await somebody();
    const rejectOptions = [{ name: "wrong_account", title: "Wrong account" }];
    const asked = asks(ana.number, { rejectOptions });
    await ana.decides({ approved: false, option: "wrong_account" });
    const error = await failure(asked);
    assert.ok(error instanceof ApprovalRejected && error instanceof NotApproved);
    assert.deepEqual([error.code, error.comment, error.option], ["REJECTED", "Wrong account", "wrong_account"]);
    assert.equal(error.by?.name, ana.name);
    assert.equal(error.message, `${ana.name} rejected issue_refund: Wrong account`);
    assert.equal(((await failure(client().decision(error.id))) as NotApproved).code, "REJECTED");
  });

  it("is not given by silence", async () => {
    const ana = await somebody();
    const asked = asks(ana.name, { timeoutSeconds: 60 });
    await isAsked(ana);
    await scene.world.advance(61_000);
    const error = await failure(asked);
    assert.ok(error instanceof ApprovalUndecided);
    assert.deepEqual([error.code, error.status.approved], ["EXPIRED", false]);
  });

  it("is not given once it is withdrawn, and not withdrawn once it is given", async () => {
    const ana = await somebody();
    const idempotencyKey = fresh("refund");
    const asked = asks(ana.name, { idempotencyKey });
    await isAsked(ana);
    await client().withdraw(idempotencyKey, { reason: "Done by hand" });
    const error = await failure(asked);
    assert.ok(error instanceof ApprovalUndecided);
    assert.deepEqual([error.code, (await ana.inbox()).length], ["CANCELLED", 0]);

    const other = asks(ana.name);
    await ana.decides({ approved: true });
    const late = await failure(client().withdraw((await other).id));
    assert.ok(late instanceof ParleyError && late.code === "already_responded");
    assert.equal(late.details["by"], ana.name);
  });

  it("is of the arguments that a person made of them, where that is allowed", async () => {
    const ana = await somebody();
    const argsSchema = { type: "object", properties: { amount: { type: "number", maximum: 50 } } };
    const asked = asks(ana.name, { editable: true, argsSchema });
    await ana.decides({ approved: true, kwargs: { ...REFUND, amount: 30 } });
    const { args, edited, digest } = await asked;
    assert.deepEqual([args, edited], [{ ...REFUND, amount: 30 }, true]);
    assert.equal(digest, await consentDigest("issue_refund", { amount: 30, order: "A-1007" }));

    const unchanged = asks(ana.name, { editable: true });
    await ana.decides({ approved: true });
    const { edited: isEdited, args: same } = await unchanged;
    assert.deepEqual([isEdited, same], [false, REFUND]);
  });

  it("of something else is none", async () => {
    const ana = await somebody();
    /** Somebody on the way who has people shown less than will run. */
    const swapping = (from: string, to: string): typeof fetch =>
      async function swap(input, init) {
        const body = typeof init?.body === "string" ? init.body.replaceAll(from, to) : init?.body;
        const reply = await fetch(input, { ...init, ...(body !== undefined && { body }) });
        if (!reply.headers.get("content-type")?.includes("json")) return reply;
        return new Response((await reply.text()).replaceAll(to, from));
      };
    let ran = 0;
    const refund = client({ fetch: swapping("49.9", "4.99") }).requireApproval(() => (ran += 1), {
      name: "issue_refund",
      to: ana.number,
    });
    const refunded = failure(refund(REFUND));
    await ana.decides({ approved: true });
    const error = await refunded;
    assert.ok(error instanceof ApprovalMismatch, String(error));
    assert.deepEqual([error.code, ran], ["MISMATCH", 0]);
  });

  it("is none whose receipt is of another, or is no receipt", async () => {
    const ana = await somebody();
    const earlier = asks(ana.name);
    await ana.decides({ approved: true });
    for (const receipt of [(await earlier).receipt, "e30.e30.e30", "", "no receipt"]) {
      const instead: typeof fetch = async (input, init) =>
        String(input).includes("/receipts/") ? new Response(receipt) : fetch(input, init);
      const asked = failure(asks(ana.name, {}, client({ fetch: instead })));
      await ana.decides({ approved: true });
      const error = await asked;
      assert.ok(error instanceof ApprovalMismatch, String(error));
    }
  });

  it("is none whose receipt no key of the server's has signed", async () => {
    const ana = await somebody();
    const asked = asks(ana.name);
    await ana.decides({ approved: true });
    const { id, receipt } = await asked;
    const keys: ReceiptKeys = (await scene.world.call("GET", "/.well-known/jwks.json")).body;
    const [head = "", payload = "", signature = ""] = receipt.split(".");
    const said = JSON.parse(Buffer.from(payload, "base64url").toString()) as Receipt;
    const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const header = JSON.parse(Buffer.from(head, "base64url").toString()) as object;
    const own = await makeSigningKey();
    const [{ kid } = assert.fail("the server has no key")] = keys.keys;
    const forgeries: Record<string, string> = {
      "another signature": [head, payload, Buffer.alloc(64, 1).toString("base64url")].join("."),
      "no signature": `${head}.${payload}.`,
      "no algorithm": `${encoded({ ...header, alg: "none" })}.${payload}.`,
      "an altered field": [head, encoded({ ...said, iss: "https://elsewhere.example" }), signature].join("."),
      "an extension that nobody knows": [encoded({ ...header, crit: ["b64"], b64: false }), payload, signature].join(
        ".",
      ),
      "one part more": `${receipt}.e30`,
      "another's key": await signReceipt(said, own),
      "another's key by the name of the server's": await signReceipt(said, { ...own, kid }),
    };
    for (const [name, forged] of Object.entries(forgeries)) {
      const instead: typeof fetch = async (input, init) =>
        String(input).includes("/receipts/") ? new Response(forged) : fetch(input, init);
      const error = await failure(client({ fetch: instead }).decision(id));
      assert.ok(error instanceof ApprovalMismatch, `${name}: ${String(error)}`);
      assert.equal(error.message, "No key of the server's has signed the receipt of issue_refund.", name);
    }

    const others: Record<string, object> = {
      "no keys": { keys: [] },
      "another's keys": { keys: [publicPart(own)] },
      "another's key by that name": { keys: [{ ...publicPart(own), kid }] },
      "half a key": { keys: [{ ...keys.keys[0], x: "AAAA" }] },
      "no list": { keys: "none" },
    };
    for (const [name, receiptKeys] of Object.entries(others)) {
      const error = await failure(client({ receiptKeys: receiptKeys as ReceiptKeys }).decision(id));
      assert.ok(error instanceof ApprovalMismatch, `${name}: ${String(error)}`);
    }
    assert.equal((await client({ receiptKeys: keys }).decision(id)).verified, true);
  });

  it("says that its receipt was not verified where the runtime knows no Ed25519, and never goes by keys unverified", async (t) => {
    const ana = await somebody();
    const asked = asks(ana.name);
    await ana.decides({ approved: true });
    const { id } = await asked;
    const unknown = new DOMException("Unrecognized algorithm name", "NotSupportedError");
    t.mock.method(crypto.subtle, "generateKey", () => Promise.reject(unknown));
    assert.equal((await client().decision(id)).verified, false);
    const receiptKeys: ReceiptKeys = (await scene.world.call("GET", "/.well-known/jwks.json")).body;
    const error = await failure(client({ receiptKeys }).decision(id));
    assert.ok(error instanceof TypeError && error.message.includes("knows no Ed25519"), String(error));
  });

  it("is the operator's rule where there is one, and nobody is asked", async () => {
    await using ruled = await openScene("sqlite", { at: Date.now() });
    await withRules(ruled);
    const parley = new Parley({ url: ruled.world.url, key: ruled.agent.key });
    const { by, args } = await parley.approve({ fn: "look_up_order", args: { order: "A-1007" } });
    assert.deepEqual([by, args], [{ name: "policy: lookups", via: "policy" }, { order: "A-1007" }]);
    const error = await failure(parley.approve({ fn: "drop_database", args: {} }));
    assert.ok(error instanceof ApprovalRejected);
    assert.deepEqual([error.by?.via, error.comment], ["policy", "Databases are dropped by hand"]);
  });

  it("is asked for once when a reply is lost, and under one key", async () => {
    const ana = await somebody();
    let sent = 0;
    const losing: typeof fetch = async (input, init) => {
      const reply = await fetch(input, init);
      if (init?.method !== "POST" || ++sent > 1) return reply;
      await reply.body?.cancel();
      throw new TypeError("the connection was cut");
    };
    const idempotencyKey = fresh("refund");
    const first = asks(ana.name, { idempotencyKey }, client({ fetch: losing }));
    await until(async () => sent > 1);
    const second = asks(ana.name, { idempotencyKey });
    assert.equal((await ana.inbox()).length, 1);
    const other = await failure(asks(ana.name, { idempotencyKey, args: { ...REFUND, amount: 1 } }));
    assert.ok(other instanceof ParleyError && other.code === "call_id_conflict");
    await ana.decides({ approved: true });
    assert.deepEqual(await first, await second);
  });

  it("goes on being waited for by its id after the wait was given up", async () => {
    const ana = await somebody();
    const [idempotencyKey, stop, reason] = [fresh("refund"), new AbortController(), new Error("enough")];
    const asked = asks(ana.name, { idempotencyKey, signal: stop.signal });
    await isAsked(ana);
    stop.abort(reason);
    await assert.rejects(asked, reason);
    const resumed = client().decision(idempotencyKey);
    await ana.decides({ approved: true });
    assert.deepEqual((await resumed).args, REFUND);
    const unknown = await failure(client().decision("never-asked"));
    assert.ok(unknown instanceof ParleyError && unknown.code === "not_found" && unknown.status === 404);
  });

  it("is asked of nobody where it is not plain who is meant, or of those whom a channel names", async () => {
    const [ana, bo] = [await somebody(), await somebody()];
    for (const name of ["Twice Named", "Twice Named"]) await scene.human(name);
    for (const [to, says] of [
      ["Twice Named", /^Several people are called Twice Named; name one by id: \d+, \d+\.$/],
      ["Nobody At All", /^Nobody is called Nobody At All\.$/],
      ["!", /^Nobody is called !\.$/],
    ] as const) {
      const error = await failure(asks(to));
      assert.ok(error instanceof ParleyError && error.code === "UNKNOWN_PERSON");
      assert.match(error.message, says);
    }
    const unknown = await failure(asks("on-call"));
    assert.ok(unknown instanceof ParleyError && unknown.code === "unknown_channel");
    const channel = { all_of: [ana, bo].map(({ number }) => ({ human: { id: number } })) };
    const both = client().approve({ fn: "issue_refund", args: REFUND, channel });
    await ana.decides({ approved: true, comment: "fine" });
    await bo.decides({ approved: true });
    assert.equal((await both).by?.name, bo.name);
    const twice = await failure(client().approve({ fn: "f", args: {}, to: ana.name, channel }));
    assert.ok(twice instanceof TypeError);
  });

  describe("before a function runs", () => {
    it("is of exactly the arguments that run, whoever changes them meanwhile, and the function runs once", async () => {
      const ana = await somebody();
      const ran: unknown[] = [];
      async function issueRefund(args: { order: string; lines: number[]; note?: string | undefined }) {
        ran.push(args);
        args.lines.push(0);
        return `refunded ${args.order}`;
      }
      const refund = client().requireApproval(issueRefund, { to: ana.name });
      const given = { order: "A-1007", lines: [1, 2], note: undefined };
      const [idempotencyKey, reason] = [fresh("refund"), "Torn"];
      const first = refund(given, { idempotencyKey, reason });
      given.order = "B-2";
      given.lines.push(3);
      const again = refund({ order: "A-1007", lines: [1, 2] }, { idempotencyKey, reason });
      const [{ title } = assert.fail("nobody was asked")] = [await isAsked(ana)];
      assert.equal(title, "issueRefund");
      await ana.decides({ approved: true });
      assert.deepEqual([await first, await again], ["refunded A-1007", "refunded A-1007"]);
      assert.deepEqual(ran, [{ order: "A-1007", lines: [1, 2, 0] }]);
    });

    it("has it run with what a person made of the arguments", async () => {
      const ana = await somebody();
      const refund = client().requireApproval(({ amount }: typeof REFUND) => amount, {
        name: "issue_refund",
        to: ana.name,
        editable: true,
      });
      const amount = refund(REFUND);
      await ana.decides({ approved: true, kwargs: { ...REFUND, amount: 12.5 } });
      assert.equal(await amount, 12.5);
    });

    it("keeps it from running when it is rejected, or when nobody could be shown what would run", async () => {
      const ana = await somebody();
      let ran = 0;
      const parley = client();
      const refund = parley.requireApproval((_: object) => (ran += 1), { name: "issue_refund", to: ana.name });
      const refused = failure(refund(REFUND));
      await ana.decides({ approved: false, comment: "Ask them first" });
      assert.equal(((await refused) as ApprovalRejected).comment, "Ask them first");
      const shared: unknown[] = [];
      shared.push(shared);
      for (const [args, says] of [
        [{ at: new Date() }, /^args\.at is nothing that JSON can carry/],
        [{ lines: [1, Number.NaN] }, /^args\.lines\[1\] is nothing/],
        [{ lines: [undefined] }, /^args\.lines\[0\] is nothing/],
        [{ order: 1n }, /^args\.order is nothing/],
        [{ shared }, /nested more than 64 deep/],
      ] as const) {
        const error = await failure(refund(args));
        assert.ok(error instanceof TypeError);
        assert.match(error.message, says);
      }
      assert.deepEqual([ran, (await ana.inbox()).length], [0, 0]);
      assert.throws(() => parley.requireApproval(() => 1, {}), /has no name/);
    });

    it("is asked for anew under the same key where the wait had failed", async () => {
      const ana = await somebody();
      let ran = 0;
      const refund = client().requireApproval((_: object) => (ran += 1), { name: "issue_refund", to: ana.name });
      const [idempotencyKey, stop] = [fresh("refund"), new AbortController()];
      const stopped = failure(refund(REFUND, { idempotencyKey, signal: stop.signal }));
      await isAsked(ana);
      stop.abort();
      await stopped;
      const again = refund(REFUND, { idempotencyKey });
      await ana.decides({ approved: true });
      assert.deepEqual([await again, ran], [1, 1]);
    });
  });

  it("is bound to the digest that the server makes of any arguments", async () => {
    const example = { amount: 49.9, order: "A-1007", currency: "EUR", lines: [2, null, "näher"] };
    assert.match(await consentDigest("issue_refund", example), /^sha256:e64dd4d7994f082140fe27d37b836046/);
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
        const text = JSON.stringify(copyOf(value));
        assert.equal(canonical(copyOf(value)), canonicalExact(JSON.parse(text)));
      }),
    );
    assert.equal(canonical(copyOf(JSON.parse('{"__proto__":{"b":1,"a":-0}}'))), '{"__proto__":{"a":0,"b":1}}');
  });
});
