import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { hookReplyCode } from "../../src/connect/plugin-hook.ts";
import { HOOK_PROGRAM, MAIN, newFolder, parley } from "../support/program.ts";

const NODE = process.execPath;
const EARLIER = fileURLToPath(new URL("../../bin/parley.mjs", import.meta.url));
const PACKAGED = fileURLToPath(new URL("../../scripts/parley.cjs", import.meta.url));
const FLAGS = "hook claude --url http://127.0.0.1:1";

/** A home in which Claude Code has a hook with this command. */
function homeWith(command: string) {
  const HOME = newFolder();
  const file = join(HOME, ".claude", "settings.json");
  mkdirSync(dirname(file), { recursive: true });
  const hooks = { PermissionRequest: [{ matcher: "*", hooks: [{ type: "command", command, timeout: 3720 }] }] };
  writeFileSync(file, JSON.stringify({ hooks }));
  const run = (...args: string[]) => parley(["connect", ...args], { HOME });
  return { file, run };
}

/** Returns the path of a new file with this text. */
function fileOf(text: string, ...names: string[]): string {
  const file = join(newFolder(), ...names);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text, { mode: 0o755 });
  return file;
}

const WHOLE = readFileSync(HOOK_PROGRAM, "utf8");
const endOf = (words: string) => WHOLE.slice(0, WHOLE.indexOf(words));
/** A program of hooks that is less than whole, also where Node takes its text. */
const CUTS: readonly (readonly [string, string])[] = [
  ["the file is empty", ""],
  ["the file is cut within a statement", WHOLE.slice(0, WHOLE.length / 2)],
  ["the file is cut behind its first line", endOf("\n")],
  ["the file is cut between two statements", endOf("exports.decideHook = ")],
  ["the file has lost its last line", endOf("if (require.main === module)")],
  ["the file holds another program", "module.exports = {};\n"],
];

describe("an installed hook that cannot start", () => {
  const gone = join(newFolder(), "gone");
  const notRunnable = fileOf("", "node");
  chmodSync(notRunnable, 0o644);
  const moved = join(newFolder(), "moved", "parley.cjs");
  mkdirSync(dirname(moved), { recursive: true });
  cpSync(HOOK_PROGRAM, moved);
  rmSync(dirname(moved), { recursive: true });
  const rows: readonly (readonly [string, string, RegExp])[] = [
    ["Node was removed", `${gone}/bin/node ${HOOK_PROGRAM}`, /starts \S+gone\/bin\/node, which is not there/],
    ["Node may not be run", `${notRunnable} ${HOOK_PROGRAM}`, /which may not be run/],
    [
      "Node is too old",
      `${fileOf("#!/bin/sh\necho v22.1.0\n", "node")} ${HOOK_PROGRAM}`,
      /is Node v22\.1\.0, and it needs/,
    ],
    ["Node is no program", `${fileOf("#!/gone/sh\n", "node")} ${HOOK_PROGRAM}`, /which does not run/],
    ["Parley was moved", `${NODE} ${moved}`, /names \S+moved\/parley\.cjs, which is not there/],
    ["npm's cache was emptied", `${NODE} ${gone}/_npx/0c3d/node_modules/.bin/parley`, /_npx\S+, which is not there/],
    ...CUTS.map(
      ([how, text]) =>
        [how, `${NODE} ${fileOf(text, "hook", "parley.cjs")}`, /names \S+parley\.cjs, which is empty or cut/] as const,
    ),
    ["the command is empty", fileOf("", "bin", "parley.mjs"), /names \S+parley\.mjs, which is empty or cut/],
    ["the executable was removed", `${gone}/parley`, /starts \S+gone\/parley, which is not there/],
    ["the command is on no PATH", `parley-linux-x64`, /starts parley-linux-x64, which is not there/],
  ];
  for (const [when, start, says] of rows) {
    it(`is said by connect status before a prompt finds out, where ${when}`, async () => {
      const { run } = homeWith(`${start} ${FLAGS}`);
      const { out, err } = await run("status");
      assert.match(out, /^0 of 1 agents .*\n.*\nClaude Code +\S+ +broken /, out);
      assert.match(
        err,
        new RegExp(`^Claude Code: its hook .*${says.source}.*To renew it: parley connect claude$`, "m"),
      );
      const [row] = JSON.parse((await run("status", "--json")).out) as { hook: string; problems: string[] }[];
      assert.equal(row?.hook, "broken");
      assert.match(row.problems.join(), says);
    });
  }

  it("is renewed by connect, after which nothing is said of it", async () => {
    const { file, run } = homeWith(`${gone}/node ${HOOK_PROGRAM} ${FLAGS}`);
    assert.equal((await run("claude", "--no-test")).code, 0);
    assert.ok(readFileSync(file, "utf8").includes(`${NODE} ${HOOK_PROGRAM} hook claude`));
    const { out, err } = await run("status");
    assert.match(out, /^1 of 1 agents/);
    assert.doesNotMatch(err, /its hook/);
  });
});

