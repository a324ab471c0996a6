import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { AGENTS } from "../../src/connect/registry.ts";
import { evaluate, policyInput } from "../../src/policy/model/policy.ts";
import { loadPolicy } from "../../src/policy/model/text.ts";

const SHOP = "/home/kim/shop";

type Members = Record<string, unknown>;
/** A tool, and its arguments for a command, or for a file or folder. */
type Shape = readonly [tool: string, input: (about: string) => Members];
interface Shapes {
  /** Returns the event that the agent sends about a tool and its arguments. */
  event(tool: string, input: Members): Members;
  shell: Shape;
  edit?: Shape;
  write?: Shape;
  read?: Shape;
  search?: Shape;
}

const usual = (hook_event_name: string) => (tool_name: string, tool_input: Members) => ({
  hook_event_name,
  session_id: "s1",
  cwd: SHOP,
  tool_name,
  tool_input,
});
const opencodeEvent = usual("permission.asked");
/** The members of an edit that opencode shows beside its arguments: the whole path, and what changes. */
const editBeside = (filePath: unknown) => ({
  filepath: String(filePath).startsWith("/") ? filePath : `${SHOP}/${String(filePath)}`,
  diff: "--- /etc/a\n+++ /etc/a\n",
});

const SHAPES: Readonly<Record<string, Shapes>> = {
  claude: {
    event: usual("PermissionRequest"),
    shell: ["Bash", (command) => ({ command, description: "Look", timeout: 5000, run_in_background: false })],
    edit: ["Edit", (file_path) => ({ file_path, old_string: "/a", new_string: "../b", replace_all: false })],
    write: ["Write", (file_path) => ({ file_path, content: "../b" })],
    read: ["Read", (file_path) => ({ file_path, offset: 1, limit: 20 })],
    search: ["Grep", (path) => ({ pattern: "total", path, glob: "*.ts", output_mode: "content", "-n": true })],
  },
  // It reads and searches by its shell, and a patch names its files in a text that no rule reads.
  codex: {
    event: usual("PermissionRequest"),
    shell: ["Bash", (command) => ({ command, description: "Look" })],
  },
  gemini: {
    event: usual("BeforeTool"),
    shell: ["run_shell_command", (command) => ({ command, description: "Look", dir_path: "." })],
    edit: ["replace", (file_path) => ({ file_path, instruction: "x", old_string: "/a", new_string: "../b" })],
    write: ["write_file", (file_path) => ({ file_path, content: "../b" })],
    read: ["read_file", (file_path) => ({ file_path, start_line: 1, end_line: 20 })],
    search: ["search_file_content", (dir_path) => ({ pattern: "total", dir_path, include: "*.ts" })],
  },
  copilot: {
    event: (toolName, input) => ({ sessionId: "s1", cwd: SHOP, toolName, toolArgs: JSON.stringify(input) }),
    shell: ["bash", (command) => ({ command, description: "Look" })],
    edit: ["edit", (path) => ({ path, old_str: "/a", new_str: "../b" })],
    write: ["create", (path) => ({ path, file_text: "../b" })],
    read: ["view", (path) => ({ path, view_range: [1, 20] })],
    search: ["grep", (path) => ({ pattern: "total", path, glob: "*.ts", output_mode: "content" })],
  },
  // Its hooks see a command before it runs, and no file.
  cursor: {
    event: (_tool, input) => ({ hook_event_name: "beforeShellExecution", conversation_id: "s1", cwd: SHOP, ...input }),
    shell: ["Shell", (command) => ({ command })],
  },
  opencode: {
    event: (tool, { beside, ...input }) =>
      opencodeEvent(tool, { ...(beside as Members), patterns: [input["command"] ?? "src/a.ts"], input }),
    shell: ["bash", (command) => ({ command, description: "Look", beside: { command, description: "Look" } })],
    edit: ["edit", (filePath) => ({ filePath, oldString: "/a", newString: "../b", beside: editBeside(filePath) })],
    write: ["edit", (filePath) => ({ filePath, content: "../b", beside: editBeside(filePath) })],
    read: ["read", (filePath) => ({ filePath, offset: 1, limit: 20 })],
    search: ["grep", (path) => ({ pattern: "total", path, beside: { pattern: "total", path } })],
  },
  // It names no folder, and asks people about nothing that only looks.
  openclaw: {
    event: (tool_name, tool_input) => ({
      hook_event_name: "before_tool_call",
      session_id: "s1",
      tool_name,
      tool_input,
    }),
    shell: ["exec", (command) => ({ command, timeout: 60 })],
    edit: ["edit", (path) => ({ path, edits: [{ oldText: "/a", newText: "../b" }] })],
    write: ["write", (path) => ({ path, content: "../b" })],
  },
};

