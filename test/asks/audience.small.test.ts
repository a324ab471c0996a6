import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { Audience, Decider, Target } from "../../src/requests/model/request.ts";
import {
  asksBy,
  escalated,
  isAsked,
  isCounted,
  isNamed,
  isSatisfied,
  leavesOf,
  readersOf,
} from "../../src/requests/model/audience.ts";

const person = (name: string): Audience => ({ kind: "leaf", target: { via: "person", person: name } });
const inbox: Audience = { kind: "leaf", target: { via: "inbox" } };
const all = (...of: Audience[]): Audience => ({ kind: "all", of });
const any = (...of: Audience[]): Audience => ({ kind: "any", of: of.map((node) => ({ afterMs: 0, node })) });
const quorum = (min: number, ...of: Audience[]): Audience => ({ kind: "quorum", min, of });
const who = (name: string, more: Partial<Decider> = {}): Decider => ({
  via: "web",
  person: name,
  identities: [],
  seesAll: false,
  ...more,
});

describe("an audience", () => {
  it("is satisfied by whoever it names, and by nobody else", () => {
    const cases: [Audience, string[], boolean][] = [
      [person("ana"), ["ana"], true],
      [person("ana"), ["bo"], false],
      [person("ana"), [], false],
      [all(person("ana"), person("bo")), ["ana"], false],
      [all(person("ana"), person("bo")), ["bo", "ana"], true],
      [all(person("ana"), any(person("bo"), person("cy"))), ["cy", "ana"], true],
      [quorum(2, person("ana"), person("bo"), person("cy")), ["ana", "cy"], true],
      [quorum(2, person("ana"), person("bo"), person("cy")), ["ana", "mallory"], false],
      [quorum(2, person("ana"), person("ana"), person("cy")), ["ana"], false],
    ];
    for (const [audience, names, expected] of cases) {
      assert.equal(
        isSatisfied(
          audience,
          names.map((name) => who(name)),
          0,
        ),
        expected,
        JSON.stringify([audience, names]),
      );
    }
  });

  it("lets one person fill one leaf only, however many would fit", () => {
    const ana = who("ana", { seesAll: true, identities: [{ kind: "email", value: "ana@example.com" }] });
    const email: Audience = {
      kind: "leaf",
      target: { via: "email", to: "ana@example.com", informed: false, settings: {} },
    };
    assert.equal(isSatisfied(all(person("ana"), email), [ana], 0), false);
    assert.equal(isSatisfied(all(inbox, email), [ana, who("bo", { seesAll: true })], 0), true);
    assert.equal(isSatisfied(all(email, inbox), [who("bo", { seesAll: true }), ana], 0), true);
  });

  it("asks a later branch only when its time has come", () => {
    const audience: Audience = {
      kind: "any",
      of: [
        { afterMs: 0, node: person("ana") },
        { afterMs: 2000, node: person("bo") },
      ],
    };
    assert.equal(isAsked(audience, who("bo"), "approval", 1999), false);
    assert.equal(isAsked(audience, who("bo"), "approval", 2000), true);
    assert.equal(isSatisfied(audience, [who("bo")], 1999), false);
    assert.equal(isSatisfied(audience, [who("bo")], 2000), true);
  });

  it("takes nobody's approval for that of several, whoever is added later", () => {
    const added = [{ afterMs: 0, audience: any(person("dee"), inbox) }];
    const joint = [
      all(person("ana"), person("bo")),
      quorum(1, person("ana"), person("bo")),
      any(person("ana"), all(person("bo"), person("cy"))),
      any(any(quorum(2, person("ana"), person("bo")))),
    ];
    for (const audience of joint) {
      assert.equal(escalated(audience, added), audience);
      assert.equal(isSatisfied(escalated(audience, added), [who("dee", { seesAll: true })], 0), false);
    }
    for (const audience of [person("ana"), any(person("ana"), person("bo"))]) {
      const more = escalated(audience, added);
      assert.deepEqual([isSatisfied(more, [who("dee")], 0), isSatisfied(more, [who("ana")], 0)], [true, true]);
      assert.equal(escalated(audience, []), audience);
    }
  });

  it("has places that only enrolled people fill where several have to agree", () => {
    const room: Audience = { kind: "leaf", target: { via: "slack", to: "C024BE91L", settings: {} } };
    const presses = (person: string | null, user: string): Decider => ({
      via: "slack",
      person,
      identities: [{ kind: "slack", value: user }],
      seesAll: false,
      slackMember: { channel: "C024BE91L", mayApprove: true },
    });
    const stranger = presses(null, "U0PRIVATE");
    const ana = who("ana");
    const cases: [Audience, Decider[], boolean][] = [
      [room, [stranger], true],
      [any(room, person("ana")), [stranger], true],
      [all(room), [stranger], false],
      [all(person("ana"), room), [ana, stranger], false],
      [all(person("ana"), room), [ana, presses("bo", "U0BO")], true],
      [all(room, room), [stranger, presses(null, "U0OTHER")], false],
      [quorum(2, person("ana"), room, person("bo")), [ana, stranger], false],
      [quorum(1, room), [stranger], false],
      [quorum(1, any(room, person("ana"))), [stranger], false],
      [any(room, all(person("ana"), person("bo"))), [stranger], true],
    ];
    for (const [audience, approvers, expected] of cases) {
      assert.equal(isSatisfied(audience, approvers, 0), expected, JSON.stringify([audience, approvers]));
    }
    assert.deepEqual(
      [room, all(room), quorum(1, room), any(room, all(room))].map((audience) => isCounted(audience, stranger, 0)),
      [true, false, false, true],
    );
  });

  it("tells messages that ask from those that inform", () => {
    const mail = (to: string, informed = false): Target => ({ via: "email", to, informed, settings: {} });
    const audience = all(person("ana"), any({ kind: "leaf", target: mail("bo@example.com") }));
    const copied: Audience = { kind: "leaf", target: mail("cy@example.com", true) };
    const cases: [Audience, Target, string | null, boolean][] = [
      [audience, mail("ana@example.com"), "ana", true],
      [audience, mail("bo@example.com"), null, true],
      [audience, mail("eve@example.com"), null, false],
      [audience, mail("ana@example.com"), null, false],
      [audience, { via: "sms", to: "bo@example.com", settings: {} }, null, false],
      [copied, mail("cy@example.com", true), null, false],
    ];
    for (const [asked, target, reached, expected] of cases) {
      assert.equal(asksBy(asked, { target, person: reached }), expected, JSON.stringify([target, reached]));
    }
  });

  it("agrees with trying every assignment of approvers to leaves", () => {
    const names = ["ana", "bo", "cy"];
    const tree = fc.letrec<{ node: Audience }>((tie) => ({
      node: fc.oneof(
        { maxDepth: 3, depthSize: "small" },
        fc.oneof(fc.constantFrom(...names).map(person), fc.constant(inbox)),
        fc.array(tie("node"), { minLength: 1, maxLength: 3 }).map((of) => all(...of)),
        fc.array(tie("node"), { minLength: 1, maxLength: 3 }).map((of) => any(...of)),
        fc
          .tuple(fc.array(tie("node"), { minLength: 1, maxLength: 3 }), fc.nat(2))
          .map(([of, min]) => quorum(Math.min(min + 1, of.length), ...of)),
      ),
    })).node;
    const approvers = fc
      .subarray(names)
      .chain((some) => fc.tuple(...some.map((name) => fc.boolean().map((seesAll) => who(name, { seesAll })))));
    fc.assert(
      fc.property(tree, approvers, (audience, some) => {
        fc.pre(leavesOf(audience).length <= 6);
        assert.equal(isSatisfied(audience, some, 0), byTryingAll(audience, some));
      }),
      { numRuns: 2000 },
    );
  });

  it("is found in the inbox of whom it names", () => {
    const targets: [Target, string[]][] = [
      [{ via: "person", person: "ana" }, ["ana"]],
      [{ via: "inbox" }, ["*"]],
      [{ via: "slack", to: "U12", settings: {} }, ["slack:U12"]],
      [{ via: "slack", to: "C12", settings: {} }, ["slack:*"]],
      [{ via: "slack", to: "C12", allowed: ["U1", "U2"], settings: {} }, ["slack:U1", "slack:U2"]],
      [{ via: "email", to: "ana@example.com", informed: false, settings: {} }, ["email:ana@example.com"]],
      [{ via: "email", to: "ana@example.com", informed: true, settings: {} }, []],
      [{ via: "sms", to: "+491", settings: {} }, ["phone:+491"]],
      [{ via: "webhook", to: "desk", people: ["ana", "bo"] }, ["ana", "bo"]],
    ];
    for (const [target, readers] of targets) assert.deepEqual(readersOf({ kind: "leaf", target }), readers);
  });

  it("lets only enrolled full members decide a call in a Slack channel, and any full member answer", () => {
    const channel: Target = { via: "slack", to: "C12", settings: {} };
    const member: Partial<Decider> = {
      slackMember: { channel: "C12", mayApprove: false },
      identities: [{ kind: "slack", value: "U1" }],
    };
    assert.equal(isNamed(channel, who("ana", member), "approval"), true);
    assert.equal(isNamed(channel, { ...who("ana", member), person: null }, "approval"), false);
    assert.equal(isNamed(channel, { ...who("ana", member), person: null }, "reply"), true);
    const stranger = { ...who("ana", member), person: null, slackMember: { channel: "C12", mayApprove: true } };
    assert.equal(isNamed(channel, stranger, "approval"), true);
    assert.equal(
      isNamed(channel, who("ana", { ...member, slackMember: { channel: "C99", mayApprove: true } }), "approval"),
      false,
    );
    const inInbox = who("ana", { identities: [{ kind: "slack", value: "U1" }] });
    assert.equal(isNamed(channel, inInbox, "approval"), true);
    assert.equal(isNamed(channel, who("bo"), "approval"), false);
    assert.equal(isNamed({ ...channel, allowed: ["U2"] }, who("ana", member), "approval"), false);
  });
});

/** Tries every way to give each approver one leaf or none, and looks whether the filled leaves satisfy the tree. */
function byTryingAll(audience: Audience, approvers: readonly Decider[]): boolean {
  const leaves = leavesOf(audience);
  const places = leaves.map((_, i) => i);
  const isEnough = (filled: ReadonlySet<number>): boolean => {
    let next = 0;
    const holds = (node: Audience): boolean => {
      switch (node.kind) {
        case "leaf":
          return filled.has(next++);
        case "all":
          return node.of.map(holds).every(Boolean);
        case "any":
          return node.of.map((branch) => holds(branch.node)).some(Boolean);
        case "quorum":
          return node.of.map(holds).filter(Boolean).length >= node.min;
      }
    };
    return holds(audience);
  };
  const assign = (i: number, filled: ReadonlySet<number>): boolean => {
    const approver = approvers[i];
    if (!approver) return isEnough(filled);
    if (assign(i + 1, filled)) return true;
    return places.some((place) => {
      const leaf = leaves[place];
      if (!leaf || filled.has(place) || !isNamed(leaf.target, approver, "approval")) return false;
      return assign(i + 1, new Set([...filled, place]));
    });
  };
  return approvers.length > 0 && assign(0, new Set());
}
