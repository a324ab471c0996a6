import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { UseReport } from "../../src/tasks/model/attempt-asks.ts";
import { AllowedUses } from "../../src/workshop/allowed-uses.ts";
import type { SupervisorFact, SupervisorLine } from "../../src/workshop/supervisor/lines.ts";

const WISH = { tool: "Bash", input: {}, action: "execute", resource: "npm test" } as const;
const ENDED = { use: "toolu_1", digest: "sha256:aa", words: "exit 1" };
const asked: SupervisorFact = { type: "permission", ref: "r1", wish: WISH, use: "toolu_1" };
const other: SupervisorFact = { type: "permission", ref: "r2", wish: WISH, use: "toolu_1" };
const allowed = (ref: string, allow = true): SupervisorFact => ({ type: "decided", ref, allow });
const ended: SupervisorFact = { type: "tool", name: "Bash", result: "secret output", isError: true, ended: ENDED };
const again: SupervisorFact = { type: "started", pid: 1, starttime: null, argv: [] };

async function reportsOf(facts: SupervisorFact[], remembered = 0): Promise<[string, UseReport][]> {
  const reports: [string, UseReport][] = [];
  const uses = new AllowedUses({ used: async (ref, report) => void reports.push([ref, report]) });
  const lines = facts.map((fact, i): SupervisorLine => ({ seq: i + 1, at: 1, ...fact }));
  for (const line of lines.slice(0, remembered)) uses.remember(line);
  for (const line of lines.slice(remembered)) await uses.accept(line);
  return reports;
}

describe("the uses of tools that were allowed", () => {
  const report = { state: "failed", resultDigest: "sha256:aa", words: "exit 1" } as const;

  it("are reported as they end, without their output, also where they were allowed before", async () => {
    assert.deepEqual(await reportsOf([asked, allowed("r1"), ended]), [["r1", report]]);
    assert.deepEqual(await reportsOf([asked, allowed("r1"), ended], 2), [["r1", report]]);
  });

  it("are reported for every part of them that was asked for", async () => {
    const facts = [asked, allowed("r1"), other, allowed("r2"), ended];
    assert.deepEqual(await reportsOf(facts), [
      ["r1", report],
      ["r2", report],
    ]);
  });

  it("were not run where the agent says that a part of them was denied", async () => {
    const declined: SupervisorFact = { ...ended, ended: { ...ENDED, isDeclined: true } };
    const facts = [asked, allowed("r1"), other, allowed("r2", false), declined];
    assert.deepEqual(await reportsOf(facts), [["r1", { state: "not_run" }]]);
  });

  it("are not reported where they were denied, twice, or by another run of the agent", async () => {
    assert.deepEqual(await reportsOf([asked, allowed("r1", false), ended]), []);
    assert.deepEqual(await reportsOf([asked, allowed("r1"), ended, ended], 3), []);
    assert.deepEqual(await reportsOf([asked, allowed("r1"), again, ended]), []);
  });
});
