import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { keepResults } from "../../src/lib/kept-results.ts";

describe("kept results", () => {
  it("are made once for a text, while it is among the newest", () => {
    const made: string[] = [];
    const upper = keepResults(2, (text) => {
      made.push(text);
      return text.toUpperCase();
    });
    assert.deepEqual(["a", "b", "a", "c", "b", "a"].map(upper), ["A", "B", "A", "C", "B", "A"]);
    assert.deepEqual(made, ["a", "b", "c", "a"]);
  });
});
