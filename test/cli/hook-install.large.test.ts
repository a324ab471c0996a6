import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { MAIN, newFolder, parley } from "../support/program.ts";
import { itAtTerminal, sitDown } from "../support/at-terminal.ts";

/** Found from everywhere, and not only where `parley` is on the PATH. */
const PARLEY = `${process.execPath} ${MAIN}`;
const HOOK = { type: "command", command: `${PARLEY} hook claude`, timeout: 3720 };
const read = (file: string) => JSON.parse(readFileSync(file, "utf8")) as Record<string, unknown>;

interface Home {
  file: string;
  run: (...args: string[]) => ReturnType<typeof parley>;
  undo: (...args: string[]) => ReturnType<typeof parley>;
}

function home(settings?: string): Home {
  const folder = newFolder();
  const file = join(folder, ".claude", "settings.json");
  mkdirSync(join(folder, ".claude"), { recursive: true });
  if (settings !== undefined) writeFileSync(file, settings);
  const claude =
    (deed: string) =>
    (...args: string[]) =>
      parley(["hook", deed, "claude", ...args], { HOME: folder });
  return { file, run: claude("install"), undo: claude("uninstall") };
}

describe("parley hook install claude", () => {
  it("writes the hook, shows the change, writes it once, and takes it out again", async () => {
    const { file, run, undo } = home();
    const first = await run();
    assert.equal(first.code, 0, first.err);
    assert.deepEqual(read(file), { hooks: { PermissionRequest: [{ matcher: "*", hooks: [HOOK] }] } });
    assert.match(first.err, /^\+.*"command": ".* hook claude"/m);
    assert.match((await run()).err, /holds it already/);
    assert.match((await undo()).err, /Parley is out of/);
    assert.ok(!existsSync(file));
    assert.match((await undo()).err, /There is no Parley/);
  });

  it("leaves everything else as it was", async () => {
    const settings = `{
    "permissions": { "allow": ["Bash(npm test)"] },
    "hooks": {
        "PermissionRequest": [
            {
                "matcher": "Bash",
                "hooks": [
                    {
                        "type": "command",
                        "command": "notify-send"
                    }
                ]
            }
        ],
        "Stop": [{ "hooks": [{ "type": "command", "command": "say done" }] }]
    }
}
`;
    const { file, run, undo } = home(settings);
    await run();
    const groups = (read(file)["hooks"] as Record<string, { matcher: string }[]>)["PermissionRequest"];
    assert.deepEqual(
      groups?.map(({ matcher }) => matcher),
      ["Bash", "*"],
    );
    assert.ok(
      readFileSync(file, "utf8").includes(`"Stop": [{ "hooks": [{ "type": "command", "command": "say done" }] }]`),
    );
    await undo();
    assert.equal(readFileSync(file, "utf8"), settings);
  });

  it("writes nothing when tried with --dry-run, and shows the same", async () => {
    const { file, run, undo } = home();
    const tried = await run("--dry-run");
    assert.deepEqual([tried.code, existsSync(file)], [0, false]);
    const shown = (text: string) => text.split("\n").filter((line) => /^[-+ @]/.test(line));
    assert.deepEqual(shown((await run()).err), shown(tried.err));
    const installed = readFileSync(file, "utf8");
    assert.match((await undo("--dry-run")).err, /^-.* hook claude[^]*\nNothing was written\.\n$/m);
    assert.equal(readFileSync(file, "utf8"), installed);
  });

  it("writes a command that starts from any folder with any PATH", async () => {
    const { file, run } = home();
    await run();
    const { hooks } = read(file) as { hooks: { PermissionRequest: [{ hooks: [{ command: string }] }] } };
    const [
      {
        hooks: [hook],
      },
    ] = hooks.PermissionRequest;
    const started = spawnSync("/bin/sh", ["-c", hook.command], {
      cwd: "/",
      env: { HOME: newFolder(), PATH: "/nowhere" },
      input: '{"hook_event_name":"Stop","session_id":"1"}',
      encoding: "utf8",
    });
    assert.deepEqual([started.status, started.stdout, started.stderr], [0, "", ""]);
  });

  it("names the server that variables of this terminal led to", async () => {
    const { file, run } = home();
    const commandFor = async (env: Record<string, string>) => {
      await parley(["hook", "install", "claude", "--file", file], env);
      return /hook claude[^"]*/.exec(readFileSync(file, "utf8"))?.[0];
    };
    await run();
    assert.equal(await commandFor({ PARLEY_PORT: "3499" }), "hook claude --url http://127.0.0.1:3499");
    assert.equal(await commandFor({ PARLEY_URL: "http://box:1" }), "hook claude --url http://box:1");
    assert.equal(await commandFor({ PARLEY_URL: "http://127.0.0.1:3415" }), "hook claude");
  });

  itAtTerminal("asks whoever sits at a terminal before it writes", async () => {
    const { file } = home();
    for (const [answer, isThere] of [
      ["n", false],
      ["", true],
    ] as const) {
      const sitting = sitDown(["hook", "install", "claude", "--file", file]);
      await sitting.sees("Write it? [Y/n]");
      assert.equal(existsSync(file), false);
      sitting.types(`${answer}\r`);
      assert.deepEqual([await sitting.ended, existsSync(file)], [isThere ? 0 : 1, isThere]);
    }
    const sitting = sitDown(["hook", "uninstall", "claude", "--file", file, "--yes"]);
    assert.deepEqual([await sitting.ended, existsSync(file)], [0, false]);
  });

  it("takes an address, somebody to ask, a time, and tools that are always asked about", async () => {
    const { file, run } = home();
    const { err, code } = await run(
      "--url",
      "http://box:3415",
      "--to",
      "7",
      "--timeout",
      "30m",
      "--always",
      "Bash|Write",
    );
    assert.equal(code, 0, err);
    const command = `${PARLEY} hook claude --url http://box:3415 --to 7 --timeout 30m`;
    const hooks = [{ type: "command", command, timeout: 1920 }];
    const before = { PermissionRequest: [{ matcher: "*", hooks }], PreToolUse: [{ matcher: "Bash|Write", hooks }] };
    assert.deepEqual(read(file), { hooks: before });
    // An option that the next run leaves out is undone.
    await run();
    assert.deepEqual(read(file), { hooks: { PermissionRequest: [{ matcher: "*", hooks: [HOOK] }] } });
  });

  it("quotes what a shell would take for more than a word", async () => {
    const { file, run } = home();
    await run("--url", "http://box/'; rm -rf ~ #");
    const [group] = (read(file)["hooks"] as { PermissionRequest: { hooks: { command: string }[] }[] })
      .PermissionRequest;
    assert.equal(group?.hooks[0]?.command, `${PARLEY} hook claude --url 'http://box/'\\''; rm -rf ~ #'`);
  });

  it("touches no file it does not understand, and knows no other program", async () => {
    for (const settings of ["{ not JSON", '{"hooks":{"PermissionRequest":"mine"}}', '{"hooks":[]}', "[]"]) {
      const { file, run } = home(settings);
      const { code, err } = await run();
      assert.equal(code, 1, settings);
      assert.match(err, /was left as it is/);
      assert.equal(readFileSync(file, "utf8"), settings);
    }
    const { code } = await parley(["hook", "install", "emacs"]);
    assert.equal(code, 2);
    assert.equal((await home().run("--timeout", "5s")).code, 2);
  });
});
