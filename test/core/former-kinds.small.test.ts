import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { readKinds } from "../../src/core/store/read-kinds.ts";
import { readSupervisorLine } from "../../src/workshop/supervisor/lines.ts";

describe("a value that 0.2.0 wrote, whose kind was named is", () => {
  it("is read from a store, at every depth, and no text in it changes", () => {
    const nodes = [{ afterMs: 0, node: { is: "leaf", target: { via: "email", to: '"is":"leaf"' } } }];
    assert.deepEqual(readKinds(JSON.stringify({ is: "any", of: nodes })), {
      kind: "any",
      of: [{ afterMs: 0, node: { kind: "leaf", target: { via: "email", to: '"is":"leaf"' } } }],
    });
    assert.deepEqual(readKinds('{"kind":"leaf"}'), { kind: "leaf" });
  });

  it("is read from a supervisor that runs through the upgrade, and its tools keep their arguments", () => {
    const line = { seq: 1, at: 0, type: "ended", end: { is: "died", error: "gone", canResume: true } };
    assert.deepEqual(readSupervisorLine(JSON.stringify(line)), {
      ...line,
      end: { kind: "died", error: "gone", canResume: true },
    });
    const tool = { seq: 2, at: 0, type: "tool", name: "look", input: { is: "x" } };
    assert.deepEqual(readSupervisorLine(JSON.stringify(tool)), tool);
  });
});
