import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync, existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { newFolder } from "../support/program.ts";
import { codexTurn, escalated } from "./codex-app-server.ts";
import { PROGRAMS, TASK } from "./hooked-site.ts";
import { isMissing, REAL_AGENTS } from "./real-agents.ts";
import { type Step, stepModel } from "./step-model.ts";

/** A hook that is no program of Parley's: it notes that it runs, waits for the end of another one, and answers. */
const HOOK = `#!/bin/sh
cat > "$HOME/log/$1.sent"
echo "start $1" >> "$HOME/log/all"
n=0
while [ -n "$2" ] && ! grep -qx "end $2" "$HOME/log/all" && [ $n -lt 60 ]; do sleep 0.1; n=$((n + 1)); done
cat "$HOME/log/$1"
echo "end $1" >> "$HOME/log/all"
[ ! -e "$HOME/log/$1.fails" ] || { echo "it failed" >&2; exit 2; }
`;

interface Hook {
  name: string;
  says: object;
  /** It answers after this one has. */
  after?: string;
  /** It fails with exit code 2. */
  fails?: boolean;
}

/** A home with hooks of these names, and their command lines. */
function openHome(
  hooks: readonly Hook[],
  files: (command: (name: string) => string) => Readonly<Record<string, object>>,
) {
  const folder = newFolder();
  const write = (file: string, text: string) => {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text, { mode: 0o755 });
  };
  write("hook", HOOK);
  write("log/all", "");
  for (const { name, says, fails } of hooks) {
    write(`log/${name}`, JSON.stringify(says));
    if (fails) write(`log/${name}.fails`, "");
  }
  const command = (name: string) => {
    const hook = hooks.find((one) => one.name === name) ?? assert.fail(name);
    return `${join(folder, "hook")} ${name} ${hook.after ?? ""}`.trim();
  };
  for (const [file, value] of Object.entries(files(command))) write(file, JSON.stringify(value));
  const path = [PROGRAMS, dirname(process.execPath), process.env["PATH"]].join(":");
  return {
    folder,
    env: { HOME: folder, PATH: path },
    /** The notes of the hooks, in their order. */
    log: () => readFileSync(join(folder, "log/all"), "utf8").trim().split("\n"),
    ran: (name: string) => existsSync(join(folder, name)),
  };
}
type HookHome = ReturnType<typeof openHome>;

/** Runs a program in a home to its end. */
function runs({ folder, env }: HookHome, program: string, args: readonly string[], more: object): Promise<unknown> {
  const child = spawn(join(PROGRAMS, program), args, { cwd: folder, stdio: "ignore", env: { ...env, ...more } });
  return new Promise((resolve) => child.once("exit", resolve));
}

/** The late hook is named first: one by one it would have ended before the early one began. */
function assertAtOnce(log: readonly string[]): void {
  const [early, late] = [log.indexOf("end early"), log.indexOf("end late")];
  assert.ok(early >= 0 && early < late, log.join());
}

const TOUCH = "touch shown.txt";

