import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { askMarkup } from "../../../src/protocols/web/links/view.ts";
import { askOf } from "../../support/unseen-renderers.ts";

describe("the page of a one-time link", () => {
  it("shows what people asked the agent and what it answered, as text", () => {
    const inquiries = [
      { person: "hum_1", text: "Which <b>customer</b>?", at: 1, answer: "Lind & Sons\u202e", answeredAt: 2 },
      { person: "hum_1", text: "And why?", at: 3 },
    ];
    const shown = askMarkup(askOf("pay", {}, { inquiries })).text;
    const parts = [...shown.matchAll(/<p dir="auto">([^<]*)<\/p>/g)].map(([, text]) => text);
    assert.deepEqual(parts, [
      "Which &lt;b&gt;customer&lt;/b&gt;?",
      "Lind &amp; Sons\\u202e",
      "And why?",
      "No answer yet.",
    ]);
    assert.ok(!askMarkup(askOf("pay", {})).text.includes("Questions to the agent"));
  });
});
