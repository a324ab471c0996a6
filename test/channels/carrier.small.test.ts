import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isPostedAt, isPostedBy, isReadByAsker } from "../../src/requests/model/carrier.ts";
import type { Target } from "../../src/requests/model/request.ts";

const slack = (settings: Readonly<Record<string, unknown>> = {}): Target => ({ via: "slack", to: "U0ANA", settings });
const BARE = { via: "slack", to: "U0ANA" } as Target;

describe("what carries a message", () => {
  it("is read by the asker where it is a token of the request or a further Slack app, and nowhere else", () => {
    const read = [slack({ botToken: "secret_1" }), slack({ app: "A0OTHER" }), slack({ botToken: 0, threadTs: "1.1" })];
    const unread: Target[] = [
      slack(),
      BARE,
      slack({ plain: true, threadTs: "1.1" }),
      { via: "email", to: "ana@people.example", informed: false, settings: { botToken: "x", app: "x" } },
      { via: "sms", to: "+491701234567", settings: {} },
      { via: "webhook", to: "desk", people: [] },
      { via: "person", person: "p1" },
      { via: "inbox" },
    ];
    for (const target of read) assert.equal(isReadByAsker(target), true, JSON.stringify(target));
    for (const target of unread) assert.equal(isReadByAsker(target), false, JSON.stringify(target));
  });

  it("is the operator's app, or the further one that is named; a token of a request is never the operator's", () => {
    const apps = [null, "A0OTHER", "A0THIRD"];
    const posting = (target: Target) => apps.filter((app) => isPostedBy(target, app));
    assert.deepEqual(posting(slack()), [null]);
    assert.deepEqual(posting(BARE), [null]);
    assert.deepEqual(posting(slack({ app: "A0OTHER" })), ["A0OTHER"]);
    assert.deepEqual(posting(slack({ botToken: "secret_1" })), ["A0OTHER", "A0THIRD"]);
    assert.deepEqual(posting({ via: "inbox" }), []);
  });

  it("is pressed where it was posted: the app, the channel and the message are those that were noted", () => {
    const posted = { target: slack(), externalIds: { channel: "D0ANA", ts: "1.1", thread: "D0ANA/1.0" } };
    const there = { app: null, channel: "D0ANA", ts: "1.1" };
    assert.equal(isPostedAt(posted, there), true);
    for (const more of [{ app: "A0OTHER" }, { channel: "C0ROOM" }, { ts: "1.0" }, { ts: "" }]) {
      assert.equal(isPostedAt(posted, { ...there, ...more }), false, JSON.stringify(more));
    }
    const unnoted: (Record<string, string> | null)[] = [null, {}, { channel: "D0ANA" }];
    for (const externalIds of unnoted) {
      assert.equal(isPostedAt({ ...posted, externalIds }, there), false);
      assert.equal(isPostedAt({ ...posted, externalIds }, { ...there, ts: "" }), false);
    }
    const mail: Target = { via: "email", to: "ana@people.example", informed: false, settings: {} };
    assert.equal(isPostedAt({ ...posted, target: mail }, there), false);
  });
});