describe("several hooks of an unmodified Claude Code", { skip: isMissing(REAL_AGENTS.claude) }, () => {
  const settings = (event: string, names: readonly string[]) => (command: (name: string) => string) => ({
    ".claude/settings.json": {
      hooks: { [event]: names.map((name) => ({ matcher: "*", hooks: [{ type: "command", command: command(name) }] })) },
    },
  });
  async function run(event: string, hooks: readonly Hook[]): Promise<HookHome> {
    const home = openHome(
      hooks,
      settings(
        event,
        hooks.map(({ name }) => name),
      ),
    );
    const step: Step = { call: "Bash", input: { command: TOUCH, description: "Release it" } };
    await using model = await stepModel([step, { say: "That was that." }]);
    const env = { ...REAL_AGENTS.claude.surroundings(model.url).env, DISABLE_AUTOUPDATER: "1" };
    await runs(home, "claude", ["-p", TASK, "--model", "claude-sonnet-4-5"], {
      ...env,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    });
    return home;
  }
  const input = (command: string) => ({ updatedInput: { command, description: "Release it" } });
  const decides = (behavior: string, more = {}) => ({
    hookSpecificOutput: { hookEventName: "PermissionRequest", decision: { behavior, ...more } },
  });
  const uses = (permissionDecision: string, more = {}) => ({
    hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision, ...more },
  });

  for (const first of ["allow", "deny"]) {
    it(`runs those of PermissionRequest at once, and the first to answer decides: ${first}`, async () => {
      const second = first === "allow" ? "deny" : "allow";
      const home = await run("PermissionRequest", [
        { name: "late", says: decides(second), after: "early" },
        { name: "early", says: decides(first) },
      ]);
      assert.equal(home.ran("shown.txt"), first === "allow");
      assert.ok(home.log().includes("start late"), home.log().join());
    });

    it(`waits for those of PreToolUse, which run at once, and a deny counts: ${first} first`, async () => {
      const second = first === "allow" ? "deny" : "allow";
      const home = await run("PreToolUse", [
        { name: "late", says: uses(second), after: "early" },
        { name: "early", says: uses(first) },
      ]);
      assert.equal(home.ran("shown.txt"), false);
      assertAtOnce(home.log());
    });
  }

  it("runs nothing unasked where one of PreToolUse asks and another allows", async () => {
    const home = await run("PreToolUse", [
      { name: "late", says: uses("allow"), after: "early" },
      { name: "early", says: uses("ask") },
    ]);
    assert.equal(home.ran("shown.txt"), false);
  });

  it("runs the input of the PermissionRequest hook that answers first", async () => {
    const home = await run("PermissionRequest", [
      { name: "late", says: decides("allow", input("touch late.txt")), after: "early" },
      { name: "early", says: decides("allow", input("touch early.txt")) },
    ]);
    assert.deepEqual(["early.txt", "late.txt", "shown.txt"].map(home.ran), [true, false, false]);
  });

  it("runs the input of the PreToolUse hook that answers last", async () => {
    const home = await run("PreToolUse", [
      { name: "late", says: uses("allow", input("touch late.txt")), after: "early" },
      { name: "early", says: uses("allow", input("touch early.txt")) },
    ]);
    assert.deepEqual(["early.txt", "late.txt", "shown.txt"].map(home.ran), [false, true, false]);
  });

  it("asks nobody by PermissionRequest where a hook of PreToolUse allows", async () => {
    const hooks = [
      { name: "use", says: uses("allow") },
      { name: "ask", says: decides("deny") },
    ];
    const of = (command: string) => [{ matcher: "*", hooks: [{ type: "command", command }] }];
    const home = openHome(hooks, (command) => ({
      ".claude/settings.json": { hooks: { PreToolUse: of(command("use")), PermissionRequest: of(command("ask")) } },
    }));
    await using model = await stepModel([
      { call: "Bash", input: { command: TOUCH, description: "Release it" } },
      { say: "That was that." },
    ]);
    const { env } = REAL_AGENTS.claude.surroundings(model.url);
    await runs(home, "claude", ["-p", TASK, "--model", "claude-sonnet-4-5"], { ...env, DISABLE_AUTOUPDATER: "1" });
    assert.deepEqual([home.ran("shown.txt"), home.log()], [true, ["start use", "end use"]]);
  });
});

describe("several hooks of an unmodified Codex", { skip: isMissing(REAL_AGENTS.codex) }, () => {
  const decides = (behavior: string) => ({
    hookSpecificOutput: {
      hookEventName: "PermissionRequest",
      decision: behavior === "deny" ? { behavior, message: "no" } : { behavior },
    },
  });

  async function run(hooks: readonly Hook[]): Promise<HookHome> {
    const entries = (command: (name: string) => string) =>
      hooks.map(({ name }) => ({ hooks: [{ type: "command", command: command(name) }] }));
    const home = openHome(hooks, (command) => ({
      ".codex/hooks.json": { hooks: { PermissionRequest: entries(command) } },
    }));
    writeFileSync(join(home.folder, ".codex/config.toml"), "");
    await using model = await stepModel([escalated(TOUCH), { say: "That was that." }]);
    await codexTurn(home, model.url);
    return home;
  }

  for (const first of ["allow", "deny"]) {
    it(`are waited for, run at once, and a deny counts: ${first} first`, async () => {
      const second = first === "allow" ? "deny" : "allow";
      const home = await run([
        { name: "late", says: decides(second), after: "early" },
        { name: "early", says: decides(first) },
      ]);
      assert.equal(home.ran("shown.txt"), false);
      assertAtOnce(home.log());
    });
  }

  it("deny by exit code 2", async () => {
    const home = await run([{ name: "only", says: {}, fails: true }]);
    assert.deepEqual([home.ran("shown.txt"), home.log()], [false, ["start only", "end only"]]);
  });
});