describe("an installed hook that would deny every prompt", () => {
  for (const [flags, says] of [
    ["--bogus", /a flag or a word that it does not know/],
    ["word", /a flag or a word that it does not know/],
    ["--timeout 1ms", /--timeout must be from 10s to 30d/],
    ["--by nobody", /--by takes numbers of people/],
    ["--url http://ana:secret@127.0.0.1:1", /its --url holds a name or a password/],
    ["--url=http://127.0.0.1:99999", /its --url has a port above 65535/],
  ] as const) {
    it(`is said by connect status to have such flags: ${flags}`, async () => {
      for (const program of [HOOK_PROGRAM, EARLIER]) {
        const { run } = homeWith(`${NODE} ${program} ${FLAGS} ${flags}`);
        const { out, err } = await run("status");
        assert.match(out, /^0 of 1 agents .*\n.*\nClaude Code +\S+ +broken /, out);
        assert.match(
          err,
          new RegExp(`its hook denies every prompt, because .*${says.source}.*To renew it: parley connect`),
        );
        assert.doesNotMatch(err, /secret/);
      }
    });
  }
});

describe("an installed hook that starts", () => {
  it("is taken for one, by whatever names of Node, folders and variables a shell finds its parts", async () => {
    const { file, run } = homeWith("");
    const HOME = dirname(dirname(file));
    for (const name of ["node-24", "node24", "anything"]) symlinkSync(NODE, join(HOME, name));
    mkdirSync(join(HOME, "a b", "hook"), { recursive: true });
    cpSync(HOOK_PROGRAM, join(HOME, "a b", "hook", "parley.cjs"));
    for (const start of [
      `"$HOME/node-24" "$HOME/a b/hook/parley.cjs"`,
      `$HOME/node24 "\${HOME}"/'a b'/hook/parley.cjs`,
      `${join(HOME, "anything")} ~/"a b/hook/parley.cjs"`,
      `exec ~/node24 --no-warnings ~/a\\ b/hook/parley.cjs`,
      `A=1 sh -c '"$HOME/node-24" "$HOME/a b/hook/parley.cjs" hook claude' #`,
    ]) {
      const command = start.endsWith("#") ? start.slice(0, -2) : `${start} ${FLAGS} --to 7 --timeout 30m`;
      const hooks = { PermissionRequest: [{ matcher: "*", hooks: [{ type: "command", command }] }] };
      writeFileSync(file, JSON.stringify({ hooks }));
      const { out, err } = await run("status");
      assert.match(out, /^1 of 1 agents/, command);
      assert.doesNotMatch(err, /its hook/, command);
    }
  });

  it("is of any version: an older one that ends as this one does is whole", async () => {
    // The words of 0.1, which ended with 1 where it failed.
    const older = `if (require.main === module) { console.error("parley: the input is no JSON"); process.exitCode = 1; }`;
    const { run } = homeWith(
      `${NODE} ${fileOf(`let sent = ""; process.stdin.on("data", (text) => (sent += text)).on("end", () => { if (sent) return; ${older} });`, "hook", "parley.cjs")} ${FLAGS}`,
    );
    assert.match((await run("status")).out, /^1 of 1 agents/);
  });
});

