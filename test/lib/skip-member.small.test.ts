import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { openMemberSkip } from "../../src/lib/json/skip-member.ts";

const skipped = (text: string, pieceBytes: number): string => {
  const bytes = Buffer.from(text);
  const skip = openMemberSkip("result");
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += pieceBytes) pieces.push(skip.push(bytes.subarray(at, at + pieceBytes)));
  return Buffer.concat(pieces).toString();
};

describe("a member that is left out", () => {
  it("is null, and every other member stays as it was, however the text comes in pieces", () => {
    const member = fc.tuple(
      fc.oneof(fc.constantFrom("result", "tool", 're"sult', "results"), fc.string()),
      fc.jsonValue(),
    );
    fc.assert(
      fc.property(fc.array(member), fc.integer({ min: 1, max: 7 }), fc.constantFrom(0, 2), (members, size, indent) => {
        const text = JSON.stringify(Object.fromEntries(members), null, indent);
        // The text says 0 of -0.
        const value = JSON.parse(text) as Record<string, unknown>;
        const wanted = Object.hasOwn(value, "result") ? { ...value, result: null } : value;
        assert.deepEqual(JSON.parse(skipped(text, size)), wanted);
      }),
    );
  });

  it("is left out wherever it stands at the top, and nowhere below", () => {
    const text = '{"result":[{"a":"]}"}],"b":{"result":1},"c":["result",":"],"result" : "x\\"y"}';
    assert.equal(skipped(text, 3), '{"result":null,"b":{"result":1},"c":["result",":"],"result" :null}');
  });

  it("leaves bytes that are no JSON as they are", () => {
    for (const text of ["", "[", '{"a"', "}}", '{"result', "nothing"]) assert.equal(skipped(text, 2), text);
  });
});
