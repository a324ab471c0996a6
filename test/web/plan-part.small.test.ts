import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { approvedIn, isGravePart, toggledAt, unseenAmong } from "../../web/src/inbox/plan/part.ts";
import type { Plan, PlannedCall, WholeAsk } from "../../web/src/inbox/wire.ts";

const call = (place: number, more: Partial<PlannedCall> = {}): PlannedCall => ({
  place,
  fn: "pay",
  sentence: `Pay ${place}`,
  risk: "normal",
  risk_reasons: [],
  digest: "",
  arguments: [],
  call_outcome: null,
  ...more,
});
const planOf = (...calls: PlannedCall[]): Plan => ({ title: null, calls, evidence: [] });
const secret = { name: "token", text: '"x"', typed: null, secret: true, masked: null };

describe("the part of a plan that is approved", () => {
  it("ends before the call that is taken out, and is all of it once a call that is out is put back", () => {
    const press = (...places: number[]) => places.reduce((left, place) => toggledAt(place, left, 12), 12);
    assert.deepEqual([press(3), press(5, 3), press(3, 3), press(3, 7), press(1)], [2, 2, 12, 12, 0]);
  });

  it("needs the care of a high risk where one of its calls has it, or the plan itself", () => {
    const plan = planOf(call(1), call(2, { risk: "high" }));
    const high = { risk: "high" as const };
    assert.deepEqual([isGravePart(high, plan, 2), isGravePart(high, plan, 1)], [true, false]);
    assert.equal(isGravePart(high, planOf(call(1)), 1), true);
    assert.equal(isGravePart({ risk: "unjudged" }, planOf(call(1, { risk: "unjudged" })), 1), false);
  });

  it("is not approved before each secret in it was looked at", () => {
    const plan = planOf(call(1), call(2, { arguments: [secret] }), call(3, { arguments: [secret] }));
    assert.equal(unseenAmong(plan, 1, new Set()), undefined);
    assert.deepEqual(unseenAmong(plan, 3, new Set()), { place: 2, name: "token" });
    assert.deepEqual(unseenAmong(plan, 3, new Set(["2 token"])), { place: 3, name: "token" });
  });

  it("is that of the end, or of an own press that has not left", () => {
    const over = (approved_calls: number | null) => ({ outcome: { approved_calls }, presses: [] });
    const pressed = (approved: boolean, approved_calls: number | null) => ({
      outcome: null,
      presses: [{ mine: true, approved, approved_calls }],
    });
    const said = (of: object) => approvedIn(of as Pick<WholeAsk, "outcome" | "presses">);
    assert.deepEqual(
      [said(over(2)), said(over(null)), said(pressed(true, 4)), said(pressed(false, null))],
      [2, 0, 4, 0],
    );
    assert.equal(said({ outcome: null, presses: [] }), null);
  });
});
