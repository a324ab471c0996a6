import assert from "node:assert/strict";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { describe, it } from "node:test";
import { hookFilesOf } from "../../src/connect/agent.ts";
import { openclaw } from "../../src/connect/agents/openclaw/openclaw.ts";
import { readLocalAgents } from "../../src/connect/local-agents.ts";
import { newFolder } from "../support/program.ts";

describe("an agent whose hook is in several files", () => {
  it("has the hook only where each of them does its part, and none turns it off", async () => {
    const env = { HOME: newFolder(), PATH: "" };
    const files = hookFilesOf(openclaw, env).map((file) => {
      mkdirSync(dirname(file.path), { recursive: true });
      const text = file.withHook("", { command: "parley hook openclaw", timeoutSeconds: 60 });
      return { path: file.path, text };
    });
    const hasHook = async () => (await readLocalAgents(env)).find(({ name }) => name === "openclaw")?.hasHook;
    const writeAll = () => files.forEach(({ path, text }) => writeFileSync(path, text));
    writeAll();
    assert.equal(await hasHook(), true);
    for (const { path } of files) {
      rmSync(path);
      assert.equal(await hasHook(), false, path);
      writeAll();
    }
    const { path, text } = files.at(-1) ?? assert.fail();
    const { plugins } = JSON.parse(text) as { plugins: object };
    const off = [
      { enabled: false },
      { deny: ["parley"] },
      { allow: ["voice"] },
      { entries: { parley: { enabled: false } } },
    ];
    for (const how of off) {
      writeFileSync(path, JSON.stringify({ plugins: { ...plugins, ...how } }));
      assert.equal(await hasHook(), false, JSON.stringify(how));
    }
    writeFileSync(path, "{");
    assert.equal(await hasHook(), null);
  });
});
