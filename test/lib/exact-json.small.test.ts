import assert from "node:assert/strict";
import { describe, it, mock } from "node:test";
import { CanonicalJson, canonicalExact, parseExactJson } from "../../src/lib/json/exact-json.ts";

const DEPTH = { maxDepth: 64 };
const bytesOf = (text: string) => Buffer.from(text);

/** How often the engine's parser ran, and how often it called back for each value, which costs as much as all else. */
function parsesOf(text: string): { parses: number; withReviver: number } {
  const bytes = bytesOf(text);
  const parse = mock.method(JSON, "parse");
  try {
    parseExactJson(bytes, DEPTH);
  } finally {
    parse.mock.restore();
  }
  const calls = parse.mock.calls.map(({ arguments: given }) => given.length);
  return { parses: calls.length, withReviver: calls.filter((count) => count > 1).length };
}

describe("JSON whose integers keep their digits", () => {
  it("is parsed once, with no call back for each of its values, where every integer is a number as it stands", () => {
    const many = Object.fromEntries(Array.from({ length: 30_000 }, (_, i) => [`arg${i}`, i]));
    assert.deepEqual(parsesOf(JSON.stringify(many)), { parses: 1, withReviver: 0 });
    assert.deepEqual(parsesOf('{"at":999999999999999,"part":0.25,"far":-1e300}'), { parses: 1, withReviver: 0 });
  });

  it("prints as it was written, wherever a long integer stands", () => {
    for (const text of [
      '{"a":9007199254740993,"b":[-12345678901234567890,{"c":1}]}',
      '{"a":9007199254740991,"b":"12345678901234567890"}',
      '{"a":999999999999999,"b":-0.5}',
      "1234567890123456789",
    ]) {
      assert.equal(canonicalExact(parseExactJson(bytesOf(text), DEPTH)), text);
    }
  });

  it("takes over the canonical JSON of a part that is known", () => {
    const args = { b: [1, null], a: { é: 0.5, n: JSON.parse("1e21") } };
    const known = new CanonicalJson(canonicalExact(args));
    assert.equal(canonicalExact({ z: 1, args: known }), canonicalExact({ z: 1, args }));
  });
});
