import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { openclaw } from "../../src/connect/agents/openclaw/openclaw.ts";
import { withoutPlugin, withPlugin } from "../../src/connect/agents/openclaw/settings.ts";
import { hookFilesOf, type WantedHook } from "../../src/connect/agent.ts";
import { describeWire } from "../support/prompt-wire.ts";

const tool_input = { command: "rm -rf dist" };
const sent = { hook_event_name: "before_tool_call", session_id: "s1", tool_name: "exec", tool_input };
const hook: WantedHook = { command: "parley hook openclaw", timeoutSeconds: 60 };

describeWire({
  agent: openclaw,
  prompts: [{ sent, tool: "exec", shown: tool_input }],
  decisions: [
    [{ kind: "allow", because: "Approved by Ana" }, '{"decision":"allow","reason":"Approved by Ana"}'],
    [{ kind: "deny", because: "Rejected by Ana" }, '{"decision":"deny","reason":"Rejected by Ana"}'],
    [{ kind: "undecided", because: "Nobody." }, '{"decision":"ask","reason":"Nobody."}'],
  ],
  otherEvents: [{ ...sent, hook_event_name: "after_tool_call" }, { hook_event_name: "agent_end" }],
  unreadable: [
    { ...sent, tool_name: "" },
    { ...sent, tool_input: [] },
  ],
});

describe("the manifest of OpenClaw's plugin", () => {
  it("has a gateway load it when it starts, under the name that the code has", () => {
    const [, manifest] = hookFilesOf(openclaw, { HOME: "/h" });
    const { id, activation } = JSON.parse(manifest?.withHook("", hook) ?? "") as Record<string, unknown>;
    assert.deepEqual([id, activation], ["parley", { onStartup: true }]);
    assert.match(openclaw.withHook("", hook), /const ID = "parley";/);
    assert.throws(() => manifest?.withHook('{"id":"other"}', hook), /not Parley's/);
    assert.equal(manifest?.withHook('{"id":"other"}', null), '{"id":"other"}');
  });
});

describe("the configuration of OpenClaw", () => {
  const CONFIGURATION = `{
  // Which plugins may be loaded.
  "plugins": {
    "allow": ["voice"], /* none but these */
    "load": { "paths": ["/a.mjs",] },
    "entries": { "voice": { "enabled": true } },
  },
}
`;
  const parse = (text: string) => JSON.parse(text) as { plugins: Record<string, unknown> };

  it("loads the plugin where only some may be loaded, and is as it was without it, comments included", () => {
    const after = withPlugin(CONFIGURATION, "/p.mjs");
    assert.match(after, /"allow": \["voice", "parley"\], \/\* none but these \*\//);
    assert.match(after, /"paths": \["\/a\.mjs", "\/p\.mjs",\]/);
    assert.match(after, /"parley":\{"enabled":true\}/);
    assert.equal(withPlugin(after, "/p.mjs"), after);
    assert.equal(withoutPlugin(after, "/p.mjs"), CONFIGURATION);
  });

  it("turns a plugin on that was turned off, and keeps its settings", () => {
    const after = withPlugin('{"plugins":{"entries":{"parley":{"enabled":false,"hooks":{}}}}}', "/p.mjs");
    assert.deepEqual(parse(after).plugins["entries"], { parley: { enabled: true, hooks: {} } });
  });

  it("is left as it is where it keeps the plugin from being loaded, and never allows all plugins", () => {
    for (const plugins of ['{"enabled":false}', '{"deny":["parley"]}', '{"load":{"paths":"/a"}}', '{"allow":{}}'])
      assert.throws(() => withPlugin(`{"plugins":${plugins}}`, "/p.mjs"), { name: "Error" }, plugins);
    assert.deepEqual(parse(withoutPlugin('{"plugins":{"allow":["parley"]}}', "/p.mjs")).plugins["allow"], ["parley"]);
  });

  it("is where OpenClaw's own variables say", () => {
    const paths = (env: Record<string, string>) => hookFilesOf(openclaw, env).map(({ path }) => path);
    const below = (folder: string) =>
      ["parley/index.js", "parley/openclaw.plugin.json", "openclaw.json"].map((name) => `${folder}/${name}`);
    assert.deepEqual(paths({ HOME: "/h" }), below("/h/.openclaw"));
    assert.deepEqual(paths({ HOME: "/h", OPENCLAW_HOME: "/o" }), below("/o/.openclaw"));
    const own = { HOME: "/h", OPENCLAW_STATE_DIR: "/s", OPENCLAW_CONFIG_PATH: "/c.json" };
    assert.deepEqual(paths(own), [...below("/s").slice(0, 2), "/c.json"]);
  });

  it("takes no tools that are no regular expression: the plugin would not be loaded", () => {
    assert.throws(() => openclaw.withHook("", { ...hook, always: "(" }), SyntaxError);
  });
});
