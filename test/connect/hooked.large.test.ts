import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { runHooked } from "../proof/hooked.ts";

describe("hooks of Claude Code while their server is killed and connections are cut", () => {
  it("allow no call without a stored approval of exactly its input", async () => {
    const report = await runHooked({ count: 300, seed: 7, commandEvery: 40, killEvery: 100 });
    assert.deepEqual(report.unfounded, []);
    assert.equal(report.prompts, 300);
    assert.ok(report.allowed > 0 && report.denied > 0 && report.kills > 0, JSON.stringify(report));
  });
});