/** The policy that allows this agent's tool with one condition, as an admin writes it. */
const policyOf = (fn: string, condition: string) =>
  loadPolicy(`version: 1\nrules:\n  - { id: one, when: { fn: "${fn}", ${condition} }, decision: ALLOW }\n`);

/** Returns whether the rule allows what people would be asked about this event. */
async function isAllowed(name: string, event: Members, condition: string): Promise<boolean> {
  const agent = (await AGENTS[name]?.load()) ?? assert.fail(name);
  const prompt = agent.read(Buffer.from(JSON.stringify(event))) ?? assert.fail(JSON.stringify(event));
  const input = policyInput({ fn: prompt.tool, agent: agent.agentId, args: () => JSON.stringify(prompt.shown) });
  return evaluate(await policyOf(prompt.tool, condition), [], input).decision === "ALLOW";
}

describe("a plain rule about the prompts of an agent", () => {
  it("is tried with every agent", () =>
    assert.deepEqual(Object.keys(SHAPES).toSorted(), Object.keys(AGENTS).toSorted()));

  for (const [name, { event, shell, ...files }] of Object.entries(SHAPES)) {
    it(`reads the commands of ${name}, and nothing that does more`, async () => {
      const [tool, input] = shell;
      const holds = (more: Members, command = "git status --short") =>
        isAllowed(name, event(tool, { ...input(command), ...more }), "command: git status *");
      assert.equal(await holds({}), true);
      for (const command of ["git status; rm -rf src", "git status > src/a.ts", "git status $(id)", "git push"])
        assert.equal(await holds({}, command), false, command);
      // Cursor's hook shows people the command alone.
      if (name === "cursor") return;
      for (const more of [{ elevated: true }, { env: { PATH: "/tmp" } }, { workdir: "/tmp" }])
        assert.equal(await holds(more), false, JSON.stringify(more));
    });

    for (const [kind, [tool, input]] of Object.entries(files)) {
      it(`reads the path of ${name}'s ${kind}, and takes none for it that leads out`, async () => {
        const holds = (path: string, more: Members = {}) =>
          isAllowed(name, event(tool, { ...input(path), ...more }), "path: src/**");
        assert.equal(await holds("src/a.ts"), true);
        assert.equal(await holds(`${SHOP}/src/a.ts`), name !== "openclaw");
        for (const path of ["../other/src/a.ts", "/etc/hosts", "docs/a.md", "src/../../a.ts"])
          assert.equal(await holds(path), false, path);
        for (const more of [{ destination: "/etc/hosts" }, { output_file: "a" }, { files: [{ path: "/etc/hosts" }] }])
          assert.equal(await holds("src/a.ts", more), false, JSON.stringify(more));
      });
    }
  }
});

describe("the members that opencode shows beside the input", () => {
  const allowed = (tool: string, tool_input: Members, condition: string) =>
    isAllowed("opencode", opencodeEvent(tool, tool_input), condition);
  const bash = (beside: Members) =>
    allowed(
      "bash",
      { patterns: ["x"], input: { command: "git status", timeout: 5 }, ...beside },
      "command: git status",
    );

  it("change nothing where they repeat it, and leave any other to people", async () => {
    for (const beside of [{}, { command: "git status" }, { command: "git status", timeout: 5 }])
      assert.equal(await bash(beside), true, JSON.stringify(beside));
    for (const beside of [
      { command: "git push" },
      { timeout: 6 },
      { timeout: "5" },
      { title: "git status" },
      { command: ["git status"] },
      { diff: "x" },
      { filepath: "src/a.ts" },
    ])
      assert.equal(await bash(beside), false, JSON.stringify(beside));
  });

  it("of an edit hold its file, which a rule must cover too", async () => {
    const edit = (beside: Members, input: Members = { filePath: "src/a.ts" }) =>
      allowed("edit", { patterns: ["src/a.ts"], input, ...beside }, "path: src/**");
    assert.equal(await edit({ filepath: `${SHOP}/src/a.ts`, diff: "x" }), true);
    for (const beside of [
      { filepath: "/etc/hosts" },
      { filepath: ["src/a.ts"] },
      { diff: { path: "x" } },
      { files: [] },
      { filepath: "src/a.ts", target: "x" },
    ])
      assert.equal(await edit(beside), false, JSON.stringify(beside));
    assert.equal(await edit({ filepath: "src/a.ts, b.ts", diff: "x" }, { patchText: "x" }), false);
  });
});