describe("an installed hook of an earlier version", () => {
  const link = join(newFolder(), "bin", "parley");
  mkdirSync(dirname(link), { recursive: true });
  symlinkSync(EARLIER, link);
  for (const start of [`${NODE} ${EARLIER}`, `${NODE} ${MAIN}`, link, `sh -c '${link} hook claude' #`]) {
    it(`is known and counted, and connect shows how it renews it: ${start}`, async () => {
      const command = start.endsWith("#") ? start.slice(0, -2) : `${start} ${FLAGS}`;
      const { file, run } = homeWith(command);
      const { out, err } = await run("status");
      assert.match(out, /^1 of 1 agents/);
      assert.match(err, /^Claude Code: its hook has an older form, .*To renew it: parley connect claude$/m);
      const tried = await run("claude", "--dry-run");
      assert.match(tried.err, /^-.* hook claude/m);
      assert.ok(tried.err.includes(`${NODE} ${HOOK_PROGRAM} hook claude`), tried.err);
      assert.equal((await run("claude", "--no-test")).code, 0);
      // For the prompt, and for each of the two events after a tool.
      assert.equal(readFileSync(file, "utf8").match(/hook claude/g)?.length, 3);
      assert.doesNotMatch((await run("status")).err, /older form/);
    });
  }

  it("decides as before", () => {
    for (const program of [EARLIER, MAIN]) {
      const words = [program, ...FLAGS.split(" "), "--by", "nobody"];
      const { status, stdout } = spawnSync(NODE, words, {
        input: '{"hook_event_name":"PreToolUse"}',
        encoding: "utf8",
      });
      assert.deepEqual([status, /"permissionDecision":"deny"/.test(stdout)], [2, true]);
    }
  });
});

describe("an installed hook in npm's cache", () => {
  it("is said to be where npm may take it away", async () => {
    const file = fileOf(WHOLE, "_npx", "0c3d", "bin", "hook", "parley.cjs");
    const { run } = homeWith(`${NODE} ${file} ${FLAGS}`);
    const { out, err } = await run("status");
    assert.match(out, /^1 of 1 agents/);
    assert.match(err, /its hook stands in npm's cache, which npm may empty/);
  });
});

describe("a hook of which only a part runs", () => {
  it("denies under an older Node, and says how to mend it", () => {
    const older = `Object.defineProperty(process, "versions", { value: { ...process.versions, node: "22.1.0" } });`;
    const preload = fileOf(older, "older.cjs");
    // Beside no Node that a checkout brings along.
    const alone = fileOf(readFileSync(EARLIER, "utf8"), "bin", "parley.mjs");
    const packaged = fileOf(readFileSync(PACKAGED, "utf8"), "bin", "parley.cjs");
    for (const program of [HOOK_PROGRAM, alone, packaged]) {
      const env = { PATH: process.env["PATH"], NODE_OPTIONS: `--require ${preload}` };
      const { status, stderr } = spawnSync(NODE, [program, "hook", "claude"], { env, input: "{}", encoding: "utf8" });
      assert.equal(status, 2, stderr);
      assert.match(stderr, /needs Node 24 or newer/);
    }
  });

  it("denies where the program of hooks is empty or cut at any place, and says how to mend it", () => {
    const whole = readFileSync(HOOK_PROGRAM, "utf8");
    const [line, end] = [whole.indexOf("\n", whole.length / 2), whole.indexOf("exports.decideHook = ")];
    for (const [source, script] of [
      [EARLIER, "parley.mjs"],
      [PACKAGED, "parley.cjs"],
    ] as const) {
      for (const text of ["", "// Parley\n", whole.slice(0, 40), whole.slice(0, line), whole.slice(0, end)]) {
        const program = fileOf(readFileSync(source, "utf8"), "bin", script);
        mkdirSync(join(dirname(program), "hook"));
        writeFileSync(join(dirname(program), "hook", "parley.cjs"), text);
        const run = (...words: string[]) =>
          spawnSync(NODE, [program, "hook", ...words], { input: "{}", encoding: "utf8" });
        const { status, stderr } = run("claude", "--to", "7");
        assert.deepEqual([status, stderr.trimEnd().split("\n").length], [2, 1], stderr);
        assert.match(stderr, /is empty or cut: (run `npm run setup` in|install Parley again by npm) /);
        // Beside this one file there is no Parley that could go on.
        for (const words of [
          ["install", "claude"],
          ["claude", "--help"],
        ])
          assert.equal(run(...words).status, 1);
      }
    }
  });

  it("denies from a plugin whose program is gone, and says how to mend it", () => {
    const hook = { command: "/gone/node /gone/parley.cjs hook openclaw", timeoutSeconds: 60 };
    const file = fileOf(
      `${hookReplyCode("openclaw", hook)}\nconsole.log(JSON.stringify(await hookReply({}))); void TIMEOUT_MS;`,
      "plugin.mjs",
    );
    const { decision, reason } = JSON.parse(execFileSync(NODE, [file], { encoding: "utf8" })) as Record<string, string>;
    assert.equal(decision, "deny");
    assert.match(reason ?? "", /could not start: run parley connect openclaw/);
  });
});
