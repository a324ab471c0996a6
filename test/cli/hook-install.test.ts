import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { newFolder, parley } from "../support/program.ts";

const HOOK = { type: "command", command: "parley hook claude", timeout: 3720 };
const read = (file: string) => JSON.parse(readFileSync(file, "utf8")) as Record<string, unknown>;

function home(settings?: string): { file: string; run: (...args: string[]) => ReturnType<typeof parley> } {
  const folder = newFolder();
  const file = join(folder, ".claude", "settings.json");
  mkdirSync(join(folder, ".claude"), { recursive: true });
  if (settings !== undefined) writeFileSync(file, settings);
  return { file, run: (...args) => parley(["hook", "install", "claude", ...args], { HOME: folder }) };
}

describe("parley hook install claude", () => {
  it("writes the hook, shows the change, writes it once, and takes it out again", async () => {
    const { file, run } = home();
    const first = await run();
    assert.equal(first.code, 0, first.err);
    assert.deepEqual(read(file), { hooks: { PermissionRequest: [{ matcher: "*", hooks: [HOOK] }] } });
    assert.match(first.err, /^\+.*"command": "parley hook claude"/m);
    assert.match((await run()).err, /holds it already/);
    assert.match((await run("--undo")).err, /Parley is out of/);
    assert.ok(!existsSync(file));
    assert.match((await run("--undo")).err, /There is no Parley/);
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
    const { file, run } = home(settings);
    await run();
    const groups = (read(file)["hooks"] as Record<string, { matcher: string }[]>)["PermissionRequest"];
    assert.deepEqual(
      groups?.map(({ matcher }) => matcher),
      ["Bash", "*"],
    );
    assert.ok(
      readFileSync(file, "utf8").includes(`"Stop": [{ "hooks": [{ "type": "command", "command": "say done" }] }]`),
    );
    await run("--undo");
    assert.equal(readFileSync(file, "utf8"), settings);
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
    const command = "parley hook claude --url http://box:3415 --to 7 --timeout 30m";
    const hooks = [{ type: "command", command, timeout: 1920 }];
    const before = { PermissionRequest: [{ matcher: "*", hooks }], PreToolUse: [{ matcher: "Bash|Write", hooks }] };
    assert.deepEqual(read(file), { hooks: before });
    // What is not told again is taken back.
    await run();
    assert.deepEqual(read(file), { hooks: { PermissionRequest: [{ matcher: "*", hooks: [HOOK] }] } });
  });

  it("quotes what a shell would take for more than a word", async () => {
    const { file, run } = home();
    await run("--url", "http://box/'; rm -rf ~ #");
    const [group] = (read(file)["hooks"] as { PermissionRequest: { hooks: { command: string }[] }[] })
      .PermissionRequest;
    assert.equal(group?.hooks[0]?.command, `parley hook claude --url 'http://box/'\\''; rm -rf ~ #'`);
  });

  it("touches no file it does not understand, and knows no other program", async () => {
    for (const settings of ["{ not JSON", '{"hooks":{"PermissionRequest":"mine"}}', '{"hooks":[]}', "[]"]) {
      const { file, run } = home(settings);
      const { code, err } = await run();
      assert.equal(code, 1, settings);
      assert.match(err, /was left as it is/);
      assert.equal(readFileSync(file, "utf8"), settings);
    }
    const { code } = await parley(["hook", "install", "codex"]);
    assert.equal(code, 2);
    assert.equal((await home().run("--timeout", "5s")).code, 2);
  });
});
