import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { requestMessage } from "../../src/notices/model/push-message.ts";
import type { Request, RequestForm } from "../../src/requests/model/request.ts";

const WORDS = "Does Ana Ruiz's biopsy of Tuesday show a melanoma?";
const FORMS: Record<string, RequestForm> = {
  "Wants your approval": {
    kind: "approval",
    fn: "wire_money",
    kwargs: '{"to":"DE89"}',
    rejectOptions: [],
    editable: false,
  },
  "Has a question for you": { kind: "reply", options: [] },
  "Wants an answer from you": { kind: "value", schema: null },
};

function askOf(form: RequestForm, title: string, wire: Record<string, unknown> = {}): Request {
  return { id: "a_1", asker: "agent:clinic", title, words: WORDS, wire, form, digest: null, expiresAt: 1e9 } as never;
}

describe("a lock screen", () => {
  for (const [wants, form] of Object.entries(FORMS)) {
    it(`says who asks, and "${wants}", and no word of it`, () => {
      for (const title of [WORDS, "wire_money"]) {
        const { title: shown, body } = requestMessage(askOf(form, title), 0);
        assert.deepEqual([shown, body], ["clinic", wants]);
      }
    });

    it(`says the subject where the agent gave one, after "${wants}"`, () => {
      const { body } = requestMessage(askOf(form, "Visit of Tuesday", { subject: true }), 0);
      assert.equal(body, `${wants}: Visit of Tuesday`);
    });

    it(`says who handed it on, with their note, instead of "${wants}", unless the operator wants nothing said`, () => {
      const handed = "Ana hands you this: yours?";
      const bodyOf = (shows: "subject" | "sentence" | "nothing") =>
        requestMessage(askOf(form, WORDS), 0, { shows, told: handed }).body;
      assert.deepEqual([bodyOf("subject"), bodyOf("sentence")], [handed, handed]);
      assert.equal(bodyOf("nothing"), "It stands in the inbox.");
    });

    it(`says only that something waits, where the operator wants that, instead of "${wants}"`, () => {
      const shown = requestMessage(askOf(form, "Visit of Tuesday", { subject: true }), 0, { shows: "nothing" });
      assert.deepEqual([shown.title, shown.body], ["Something waits for you", "It stands in the inbox."]);
      assert.doesNotMatch(JSON.stringify([shown.title, shown.body]), /clinic|Tuesday/);
    });
  }
});
