import assert from "node:assert/strict";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { hooksBeside } from "../../src/connect/hooks-beside.ts";
import { AGENTS } from "../../src/connect/registry.ts";
import { newFolder } from "../support/program.ts";

const group = (command: string) => [{ matcher: "*", hooks: [{ type: "command", command }] }];
const line = (bash: string) => [{ type: "command", bash }];

/** The sentences about a home and a project with these files; `~` is the home. */
async function sentences(name: string, files: Readonly<Record<string, unknown>>): Promise<string[]> {
  const [home, project] = [newFolder(), newFolder()];
  for (const [file, value] of Object.entries(files)) {
    const path = file.startsWith("~/") ? join(home, file.slice(2)) : join(project, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, typeof value === "string" ? value : JSON.stringify(value));
  }
  const agent = (await AGENTS[name]?.load()) ?? assert.fail(name);
  const told = hooksBeside(agent, { HOME: home, PATH: "" }, project);
  return told.map((sentence) => sentence.replaceAll(home, "~").replaceAll(`${project}/`, ""));
}

describe("hooks of others beside Parley's", () => {
  it("are told of the user's files and the project's, with their effect on a person's decision", async () => {
    const hooks = { hooks: { PermissionRequest: group("audit"), PreToolUse: group("lint"), Stop: group("bell") } };
    assert.deepEqual(await sentences("claude", { "~/.claude/settings.json": hooks }), [
      "Claude Code: the PermissionRequest hook of settings.json runs at the same time as Parley's, and the first answer counts: its allow overrides people's no (~/.claude/settings.json).",
      "Claude Code: the PreToolUse hook of settings.json comes before the prompt: after its allow no prompt appears, and people are not asked (~/.claude/settings.json).",
    ]);
    for (const [name, file, event] of [
      ["claude", ".claude/settings.json", "PreToolUse"],
      ["claude", ".claude/settings.local.json", "PermissionRequest"],
      ["codex", "~/.codex/hooks.json", "PermissionRequest"],
      ["codex", ".codex/hooks.json", "PermissionRequest"],
      ["gemini", "~/.gemini/settings.json", "BeforeTool"],
      ["gemini", ".gemini/settings.json", "BeforeTool"],
      ["cursor", ".cursor/hooks.json", "beforeShellExecution"],
    ] as const) {
      const [sentence, ...more] = await sentences(name, { [file]: { hooks: { [event]: group("audit") } } });
      assert.ok(sentence?.includes(file) && sentence.includes(event), `${file}: ${sentence}`);
      assert.deepEqual(more, []);
    }
  });

  it("may appear behind a link that leads to nothing, of a file or of a folder", async () => {
    for (const [name, file] of [
      ["claude", ".claude/settings.json"],
      ["claude", ".claude"],
      ["gemini", ".gemini/settings.json"],
      ["copilot", ".github/hooks"],
      ["copilot", ".github/hooks/a.json"],
    ] as const) {
      const [home, project] = [newFolder(), newFolder()];
      mkdirSync(dirname(join(project, file)), { recursive: true });
      symlinkSync("../nowhere/x.json", join(project, file));
      const agent = (await AGENTS[name]?.load()) ?? assert.fail(name);
      const told = hooksBeside(agent, { HOME: home, PATH: "" }, project);
      assert.deepEqual(
        [...new Set(told)],
        [
          `${join(project, file)} is a link that leads to nothing: hooks of ${agent.title} that appear behind it decide beside Parley's.`,
        ],
      );
      assert.equal(told.length, 1);
    }
  });

  it("of Copilot CLI speak in the reverse order of their names, a repository's last", async () => {
    const hooks = (command: string) => ({ version: 1, hooks: { permissionRequest: line(command) } });
    const told = await sentences("copilot", {
      "~/.copilot/hooks/audit.json": hooks("audit"),
      "~/.copilot/hooks/parley.json": hooks("parley hook copilot"),
      "~/.copilot/hooks/security.json": hooks("security"),
      ".github/hooks/z.json": hooks("z"),
    });
    assert.deepEqual(told, [
      "Copilot CLI: the permissionRequest hook of audit.json speaks after Parley's: its allow overrides people's no (~/.copilot/hooks/audit.json).",
      "Copilot CLI: the permissionRequest hook of security.json speaks before Parley's: people's yes overrides its deny (~/.copilot/hooks/security.json).",
      "Copilot CLI: the permissionRequest hook of z.json speaks after Parley's: its allow overrides people's no (.github/hooks/z.json).",
    ]);
  });

  it("are not Parley's own, and a file that cannot be read may hold some", async () => {
    const own = { hooks: { PermissionRequest: group("parley hook claude --url http://127.0.0.1:3415") } };
    assert.deepEqual(await sentences("claude", { "~/.claude/settings.json": own, ".claude/settings.json": {} }), []);
    for (const text of ["{", '{"hooks":{"PermissionRequest":[]},"hooks":{}}']) {
      const told = await sentences("claude", { ".claude/settings.json": text });
      assert.deepEqual(told, [
        ".claude/settings.json cannot be read: it may hold hooks of Claude Code that decide beside Parley's.",
      ]);
    }
  });
});
