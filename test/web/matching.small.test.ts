import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { matching } from "../../web/src/keys-dialog/matching.ts";

const of = (...names: string[]) => names.map((name) => ({ name }));
const namesOf = (all: readonly { name: string }[]): string[] => all.map(({ name }) => name);

describe("the search of the palette", () => {
  it("lists everything in its own order until something is typed", () => {
    const all = of("Next", "Approve", "Go to Inbox");
    assert.deepEqual(matching(all, "  "), all);
  });

  it("finds every word in any order, what begins with them first", () => {
    const all = of("Open: Refund 240 EUR, approved before", "Reapproval of the refund", "Approve", "Go to Answer");
    assert.deepEqual(namesOf(matching(all, "appr")), [
      "Approve",
      "Open: Refund 240 EUR, approved before",
      "Reapproval of the refund",
    ]);
    assert.deepEqual(namesOf(matching(all, "240 refund")), ["Open: Refund 240 EUR, approved before"]);
    assert.deepEqual(matching(all, "refund deploy"), []);
  });

  it("sees no difference between large and small letters, with and without accents, and signs that nobody sees", () => {
    const all = of("Öffnen: Zürich", "فتح: \u2068طَلَب\u2069", "Go to You");
    assert.deepEqual(namesOf(matching(all, "offnen ZURICH")), ["Öffnen: Zürich"]);
    assert.deepEqual(namesOf(matching(all, "طلب")), ["فتح: \u2068طَلَب\u2069"]);
    assert.deepEqual(namesOf(matching(all, "go: to you")), ["Go to You"]);
  });
});
