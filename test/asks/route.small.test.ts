import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { afterPolicy, afterRunner, amongPeople, type RouteRules, type Step } from "../../src/asks/loops/route.ts";
import type { Ask } from "../../src/asks/model/ask.ts";
import { ASK_TYPES } from "../../src/core/model/ask-type.ts";
import type { PolicyDecision } from "../../src/policy/model/policy.ts";
import { DEFAULT_RELAY_RULES } from "../../src/asks/model/rules.ts";
import type { ResponderAnswer, ResponderPass } from "../../src/responders/responder.ts";

const askOf = (type: Ask["type"], meta: Ask["meta"]): Ask => ({
  id: "ask-1",
  jobId: "J-1",
  stepId: "S-1",
  type,
  principal: "executor:ana",
  prompt: "May it run?",
  contextHash: "",
  envelope: null,
  roleId: null,
  meta,
  epoch: 0,
  constraints: {},
  status: "PENDING",
  stage: "intake",
  stages: [],
  createdAt: 1,
  expiresAt: 2,
  joinedTo: null,
  addressedId: null,
  questionId: null,
  decisionKey: null,
  consentDigest: null,
});

const judgedAs = (decision: PolicyDecision["decision"], matchedRule: boolean): PolicyDecision => ({
  decision,
  matchedRule,
  trace: { policy: "file", policy_version: "1", decision, matched: [], defaulted: !matchedRule },
  rules: [],
  countedAs: null,
  isGrantable: false,
  because: "it says so",
});

const ASKS = ASK_TYPES.flatMap((type) =>
  [{}, { audience: "public" }, { audience: "public", to: "ana" }].map((meta) => askOf(type, meta)),
);
const JUDGED = (["ALLOW", "DENY", "ESCALATE"] as const).flatMap((decision) =>
  [true, false].map((matched) => judgedAs(decision, matched)),
);
const RULES: readonly RouteRules[] = [null, { default: null, public: false }, { default: null, public: true }].flatMap(
  (people) =>
    [true, false].flatMap((policyAdvice) =>
      (["people_first", "executor"] as const).map((askBack) => ({
        ...DEFAULT_RELAY_RULES,
        people,
        policyAdvice,
        askBack,
      })),
    ),
);
const approved = {
  kind: "answer",
  status: "ANSWERED",
  json: { approved: true },
  cacheable: true,
  because: "",
} as const;
const MADE: readonly (ResponderAnswer | ResponderPass)[] = [
  approved,
  { ...approved, askBack: "Which?" },
  { ...approved, status: "ERROR" },
  { kind: "pass", because: "not sure" },
  { kind: "pass", because: "not sure", opinion: "yes", askBack: "Which?" },
  { kind: "pass", because: "broke", error: { code: "E_MODEL", text: "broke" } },
];

/** Calls `see` with every way that an ask can go, step by step. */
function everyRoute(see: (ask: Ask, judged: PolicyDecision, rules: RouteRules, steps: readonly Step[]) => void): void {
  for (const ask of ASKS)
    for (const judged of JUDGED)
      for (const rules of RULES) {
        const first = afterPolicy(ask, judged, rules);
        const isAsked = first.to === "runner" || first.to === "cache";
        const machine = isAsked ? [{ to: "people", remarks: [] } as const, ...ran(ask, judged, rules)] : [];
        for (const next of isAsked ? machine : [first]) {
          if (next.to !== "people") see(ask, judged, rules, [first, next]);
          else {
            for (const isLate of [true, false]) {
              const last = amongPeople(ask, judged, { rules, remarks: next.remarks, isLate });
              see(ask, judged, rules, [first, next, last]);
            }
          }
        }
      }
}

function ran(ask: Ask, judged: PolicyDecision, rules: RouteRules): Step[] {
  return [0, 5].flatMap((rounds) =>
    MADE.map((made) => afterRunner(ask, made, { rules, rounds, policyTrace: judged.trace })),
  );
}

const isDecision = ({ type }: Ask) => type === "APPROVAL" || type === "POLICY_DECISION";

describe("the route of an executor's ask", () => {
  it("ends a decision with yes only by a rule or a default that policy gives, and never by a model", () => {
    let seen = 0;
    everyRoute((ask, judged, _rules, steps) => {
      const last = steps.at(-1);
      if (!isDecision(ask) || last?.to !== "end" || last.answer.status !== "ANSWERED") return;
      seen += 1;
      assert.deepEqual([last.stage, judged.decision], ["policy", "ALLOW"]);
      if (ask.type === "APPROVAL") assert.equal(judged.matchedRule, true);
    });
    assert.ok(seen > 0);
  });

  it("never looks a decision up in the cache", () => {
    everyRoute((ask, _judged, _rules, [first]) => assert.ok(!isDecision(ask) || first?.to !== "cache"));
  });

  it("puts to the public what its operator and its asker allow, and no decision or ask for a named person", () => {
    let seen = 0;
    everyRoute((ask, judged, rules, steps) => {
      if (steps.at(-1)?.to !== "public") return;
      seen += 1;
      assert.ok(!isDecision(ask) && judged.decision !== "ESCALATE" && rules.people?.public === true);
      assert.deepEqual(ask.meta, { audience: "public" });
    });
    assert.ok(seen > 0);
  });

  it("ends an ask for people as refused or failed where there are none, and as timed out where it is late", () => {
    everyRoute((_ask, _judged, { people }, steps) => {
      const [, , last] = steps;
      if (last === undefined) return;
      if (people === null) assert.ok(last.to === "end" && ["REJECTED", "ERROR"].includes(last.answer.status));
      else if (last.to === "end") assert.equal(last.answer.status, "TIMEOUT");
    });
  });

  it("ends what policy denies as rejected, at policy", () => {
    everyRoute((_ask, { decision }, _rules, [first, last]) => {
      if (decision !== "DENY") return;
      assert.equal(first, last);
      assert.ok(first?.to === "end" && first.stage === "policy" && first.answer.status === "REJECTED");
    });
  });
});
