import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ReadyJson, replyJson } from "../../src/lib/json/ready-json.ts";

const ready = (value: unknown): ReadyJson => new ReadyJson(Buffer.from(JSON.stringify(value)));

describe("a reply of which parts are JSON already", () => {
  it("is the same as if they were written with the rest", () => {
    const rows = [{ name: "a", text: 'é\u2028\ud800 "quoted" \u{1f468}' }];
    const reply = replyJson({
      first: ready(rows),
      list: [ready(null), ready("text")],
      last: { ready: ready({}) },
      n: 1,
    });
    assert.ok(Buffer.isBuffer(reply));
    assert.equal(reply.toString(), JSON.stringify({ first: rows, list: [null, "text"], last: { ready: {} }, n: 1 }));
  });

  it("is a text where none are", () => {
    assert.equal(replyJson({ n: 1 }), '{"n":1}');
  });

  it("writes them as themselves outside a reply", () => {
    assert.equal(JSON.stringify({ of: ready(["a"]) }), '{"of":["a"]}');
    assert.throws(() => replyJson({ a: ready(1), b: 1n }), TypeError);
    assert.equal(JSON.stringify(ready({ kind: "whole" })), '{"kind":"whole"}');
  });
});
