import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { newFolder, parley } from "../support/program.ts";

const read = (file: string) => JSON.parse(readFileSync(file, "utf8")) as Record<string, unknown>;

describe("parley hook install claude, where Claude Code can send its prompts by HTTP", () => {
  const URL_HERE = "http://127.0.0.1:3499";
  const ADDRESS = `${URL_HERE}/hooks/claude`;

  /** A home in which the shell finds a Claude Code of this version. */
  function claudeOf(version: string, settings?: string) {
    const folder = newFolder();
    const file = join(folder, ".claude", "settings.json");
    mkdirSync(join(folder, ".claude"), { recursive: true });
    mkdirSync(join(folder, "bin"));
    writeFileSync(join(folder, "bin/claude"), `#!/bin/sh\necho "${version} (Claude Code)"\n`, { mode: 0o755 });
    if (settings !== undefined) writeFileSync(file, settings);
    const env = { HOME: folder, PATH: `${join(folder, "bin")}:${process.env["PATH"]}`, PARLEY_URL: URL_HERE };
    return {
      file,
      run: (args: string[] = [], more: Record<string, string> = {}) =>
        parley(["hook", "install", "claude", ...args], { ...env, ...more }),
      undo: () => parley(["hook", "uninstall", "claude"], env),
    };
  }

  type Hook = Record<string, unknown>;
  const hooksIn = (file: string) => {
    const { hooks } = read(file) as { hooks: Record<string, { hooks: Hook[] }[]> };
    return Object.fromEntries(Object.entries(hooks).map(([event, groups]) => [event, groups.at(-1)?.hooks[0]]));
  };

  it("writes the address, tells of uses that are over, and takes all of it out again", async () => {
    const settings = `{ "hooks": { "PostToolUse": [ { "hooks": [ {"type": "http", "url": "http://box/mine"} ] } ] } }\n`;
    const { file, run, undo } = claudeOf("2.1.63", settings);
    const { code, err } = await run(["--to", "3", "--timeout", "30m"]);
    assert.equal(code, 0, err);
    const url = `${ADDRESS}?to=3&timeout=30m&reports=end`;
    const told = { type: "http", url, timeout: 5 };
    const asks = { type: "http", url, timeout: 1920 };
    assert.deepEqual(hooksIn(file), { PermissionRequest: asks, PostToolUse: told, PostToolUseFailure: told });
    assert.match((await run(["--to", "3", "--timeout", "30m"])).err, /holds it already/);
    // The program in place of the address, and the other way round.
    await run(["--type", "command"]);
    assert.equal(hooksIn(file)["PermissionRequest"]?.["type"], "command");
    await run();
    await undo();
    assert.equal(readFileSync(file, "utf8"), settings);
  });

  it("names the variable of the key, and never the key", async () => {
    const { file, run } = claudeOf("2.1.332");
    await run([], { PARLEY_KEY: "parley_agent_secret" });
    const hook = hooksIn(file)["PermissionRequest"];
    assert.deepEqual(hook?.["headers"], { Authorization: "Bearer $PARLEY_KEY" });
    assert.deepEqual(hook?.["allowedEnvVars"], ["PARLEY_KEY"]);
    assert.doesNotMatch(readFileSync(file, "utf8"), /secret/);
  });

  it("asks before every use by a command, because a request that fails keeps no tool from running", async () => {
    const { file, run } = claudeOf("2.1.332");
    await run(["--always", "Bash"]);
    const hooks = hooksIn(file);
    assert.deepEqual([hooks["PermissionRequest"]?.["type"], hooks["PreToolUse"]?.["type"]], ["http", "command"]);
  });

  it("writes the command where HTTP would lose something", async () => {
    const cases: [string, string[], Record<string, string>][] = [
      ["2.1.62", [], {}],
      ["2.1.332", ["--by", "3"], {}],
      ["2.1.332", ["--type", "command"], {}],
      ["2.1.332", [], { PARLEY_URL: "https://parley.example" }],
      ["2.1.332", [], { HTTP_PROXY: "http://proxy:8080" }],
      ["2.1.332", ["--url", "http://localhost:3415"], { PARLEY_KEY: "parley_agent_secret" }],
    ];
    for (const [version, args, env] of cases) {
      const { file, run } = claudeOf(version);
      await run(args, env);
      assert.equal(hooksIn(file)["PermissionRequest"]?.["type"], "command", JSON.stringify([version, args, env]));
      assert.equal(hooksIn(file)["PostToolUse"]?.["type"], "command");
    }
  });

  it("sends prompts to another computer where it is told to, with a key, and no results of tools", async () => {
    const { file, run } = claudeOf("2.1.332");
    await run(["--type", "http"], { PARLEY_URL: "https://parley.example" });
    const hooks = hooksIn(file);
    assert.equal(hooks["PermissionRequest"]?.["url"], "https://parley.example/hooks/claude?reports=end");
    for (const event of ["PostToolUse", "PostToolUseFailure"]) assert.equal(hooks[event]?.["type"], "command");
    assert.deepEqual(hooks["PermissionRequest"]?.["allowedEnvVars"], ["PARLEY_KEY"]);
    for (const args of [
      ["--type", "http", "--by", "3"],
      ["--type", "smoke"],
    ])
      assert.equal((await run(args)).code, 2);
    assert.equal((await parley(["hook", "install", "codex", "--type", "http"], { HOME: newFolder() })).code, 2);
  });
});
