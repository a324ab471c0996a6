import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { answerOf, decisionFrom, promptOf } from "../../src/tasks/model/attempt-asks.ts";
import type { AskAnswer } from "../../src/asks/model/ask.ts";
import type { PolicyTrace } from "../../src/policy/model/trace.ts";

const DIGEST = "sha256:aa";
const TRACE: PolicyTrace = {
  policy: "mine@v1",
  policy_version: "1:aa",
  decision: "ALLOW",
  matched: [0],
  defaulted: false,
};
const answered = (more: Partial<AskAnswer>): AskAnswer => ({
  askId: "aa-1",
  jobId: "J-1",
  stepId: "S-1",
  status: "ANSWERED",
  cacheable: false,
  truncated: false,
  source: "person",
  principal: "human_1",
  createdAt: 1,
  ...more,
});
const yes = (more: Partial<AskAnswer> = {}) =>
  answered({ json: { approved: true, by: "person" }, consentDigest: DIGEST, answeredBy: "Dana", ...more });

describe("what an answer decides of a permission", () => {
  it("is yes for a person's approval of exactly that, and for a rule or a grant that matched", () => {
    assert.deepEqual(decisionFrom(yes(), DIGEST), { allow: true });
    assert.deepEqual(decisionFrom(yes({ source: "policy", policyTrace: TRACE }), DIGEST), { allow: true });
  });

  it("is no for whatever else says yes", () => {
    const { consentDigest: _, ...undigested } = yes();
    const others: [AskAnswer, string | null][] = [
      [yes({ consentDigest: "sha256:bb" }), DIGEST],
      [undigested, DIGEST],
      [yes(), null],
      [yes({ source: "policy" }), DIGEST],
      [yes({ source: "policy", policyTrace: { ...TRACE, defaulted: true } }), DIGEST],
      [yes({ source: "policy", policyTrace: { ...TRACE, decision: "ESCALATE" } }), DIGEST],
      ...(["service", "runner", "cache", "server"] as const).map((source): [AskAnswer, string] => [
        yes({ source, policyTrace: TRACE }),
        DIGEST,
      ]),
      ...[undefined, null, true, "approved", {}, { approved: "true" }, { approved: 1 }].map(
        (json): [AskAnswer, string] => [yes({ json }), DIGEST],
      ),
      ...(["REJECTED", "TIMEOUT", "ERROR"] as const).map((status): [AskAnswer, string] => [yes({ status }), DIGEST]),
    ];
    for (const [answer, digest] of others) {
      assert.equal(decisionFrom(answer, digest).allow, false, JSON.stringify([answer, digest]));
    }
  });

  it("says why not in words that a model can go by", () => {
    const why = (more: Partial<AskAnswer>) => {
      const decision = decisionFrom(answered(more), DIGEST);
      return decision.allow ? assert.fail("it is allowed") : decision.why;
    };
    const by = { status: "REJECTED", answeredBy: "Dana", errorCode: "E_HUMAN_REJECT" } as const;
    assert.equal(why({ ...by, error: "E_HUMAN_REJECT: use the fixture database" }), "Dana: use the fixture database");
    assert.equal(why({ ...by, error: "E_HUMAN_REJECT: a person declined" }), "Dana declined");
    assert.equal(why({ status: "TIMEOUT", errorCode: "E_TIMEOUT", error: "E_TIMEOUT: no answer" }), "no one answered");
    const denied = { status: "REJECTED", errorCode: "E_POLICY_DENY", error: "E_POLICY_DENY: not here" } as const;
    assert.equal(why({ ...denied, policyTrace: TRACE }), "policy (mine@v1): not here");
    const nobody = { status: "REJECTED", errorCode: "E_NO_ANSWERER", error: "E_NO_ANSWERER: it is off" } as const;
    assert.equal(why(nobody), "nobody could be asked: it is off");
  });

  it("marks what was withdrawn, for agents that tell that from a no", () => {
    const gone = answered({ status: "ERROR", errorCode: "E_CANCELED", error: "E_CANCELED: job J-1 ended" });
    const decision = decisionFrom(gone, DIGEST);
    assert.equal(!decision.allow && decision.canceled, true);
    assert.ok("none" in answerOf(gone));
  });
});

describe("what people read of a wish", () => {
  const who = { repo: "shop", taskId: "card-1", agent: "claude", sandbox: "bubblewrap" } as const;

  it("begins with what would be done, and says whose wish it is and where it would run", () => {
    const text = promptOf({ tool: "Bash", input: {}, action: "execute", resource: "npm test" }, who);
    assert.equal(text, "Run: npm test\n\nFor task card-1 in shop, by claude. It runs in a sandbox (bubblewrap).");
  });

  it("is never longer than an ask may be", () => {
    const long = "x".repeat(40_000);
    const write = { tool: "Write", input: {}, action: "write", resource: long, diff: long } as const;
    assert.equal(promptOf(write, who).length, 16_000);
    assert.match(promptOf(write, who), /For task card-1 in shop/);
    assert.equal(promptOf({ text: long, options: [] }, who).length, 16_000);
  });
});
