import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { causeOfStuck, lateAfter, type MessageState, type Reach } from "../../src/requests/model/stuck.ts";
import { causesOf, type StuckItem } from "../../src/stuck/model/causes.ts";

const person = (more: Partial<Reach> = {}): Reach => ({ isSignedIn: false, hasDevice: false, isAway: false, ...more });
const message = (state: MessageState["state"]): MessageState => ({ channel: "slack", state, error: null });
const causeIn = (more: Partial<Parameters<typeof causeOfStuck>[0]>) =>
  causeOfStuck({ isFrozen: false, isLate: false, people: [person()], messages: [], ...more });

describe("the cause of a stuck request", () => {
  it("is the freeze of its agent before all else", () => {
    assert.equal(causeIn({ isFrozen: true, people: [person({ isAway: true })] }), "frozen");
  });

  it("is that everybody is away, with nobody standing in", () => {
    assert.equal(causeIn({ people: [person({ isAway: true, isSignedIn: true })] }), "away");
    assert.equal(causeIn({ people: [person({ isAway: true }), person({ isSignedIn: true })] }), null);
  });

  it("is a message that was given up, unless another one arrived or a device was told", () => {
    assert.equal(causeIn({ messages: [message("failed")], people: [person({ isSignedIn: true })] }), "message_failed");
    assert.equal(causeIn({ messages: [message("failed"), message("sent")] }), null);
    assert.equal(causeIn({ messages: [message("failed")], people: [person({ hasDevice: true })] }), null);
  });

  it("is that nobody can see it, while no message is on its way", () => {
    assert.equal(causeIn({}), "nobody_reached");
    for (const state of ["queued", "sending", "sent"] as const)
      assert.equal(causeIn({ messages: [message(state)] }), null);
    assert.equal(causeIn({ people: [person({ isSignedIn: true })] }), null);
    assert.equal(causeIn({ people: [] }), null, "anybody with the inbox may answer");
  });

  it("is a late answer where people were told: after an hour, or half of the time for it", () => {
    const people = [person({ hasDevice: true })];
    assert.equal(causeIn({ people }), null);
    assert.equal(causeIn({ people, isLate: true }), "unanswered");
    assert.equal(lateAfter({ createdAt: 0, expiresAt: 600_000 }), 300_000);
    assert.equal(lateAfter({ createdAt: 0, expiresAt: 86_400_000 }), 3_600_000);
  });
});

describe("things that are stuck", () => {
  const item = (cause: StuckItem["cause"], id: string): StuckItem => ({
    cause,
    id,
    kind: "request",
    sentence: null,
    agent: null,
    people: [],
    sinceMs: 0,
    channel: null,
    error: null,
  });

  it("stand by their cause, with a count of all and the first of them", () => {
    const items = [item("unanswered", "a"), item("frozen", "b"), item("unanswered", "c"), item("outcome_unknown", "d")];
    const groups = causesOf(items, { counts: { outcome_unknown: 40, unanswered: 1 }, mostNamed: 1 });
    assert.deepEqual(
      groups.map(({ cause, count, items: named }) => [cause, count, named.map(({ id }) => id)]),
      [
        ["frozen", 1, ["b"]],
        ["outcome_unknown", 40, ["d"]],
        ["unanswered", 2, ["a"]],
      ],
    );
  });
});
