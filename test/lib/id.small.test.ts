import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { idMaker } from "../../src/lib/id.ts";
import { systemRandom } from "../../src/lib/random.ts";

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const YEAR_2081_MS = Date.UTC(2081, 0, 1);

describe("an id", () => {
  it("has 22 characters behind its prefix, and is another each time", () => {
    const newId = idMaker(systemRandom, () => 1_795_766_155_132);
    for (const prefix of ["q", "r", "ask", "req", "p", "sub", "dlv"]) {
      const ids = Array.from({ length: 1000 }, () => newId(prefix));
      for (const id of ids) assert.match(id, new RegExp(`^${prefix}_[0-9A-Za-z]{22}$`));
      assert.equal(new Set(ids).size, 1000);
    }
  });

  it("of a question, an answer or a request follows the time of its making", () => {
    const times = [0, 1, 61, 62, 3843, 1_795_766_155_132, 1_795_766_155_133, YEAR_2081_MS - 1];
    for (const prefix of ["q", "r", "ask"]) {
      const ids = times.map((ms) => idMaker(systemRandom, () => ms)(prefix));
      assert.deepEqual(ids.toSorted(), ids);
      assert.deepEqual(ids.map(timeOf), times);
    }
  });

  it("of a person or a subscription does not tell the time of its making", () => {
    const newId = idMaker(systemRandom, () => 1_795_766_155_132);
    for (const prefix of ["p", "sub", "dlv"]) {
      const starts = Array.from({ length: 50 }, () => newId(prefix).split("_")[1]?.slice(0, 7));
      assert.equal(new Set(starts).size, 50);
    }
  });
});

function timeOf(id: string): number {
  const [, text = ""] = id.split("_");
  return [...text.slice(0, 7)].reduce((ms, digit) => ms * 62 + BASE62.indexOf(digit), 0);
}
