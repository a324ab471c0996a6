import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { imageFault, MOST_IMAGE_BYTES, nextUse, outcomeOfCall, type PlanCall } from "../../src/requests/model/plan.ts";
import type { CountedDecision, Outcome, Request } from "../../src/requests/model/request.ts";
import { sentenceOf } from "../../src/requests/model/sentence.ts";
import { Refusal } from "../../src/refusals.ts";

const PNG = "iVBORw0KGgoAAAANSUhEUg==";

const calls = (used: readonly string[] = []): PlanCall[] =>
  ["a", "b", "a", "c"].map((digest, i) => ({
    ord: i + 1,
    digest,
    requestId: `ask_${i + 1}`,
    ref: `call:${i + 1}`,
    fn: "pay",
    state: "answered",
    usedBy: used[i] ?? null,
    usedAt: used[i] === undefined ? null : 5,
  }));

const form = { kind: "approval", fn: "plan", kwargs: "{}", rejectOptions: [], editable: false, calls: 4 } as const;
const plan = (outcome: Partial<Outcome> = { approved: true }, more: Partial<Request> = {}) => ({
  form,
  state: "answered" as const,
  expiresAt: 100,
  outcome: { status: "answered" as const, ...outcome },
  ...more,
});

describe("the next use of a plan", () => {
  const reason = (run: () => unknown): unknown => {
    try {
      return run();
    } catch (error) {
      assert.ok(error instanceof Refusal);
      return error.details["reason"] ?? error.code;
    }
  };
  const use = (of: ReturnType<typeof plan>, used: readonly string[], digest: string, { now = 10, key = "new" } = {}) =>
    reason(() => nextUse(of, calls(used), { key, digest }, now));

  it("is the next approved call that nobody has used, by its very arguments", () => {
    assert.equal(nextUse(plan(), calls(), { key: "k", digest: "a" }, 10).ord, 1);
    assert.equal(nextUse(plan(), calls(["k1", "k2"]), { key: "k", digest: "a" }, 10).ord, 3);
    assert.equal(nextUse(plan(), calls(["k1"]), { key: "k", callId: "2" }, 10).ord, 2);
  });

  it("is the same again under the same key, also when the time of the plan is over", () => {
    assert.equal(nextUse(plan(), calls(["k1", "k2"]), { key: "k1", digest: "a" }, 1000).ord, 1);
    assert.equal(use(plan(), ["k1"], "b", { key: "k1" }), "idempotency_mismatch");
  });

  it("is refused with the reason", () => {
    const cases: [unknown, unknown][] = [
      [use(plan(), [], "b"), "order"],
      [use(plan(), [], "z"), "arguments"],
      [use(plan(), ["k1", "k2"], "b"), "spent"],
      [use(plan(), ["k1", "k2", "k3", "k4"], "a"), "spent"],
      [use(plan(), [], "a", { now: 100 }), "expired"],
      [use(plan({ status: "expired" }, { state: "expired" }), [], "a"), "expired"],
      [use(plan({ status: "cancelled" }, { state: "cancelled" }), [], "a"), "not_approved"],
      [use(plan({ approved: false }), [], "a"), "not_approved"],
      [use(plan({ approved: true, upTo: 1 }), [], "b"), "not_approved"],
      [use(plan({}, { state: "open", outcome: null }), [], "a"), "not_approved"],
    ];
    for (const [i, [found, wanted]] of cases.entries()) assert.equal(found, wanted, `case ${i}`);
  });
});

describe("the end of a call of a plan", () => {
  const person = (id: string) => ({ kind: "person", id, via: "web" }) as const;
  const said = (id: string, upTo?: number): CountedDecision => ({
    by: person(id),
    approved: true,
    at: 1,
    ...(upTo !== undefined && { upTo }),
  });

  it("is the plan's, and a rejection from the first call on that was taken out", () => {
    const over: Outcome = { status: "answered", approved: true, by: person("ana"), upTo: 1, comment: "no drops" };
    const ends = [1, 2, 3].map((ord) => outcomeOfCall(over, [said("ana", 1)], { ord, digest: `d${ord}` }));
    assert.deepEqual(
      ends.map(({ approved, comment, digest }) => [approved, comment, digest]),
      [
        [true, "no drops", "d1"],
        [false, "It was taken out of the plan: no drops", "d2"],
        [false, "It stands behind a call that was taken out of the plan: no drops", "d3"],
      ],
    );
  });

  it("is by somebody who left the call out", () => {
    const over: Outcome = { status: "answered", approved: true, by: person("bo"), upTo: 1 };
    const end = outcomeOfCall(over, [said("ana", 1), said("bo")], { ord: 2, digest: "d" });
    assert.equal(end.by?.id, "ana");
  });

  it("is never an approval where nobody decided", () => {
    for (const status of ["expired", "cancelled"] as const) {
      assert.deepEqual(outcomeOfCall({ status }, [], { ord: 1, digest: "d" }), { status, approved: false });
    }
  });
});

describe("an image of the evidence", () => {
  it("is base64 of its own type, and not too large", () => {
    assert.equal(imageFault("image/png", PNG), null);
    assert.match(imageFault("image/jpeg", PNG) ?? "", /type image\/jpeg/);
    assert.equal(imageFault("image/png", "not base64"), "must be base64");
    assert.equal(imageFault("image/png", ""), "must be base64");
    const large = Buffer.alloc(MOST_IMAGE_BYTES + 1).toString("base64");
    assert.match(imageFault("image/png", large) ?? "", /at most/);
  });
});

describe("the sentence of a plan", () => {
  const said = (calls: number, title: string, first?: Record<"en" | "de" | "ar", string>) =>
    (["en", "de", "ar"] as const).map((language) =>
      sentenceOf({ form: { ...form, calls }, title, words: "", wire: first ? { first } : {} }, language),
    );

  it("is the number of its calls and its title", () => {
    assert.deepEqual(said(12, "Tidy the folder"), [
      "Plan of 12 calls: Tidy the folder",
      "Plan mit 12 Aufrufen: Tidy the folder",
      "خطة (الاستدعاءات: 12): Tidy the folder",
    ]);
    assert.equal([...(said(1, "x".repeat(200))[0] ?? "")].length, 200);
  });

  it("is its first call and the number of the others where it has no title", () => {
    const first = { en: "Pay out 1 EUR", de: "Pay out 1 EUR", ar: "Pay out 1 EUR" };
    assert.deepEqual(said(3, "3 calls", first), [
      "Pay out 1 EUR and 2 more",
      "Pay out 1 EUR und 2 weitere",
      "Pay out 1 EUR و2 غيره",
    ]);
    assert.equal(said(1, "1 call", first)[0], first.en);
  });
});
