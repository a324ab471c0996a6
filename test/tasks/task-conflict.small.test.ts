import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { conflictReason, newConflict } from "../../src/tasks/model/conflict.ts";

describe("what a task says of a conflict before it", () => {
  const paths = (count: number) => Array.from({ length: count }, (_, i) => `${i}.ts`);

  it("names who does not merge, where, and that a person was asked", () => {
    const one = newConflict({ deps: ["a"], paths: ["x.ts"] });
    assert.equal(conflictReason(one), "a does not merge with the base in x.ts: a person was asked");
    const many = newConflict({ deps: ["a", "b", "c"], paths: paths(2) });
    assert.equal(conflictReason(many), "a, b and c do not merge in 0.ts and 1.ts: a person was asked");
  });

  it("stays short, and keeps how many files it leaves out", () => {
    const most = newConflict({ deps: ["a", "b"], paths: paths(130) });
    assert.deepEqual([most.paths.length, most.morePaths], [100, 30]);
    assert.equal(
      conflictReason({ ...most, waits: true }),
      "waits for another commit of a or b, which do not merge in 0.ts, 1.ts, 2.ts, 3.ts, 4.ts and 125 more",
    );
  });
});
