import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { hookFilesOf } from "../../src/connect/agent.ts";
import { turnsOff as claudeTurnsOff } from "../../src/connect/agents/claude/switches.ts";
import { readLocalAgents } from "../../src/connect/local-agents.ts";
import { AGENTS } from "../../src/connect/registry.ts";
import { newFolder } from "../support/program.ts";

type Case = [file: string, text: string | ((hook: string) => string), hasHook: boolean | null];

/** Puts members into the object of the hook's own file. */
const beside = (members: string) => (hook: string) => hook.replace("{", `{ ${members},`);

/** Files below the home folder, and whether the agent still has its hook with them. */
const CASES: Readonly<Record<string, readonly Case[]>> = {
  claude: [
    [".claude/settings.json", beside('"disableAllHooks": false'), true],
    [".claude/settings.json", beside('"disableAllHooks": true'), false],
    [".claude/settings.json", beside('"allowManagedHooksOnly": true'), false],
    [".claude/settings.json", beside('"strictPluginOnlyCustomization": ["hooks"]'), false],
    [".claude/settings.json", beside('"strictPluginOnlyCustomization": ["agents"]'), true],
    [".claude/settings.json", beside('"env": { "CLAUDE_CODE_SIMPLE": "1" }'), false],
    [".claude/settings.json", beside('"allowedHttpHookUrls": []'), true],
    [".claude/settings.json", beside('"hooks": {}'), null],
  ],
  codex: [
    [".codex/config.toml", "[features]\nhooks = true\n", true],
    [".codex/config.toml", "[features]\nhooks = false # none\n", false],
    [".codex/config.toml", "features.hooks = false\n", false],
    [".codex/config.toml", "features = { web = true, hooks = false }\n", false],
    [".codex/config.toml", "[features]\ncodex_hooks = false\n", false],
    [".codex/config.toml", "[features]\ncodex_hooks = false\nhooks = true\n", true],
    [".codex/config.toml", "big = 9223372036854775807\nsince = 2026-11-29\nfeatures = {\n  hooks = false }\n", false],
    [".codex/config.toml", 'hooks.state."FILE:permission_request:0:0" = { enabled = false }\n', false],
    [".codex/config.toml", 'hooks.state."other:permission_request:0:0" = { enabled = false }\n', true],
    [".codex/config.toml", "[features\n", null],
    [".codex/config.toml", 'notes = """\n[features]\nhooks = false\n"""\n', true],
  ],
  gemini: [
    [".gemini/settings.json", beside('"hooksConfig": { "enabled": true, "disabled": ["other"] }'), true],
    [".gemini/settings.json", beside('"hooksConfig": { "enabled": false }'), false],
    [".gemini/settings.json", beside('"hooksConfig": { "disabled": ["other", "parley"] }'), false],
    ["system.json", '// of the administrator\n{ "hooksConfig": { "disabled": ["parley"] } }', false],
    ["system.json", "{ no", null],
  ],
  copilot: [
    [".copilot/settings.json", '// mine\n{ "disableAllHooks": true }', false],
    [".copilot/config.json", '{ "disableAllHooks": true }', false],
    [".copilot/hooks/parley.json", beside('"disableAllHooks": true'), false],
    [".copilot/settings.json", '{ "disableAllHooks": false }', true],
  ],
};

describe("an agent whose own switches turn its hooks off", () => {
  for (const [name, cases] of Object.entries(CASES)) {
    it(`never counts as connected: ${name}`, async () => {
      const agent = (await AGENTS[name]?.load()) ?? assert.fail();
      for (const [file, text, hasHook] of cases) {
        const home = newFolder();
        const env = { HOME: home, PATH: "", GEMINI_CLI_SYSTEM_SETTINGS_PATH: join(home, "system.json") };
        const write = (path: string, content: string) => {
          mkdirSync(dirname(path), { recursive: true });
          writeFileSync(path, content);
        };
        const [hookFile] = hookFilesOf(agent, env);
        const { path = "" } = hookFile ?? {};
        const hook = agent.withHook("", { command: `parley hook ${name}`, timeoutSeconds: 60 });
        write(path, hook);
        write(join(home, file), typeof text === "string" ? text.replace("FILE", path) : text(hook));
        const state = (await readLocalAgents(env)).find((one) => one.name === name);
        assert.equal(state?.hasHook, hasHook, `${file}: ${typeof text === "string" ? text : text("{")}`);
      }
    });
  }

  it("by a variable of its environment has none either", async () => {
    const home = newFolder();
    const agent = (await AGENTS["opencode"]?.load()) ?? assert.fail();
    const path = agent.file({ HOME: home });
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, agent.withHook("", { command: "parley hook opencode", timeoutSeconds: 60 }));
    for (const [value, hasHook] of [
      ["1", false],
      ["0", true],
    ] as const) {
      const states = await readLocalAgents({ HOME: home, PATH: "", OPENCODE_PURE: value });
      assert.equal(states.find(({ name }) => name === "opencode")?.hasHook, hasHook, value);
    }
  });

  it("by a list of addresses has the hook only where the list has its address", () => {
    const url = "http://127.0.0.1:3415/hooks/claude?to=3";
    const hook = JSON.stringify({ hooks: { PermissionRequest: [{ hooks: [{ type: "http", url }] }] } });
    const off = (urls: string[]) => claudeTurnsOff(JSON.stringify({ allowedHttpHookUrls: urls }), hook);
    assert.deepEqual([off([]), off(["https://*"])], ["allowedHttpHookUrls", "allowedHttpHookUrls"]);
    assert.deepEqual([off(["http://127.0.0.1:3415/*"]), off(["*"])], [null, null]);
  });
});
