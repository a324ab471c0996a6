import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { describe, it } from "node:test";
import { AGENTS } from "../../src/connect/registry.ts";
import { ROOT_FOLDER, textOf } from "../support/documents.ts";

describe("the page about hooks beside Parley's", () => {
  it("has a row for each event of each agent, as the registry says", async () => {
    execFileSync(process.execPath, ["scripts/agents-page.mjs", "--check"], { cwd: ROOT_FOLDER });
    const page = textOf("docs/reference/agents.md");
    for (const { load, title } of Object.values(AGENTS)) {
      const { beside, events } = await load();
      assert.deepEqual(beside.map(({ event }) => event).sort(), [...events].sort());
      for (const event of events) assert.ok(page.includes(`| ${title} \`${event}\``), `${title} ${event}`);
    }
  });
});