const COPILOT = join(PROGRAMS, "copilot");

describe(
  "several hooks of an unmodified Copilot CLI",
  { skip: isMissing({ settings: { type: "command", command: [COPILOT] } }) },
  () => {
    const EVENT = "permissionRequest";
    /** Runs it with each of these hooks in a file of its own. */
    async function run(event: string, files: Readonly<Record<string, object>>, more = {}): Promise<HookHome> {
      const { isTrusted = true, fails = false }: { isTrusted?: boolean; fails?: boolean } = more;
      const hooks = Object.entries(files).map(([file, says]) => ({ name: file.replaceAll(/\W/g, "-"), says, fails }));
      const home = openHome(hooks, (command) =>
        Object.fromEntries(
          Object.keys(files).map((file) => {
            const entry = { type: "command", bash: command(file.replaceAll(/\W/g, "-")), timeoutSec: 30 };
            return [file, { version: 1, hooks: { [event]: [entry] } }];
          }),
        ),
      );
      const trusted = { trusted_folders: isTrusted ? [home.folder] : [] };
      mkdirSync(join(home.folder, ".copilot"), { recursive: true });
      writeFileSync(join(home.folder, ".copilot/config.json"), JSON.stringify(trusted));
      const step = { call: "bash", input: { command: TOUCH, description: "Release it" } };
      await using model = await stepModel([step, { say: "That was that." }]);
      await runs(home, "copilot", ["-p", TASK, "--allow-all-tools"], {
        COPILOT_OFFLINE: "true",
        COPILOT_AUTO_UPDATE: "false",
        COPILOT_MODEL: "fake-model",
        COPILOT_PROVIDER_BASE_URL: `${model.url}/v1`,
      });
      return home;
    }
    const allow = { behavior: "allow" };
    const deny = { behavior: "deny", message: "no" };
    const starts = (home: HookHome) => home.log().filter((line) => line.startsWith("start "));

    it("run one by one, from the last name to the first, and the last to speak decides", async () => {
      const allowed = await run(EVENT, { ".copilot/hooks/a.json": allow, ".copilot/hooks/b.json": deny });
      assert.deepEqual(allowed.log(), [
        "start -copilot-hooks-b-json",
        "end -copilot-hooks-b-json",
        "start -copilot-hooks-a-json",
        "end -copilot-hooks-a-json",
      ]);
      assert.equal(allowed.ran("shown.txt"), true);
      const denied = await run(EVENT, { ".copilot/hooks/a.json": deny, ".copilot/hooks/b.json": allow });
      assert.equal(denied.ran("shown.txt"), false);
    });

    it("leave the decision to another one by an empty answer", async () => {
      const home = await run(EVENT, { ".copilot/hooks/a.json": {}, ".copilot/hooks/b.json": deny });
      assert.equal(home.ran("shown.txt"), false);
    });

    it("deny by exit code 2", async () => {
      const home = await run(EVENT, { ".copilot/hooks/a.json": deny }, { fails: true });
      assert.equal(home.ran("shown.txt"), false);
    });

    it("of a trusted repository come after the user's", async () => {
      const home = await run(EVENT, { ".copilot/hooks/a.json": deny, ".github/hooks/z.json": allow });
      assert.deepEqual(starts(home), ["start -copilot-hooks-a-json", "start -github-hooks-z-json"]);
      assert.equal(home.ran("shown.txt"), true);
    });

    it("of a repository that is not trusted do not run", async () => {
      const home = await run(EVENT, { ".github/hooks/z.json": deny }, { isTrusted: false });
      assert.deepEqual([home.ran("shown.txt"), home.log()], [true, [""]]);
    });

    it("of preToolUse end at a deny, whatever their names are", async () => {
      for (const [a, b] of [
        ["deny", "allow"],
        ["allow", "deny"],
      ]) {
        const says = (permissionDecision?: string) => ({ permissionDecision, permissionDecisionReason: "no" });
        const home = await run("preToolUse", { ".copilot/hooks/a.json": says(a), ".copilot/hooks/b.json": says(b) });
        assert.equal(home.ran("shown.txt"), false);
        if (b === "deny") assert.deepEqual(starts(home), ["start -copilot-hooks-b-json"]);
      }
    });
  },
);
