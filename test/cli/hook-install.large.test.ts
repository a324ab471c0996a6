import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { constants, copyFileSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { HOOK_PROGRAM, MAIN, newFolder, parley } from "../support/program.ts";
import { itAtTerminal, sitDown } from "../support/at-terminal.ts";

/** Found from everywhere, and not only where `parley` is on the PATH. */
const PARLEY = `${process.execPath} ${HOOK_PROGRAM}`;
const COMMAND = `${PARLEY} hook claude --url http://127.0.0.1:3415`;
const HOOK = { type: "command", command: `${COMMAND} --reports`, timeout: 3720 };
const over = (command: string) => [{ matcher: "*", hooks: [{ type: "command", command, timeout: 5 }] }];
const OVER = { PostToolUse: over(`${COMMAND} --over`), PostToolUseFailure: over(`${COMMAND} --over`) };
const read = (file: string) => JSON.parse(readFileSync(file, "utf8")) as Record<string, unknown>;

/** A server that notes what it is asked. */
async function openServer(note: (request: IncomingMessage) => void) {
  const server = createServer((request, reply) => {
    note(request);
    reply.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const close = () => new Promise<void>((resolve) => void server.close(() => resolve()));
  return { url: `http://127.0.0.1:${port}`, [Symbol.asyncDispose]: close };
}

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
    assert.deepEqual(read(file), { hooks: { PermissionRequest: [{ matcher: "*", hooks: [HOOK] }], ...OVER } });
    assert.match(first.err, /^\+.*"command": ".* hook claude /m);
    assert.match((await run()).err, /holds it already/);
    assert.match((await undo()).err, /Parley is out of/);
    assert.ok(!existsSync(file));
    assert.match((await undo()).err, /There is no Parley/);
  });

  it("names the program itself, and not npx's link to it, which goes with npm's cache", () => {
    const program = fileURLToPath(new URL("../../bin/parley.mjs", import.meta.url));
    const folder = join(newFolder(), "_npx", "0c3d", "node_modules", ".bin");
    mkdirSync(folder, { recursive: true });
    symlinkSync(program, join(folder, "parley"));
    const words = [join(folder, "parley"), "hook", "install", "claude", "--dry-run"];
    const env = { PATH: process.env["PATH"], HOME: newFolder() };
    const { stderr } = spawnSync(process.execPath, words, { encoding: "utf8", env });
    assert.ok(stderr.includes(`"command": "${HOOK.command}"`), stderr);
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
    assert.match((await undo("--dry-run")).err, /^-.* hook claude [^]*\nNothing was written\.\n$/m);
    assert.equal(readFileSync(file, "utf8"), installed);
  });

  it("leaves a file as it is whose bytes are no UTF-8: it would write others in their place", async () => {
    const { file, run } = home();
    const bytes = Buffer.from('{ "name": "caf\xe9" }\n', "latin1");
    writeFileSync(file, bytes);
    const { code, err } = await run();
    assert.equal(code, 1);
    assert.match(err, /was left as it is: it is not UTF-8/);
    assert.deepEqual(readFileSync(file), bytes);
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

  it("names its server, so that no variable of a repository's settings leads it to another", async () => {
    const { file, run } = home();
    const commandFor = async (env: Record<string, string>) => {
      await parley(["hook", "install", "claude", "--file", file], env);
      return /hook claude[^"]*/.exec(readFileSync(file, "utf8"))?.[0];
    };
    await run();
    assert.equal(await commandFor({ PARLEY_PORT: "3499" }), "hook claude --url http://127.0.0.1:3499 --reports");
    assert.equal(await commandFor({ PARLEY_URL: "http://box:1" }), "hook claude --url http://box:1 --reports");
    assert.equal(
      await commandFor({ PARLEY_URL: "http://127.0.0.1:3415" }),
      "hook claude --url http://127.0.0.1:3415 --reports",
    );
  });

  it("shows the key to no server of a repository's settings", async () => {
    const { file, run } = home();
    await run();
    const { hooks } = read(file) as { hooks: { PermissionRequest: [{ hooks: [{ command: string }] }] } };
    const asked: string[] = [];
    await using other = await openServer((request) => void asked.push(request.url ?? ""));
    const prompt = {
      hook_event_name: "PermissionRequest",
      session_id: "1",
      tool_name: "Bash",
      tool_input: { command: "ls" },
    };
    for (const name of ["PARLEY_URL", "A2H_BASE_URL", "PARLEY_PORT"]) {
      const value = name === "PARLEY_PORT" ? new URL(other.url).port : other.url;
      const env = { HOME: newFolder(), PARLEY_KEY: "parley_agent_secret", A2H_API_KEY: "secret", [name]: value };
      const child = spawn("/bin/sh", ["-c", hooks.PermissionRequest[0].hooks[0].command], { env, stdio: "pipe" });
      child.stdin.end(JSON.stringify(prompt));
      let out = "";
      for await (const text of child.stdout.setEncoding("utf8")) out += String(text);
      assert.doesNotMatch(out, /"allow"/);
      assert.deepEqual(asked, [], name);
    }
  });

  it("says nothing after a tool, whatever it is sent and whoever answers, and sends a digest of what the tool returned", async () => {
    const bodies: string[] = [];
    await using server = await openServer((request) => request.on("data", (text: Buffer) => bodies.push(String(text))));
    const event = { hook_event_name: "PostToolUse", session_id: "1", tool_use_id: "t1", tool_name: "Bash" };
    const whole = JSON.stringify({ ...event, tool_input: { command: "ls" }, tool_response: { stdout: "a secret" } });
    for (const [sent, url] of [
      [whole, server.url],
      [whole, "http://127.0.0.1:1"],
      [whole, "no address"],
      [whole.slice(0, -9), server.url],
      ["", server.url],
    ] as const) {
      const child = spawnSync("/bin/sh", ["-c", `${PARLEY} hook claude --url '${url}' --over`], {
        input: url === server.url && sent === whole ? "" : sent,
        env: { HOME: newFolder() },
      });
      assert.deepEqual([child.status, String(child.stdout), String(child.stderr)], [0, "", ""], sent);
    }
    assert.deepEqual(bodies, []);
    const child = spawn("/bin/sh", ["-c", `${PARLEY} hook claude --url ${server.url} --over`], {
      env: { HOME: newFolder() },
      stdio: ["pipe", "ignore", "ignore"],
    });
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.stdin.end(whole);
    assert.equal(await ended, 0);
    assert.equal(bodies.length, 1);
    assert.match(bodies[0] ?? "", /"outcome":"done",.*"result_digest":"sha256:/);
    assert.doesNotMatch(bodies[0] ?? "", /secret/);
  });

  it("refuses settings that keep it from running, and writes nothing", async () => {
    for (const [settings, name] of [
      ['{ "disableAllHooks": true }', "disableAllHooks"],
      ['{ "env": { "CLAUDE_CODE_SAFE_MODE": "1" } }', "env.CLAUDE_CODE_SAFE_MODE"],
      ['{ "hooks": {}, "hooks": {} }', '"hooks" twice'],
      ["\ufeff{}", "byte order mark"],
    ] as const) {
      const { file, run } = home(settings);
      const { code, err } = await run();
      assert.equal(code, 1, settings);
      assert.ok(err.includes(name), err);
      assert.equal(readFileSync(file, "utf8"), settings);
    }
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
    const command = `${PARLEY} hook claude --url http://box:3415 --to 7 --timeout 30m --reports`;
    const hooks = [{ type: "command", command, timeout: 1920 }];
    const told = over(`${PARLEY} hook claude --url http://box:3415 --over`);
    const before = {
      PermissionRequest: [{ matcher: "*", hooks }],
      PreToolUse: [{ matcher: "Bash|Write", hooks }],
      PostToolUse: told,
      PostToolUseFailure: told,
    };
    assert.deepEqual(read(file), { hooks: before });
    // An option that the next run leaves out is undone.
    await run();
    assert.deepEqual(read(file), { hooks: { PermissionRequest: [{ matcher: "*", hooks: [HOOK] }], ...OVER } });
  });

  it("refuses somebody to ask whom no request can name, and writes nothing", async () => {
    const { file, run } = home();
    for (const whom of ["Ana Ruiz", "a@b.c", ""]) {
      const { code, err } = await run("--to", whom);
      assert.equal(code, 2, whom);
      assert.match(err, /--to must be the number of a human or the name of a group/);
    }
    assert.ok(!existsSync(file));
  });

  it("knows its own hook again, whatever name this Node has", () => {
    for (const name of ["node-24", "runtime"]) {
      const HOME = newFolder();
      mkdirSync(HOME);
      const [node, file] = [join(HOME, name), join(HOME, ".claude", "settings.json")];
      copyFileSync(process.execPath, node, constants.COPYFILE_FICLONE);
      const run = (...words: string[]) => spawnSync(node, [MAIN, ...words], { env: { HOME }, encoding: "utf8" });
      for (const words of [
        ["hook", "install", "claude"],
        ["hook", "install", "claude"],
        ["connect", "claude", "--no-test"],
      ]) {
        const { status, stderr } = run(...words);
        assert.equal(status, 0, stderr);
        assert.deepEqual([...readFileSync(file, "utf8").matchAll(/"command": "(\S+) .* hook claude/g)].length, 3);
      }
      assert.ok(readFileSync(file, "utf8").includes(node));
      assert.equal(run("hook", "uninstall", "claude").status, 0);
      assert.equal(existsSync(file), false);
    }
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
    // A timer of Node that is longer than this one ends the hook at once.
    assert.match((await home().run("--timeout", "25d")).err, /at most 24d/);
  });
});

describe("a file that held nothing before parley hook install", () => {
  it("is there again as it was, and one that was missing is gone", async () => {
    for (const settings of ["{}", "{}\n", "", "\n"]) {
      const { file, run, undo } = home(settings);
      assert.equal((await run()).code, 0, settings);
      const { code, err } = await undo();
      assert.deepEqual([code, readFileSync(file, "utf8")], [0, settings], err);
    }
    const { file, run, undo } = home();
    await run();
    await undo();
    assert.equal(existsSync(file), false);
  });
});
