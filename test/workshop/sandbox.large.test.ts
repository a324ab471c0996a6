import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type AddressInfo, type Server } from "node:net";
import { homedir, networkInterfaces, tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { describe, it } from "node:test";
import { systemClock as clock } from "../../src/lib/clock.ts";
import { closeServer, listen } from "../../src/workshop/sandbox/doors-out.ts";
import { findProcesses, killAttempt } from "../../src/workshop/sandbox/processes.ts";
import { needsOf } from "../../src/workshop/sandbox/program-needs.ts";
import { prepareSandbox, pathInside, spawnSandboxed, type Sandbox } from "../../src/workshop/sandbox/run.ts";
import { NO_SANDBOX, runSetup, selfTest } from "../../src/workshop/sandbox/sandbox.ts";
import { until } from "../support/contract.ts";
import { itWith, programOf } from "../support/parts.ts";
import type { Probes } from "../support/jail-probes.ts";

const PROBES = resolve(import.meta.dirname, "../support/jail-probes.ts");
const path = process.env["PATH"] ?? "";
const bwrap = programOf("bubblewrap");
const itInSandbox = await itWith("bubblewrap");
const SANDBOXES = [
  { sandbox: "bubblewrap", it: itInSandbox },
  { sandbox: "none", it },
] as const;

/** A room in a folder of its own, beside what nothing in it should find. */
interface TestRoom extends AsyncDisposable {
  room: Sandbox;
  base: string;
}

/** Takes bubblewrap's arguments, and starts what they say without a jail. */
const NO_JAIL = `
const args = process.argv.slice(2);
const program = args[args.indexOf("/parley/program") - 1];
const [first, ...rest] = args.slice(args.indexOf("--") + 1).map((one) => one.replace("/parley/program", program));
require("node:child_process").spawn(first, rest, { stdio: ["inherit", "inherit", "inherit", "ignore", 4] });
`;

let count = 0;

async function openRoom(bwrapHere: string | null, more: Partial<Sandbox> = {}): Promise<TestRoom> {
  const base = await mkdtemp(join(tmpdir(), "parley-room-"));
  const at = (name: string) => join(base, name);
  for (const name of ["tree", "home", "store", "folder", "data", "other-tree"]) await mkdir(at(name), { mode: 0o700 });
  prepareSandbox(at("folder"));
  const attemptId = `room-${process.pid}-${++count}`;
  const sandbox: Sandbox = {
    attemptId,
    bwrap: bwrapHere,
    tree: at("tree"),
    home: at("home"),
    store: at("store"),
    folder: at("folder"),
    path,
    hidden: [at("data")],
    bridges: [],
    ...more,
  };
  return {
    room: sandbox,
    base,
    async [Symbol.asyncDispose]() {
      await killAttempt(attemptId, { clock, atOnce: true });
      await rm(base, { recursive: true, force: true });
    },
  };
}

async function run(
  sandbox: Sandbox,
  argv: readonly [string, ...string[]],
  env: Record<string, string> = {},
): Promise<{ code: number | null; out: string; errors: string }> {
  const started = await spawnSandboxed(sandbox, { argv, env: { PATH: pathInside(sandbox), ...env } });
  started.stdin.end();
  const [out, errors, { code }] = await Promise.all([text(started.stdout), text(started.stderr), started.exited]);
  return { code, out: out.trim(), errors: errors.trim() };
}

/** A folder on the way to a program is there in the jail too, and empty. */
function homeFile(): string {
  const file = readdirSync(homedir(), { withFileTypes: true }).find((one) => one.isFile());
  return join(homedir(), file?.name ?? "");
}

describe("the self-test of the sandbox", () => {
  it("finds bubblewrap where it is and works, and says why where it does not", async (t) => {
    const found = await selfTest({ dataFolder: import.meta.dirname, clock });
    if (found.kind === "none") t.diagnostic(found.why);
    if (bwrap === null) return assert.deepEqual(found, { kind: "none", why: "bubblewrap is not installed" });
    const plain = spawnSync(bwrap, ["--unshare-user", "--unshare-net", "--unshare-pid", "--ro-bind", "/", "/", "true"]);
    if (plain.status === 0) assert.deepEqual(found, { kind: "bubblewrap" });
    else if (found.kind === "none") assert.match(found.why, /^bubblewrap does not work here: ./);
    assert.match(NO_SANDBOX, /^No sandbox: /);
  });

  it("is content with no program that only looks like bubblewrap", async () => {
    const base = await mkdtemp(join(tmpdir(), "parley-false-"));
    try {
      const fake = join(base, "bwrap");
      const cases = {
        [NO_JAIL]: /^a program in the jail could read the data folder, reach the network, outlive its parent$/,
        'console.error("No permissions to create new namespace"); process.exit(1)':
          /^bubblewrap does not work here: No permissions to create new namespace$/,
        "process.exit(0)": /^bubblewrap does not work here: it did not start$/,
      };
      for (const [script, why] of Object.entries(cases)) {
        await writeFile(fake, `#!${process.execPath}\n${script}\n`);
        await chmod(fake, 0o700);
        const result = await selfTest({ dataFolder: base, clock, path: [base, path].join(delimiter) });
        assert.ok(result.kind === "none");
        assert.match(result.why, why);
      }
    } finally {
      await rm(base, { recursive: true, force: true });
    }
  });
});

for (const { sandbox, it } of SANDBOXES) {
  describe(sandbox === "none" ? "a program without a sandbox" : "a program in the sandbox", () => {
    const bwrapHere = sandbox === "none" ? null : bwrap;

    it("reads, reaches and writes what the sandbox lets it, and nothing else", async () => {
      await using opened = await openRoom(bwrapHere);
      const { room: sandbox, base } = opened;
      const servers: Server[] = [];
      const serve = async (at: object): Promise<Server> => {
        const server = createServer((socket) => socket.destroy());
        servers.push(server);
        await listen(server, at);
        return server;
      };
      try {
        const { port } = (await serve({ host: "127.0.0.1", port: 0 })).address() as AddressInfo;
        const all = (await serve({ host: "::", port: 0 })).address() as AddressInfo;
        await serve({ path: join(base, "data", "a.sock") });
        const other = Object.values(networkInterfaces()).flatMap((one) => one ?? []);
        const here = other.find(({ internal, family }) => !internal && family === "IPv4")?.address;
        const probes: Probes = {
          read: { "the data folder": join(base, "data"), "another tree": join(base, "other-tree"), home: homeFile() },
          reach: {
            "the server": `127.0.0.1:${port}`,
            "another port": `127.0.0.1:${all.port}`,
            "a socket outside": join(base, "data", "a.sock"),
            ...(here !== undefined && { "the network": `${here}:${all.port}` }),
            // Only where nothing can come of it.
            ...(bwrapHere !== null && { "metadata of the cloud": "169.254.169.254:80" }),
          },
          write: join(base, "other-tree"),
          watcher: process.pid,
          grow: bwrapHere === null ? join(sandbox.tree, "large") : "/parley/tree/large",
        };
        const { out, errors } = await run(sandbox, [process.execPath, PROBES], { PROBES: JSON.stringify(probes) });
        const everything = [
          "grow a file without end",
          "reach a socket outside",
          "reach another port",
          ...(here === undefined ? [] : ["reach the network"]),
          "reach the server",
          "read another tree",
          "read home",
          "read the data folder",
          "read the watcher's environment",
          "signal the watcher",
          "write outside",
        ];
        assert.deepEqual(JSON.parse(out || "null"), bwrapHere === null ? everything : [], errors);
        assert.equal(existsSync(join(base, "other-tree", "planted")), bwrapHere === null);
        const left = () => findProcesses(sandbox.attemptId);
        if (bwrapHere === null) return assert.notDeepEqual(await left(), []);
        // The kernel ends what was in the jail, and takes a moment for it.
        await until(async () => (await left()).length === 0);
      } finally {
        await Promise.all(servers.map(closeServer));
      }
    });
  });
}

describe("the sandbox", () => {
  itInSandbox("ends what starts processes without end", async () => {
    await using opened = await openRoom(bwrap, { mostProcesses: 40 });
    const script = `
      const { spawn } = require("node:child_process");
      let started = 0;
      for (let i = 0; i < 80; i++) {
        const child = spawn("/bin/sleep", ["30"]);
        child.on("spawn", () => started++);
        child.on("error", () => {});
      }
      setTimeout(() => { console.log(started === 80 ? "all of them live" : "some could not"); process.exit(); }, 3000);`;
    const { out } = await run(opened.room, [process.execPath, "-e", script]);
    assert.notEqual(out, "all of them live");
    assert.deepEqual(await findProcesses(opened.room.attemptId), []);
  });

  itInSandbox("keeps the command's words and environment from other programs' sight", async () => {
    await using opened = await openRoom(bwrap);
    const started = await spawnSandboxed(opened.room, {
      argv: ["/bin/sh", "-c", "echo ready; sleep 60 # words-of-the-prompt"],
      env: { SECRET: "value-of-the-key" },
    });
    try {
      await new Promise((ready) => started.stdout.once("data", ready));
      for (const name of ["cmdline", "environ"]) {
        const seen = await readFile(`/proc/${started.pid}/${name}`, "utf8");
        assert.doesNotMatch(seen, /words-of-the-prompt|value-of-the-key/);
      }
    } finally {
      started.kill();
      await started.exited;
    }
  });

  it("lets in a program's own packages, never a folder that holds what it must not see", async () => {
    const base = await mkdtemp(join(tmpdir(), "parley-needs-"));
    try {
      const write = async (name: string, content = "") => {
        await mkdir(join(base, name, ".."), { recursive: true });
        await writeFile(join(base, name), content, { mode: 0o755 });
        return join(base, name);
      };
      const packaged = await write("global/node_modules/tool/cli.js");
      await write("linked/package.json", "{}");
      const linked = await write("linked/dist/cli.js");
      await write("project/package.json", "{}");
      const near = await write("project/agent/cli.js");
      await mkdir(join(base, "project", "data"));
      const alone = await write("bin/alone");
      const needs = (argv: [string, ...string[]]) =>
        needsOf(argv, { path: "/nowhere", hidden: [join(base, "project", "data")] }).reads.filter((one) =>
          one.startsWith(base),
        );
      assert.deepEqual(needs([packaged]), [join(base, "global", "node_modules")]);
      assert.deepEqual(needs([linked]), [join(base, "linked")]);
      assert.deepEqual(needs([near]), [near]);
      assert.deepEqual(needs([alone, linked, "--flag", join(base, "project")]), [alone, linked]);
      assert.throws(() => needs(["no-such-agent"]), /no-such-agent is not on this machine/);
    } finally {
      await rm(base, { recursive: true, force: true });
    }
  });
});

for (const { sandbox, it } of SANDBOXES) {
  describe(`the command that prepares a tree, sandbox ${sandbox}`, () => {
    it("runs in the tree, tells its lines, and leaves nothing running", async () => {
      await using opened = await openRoom(null);
      const { room, base } = opened;
      const lines: string[] = [];
      const setup = (command: string, more: { limitMs?: number; signal?: AbortSignal } = {}) =>
        runSetup({
          command,
          sandbox,
          tree: room.tree,
          home: room.home,
          store: join(base, "store"),
          clock,
          path,
          attemptId: room.attemptId,
          log: join(base, "setup.log"),
          onLine: async (line) => void lines.push(line),
          signal: new AbortController().signal,
          ...more,
        });
      const command = "echo made > made; (setsid sleep 777 &); printf 'a\\033[2Jb\\n'; echo oops >&2; exit 3";
      assert.deepEqual(await setup(command), { code: 3 });
      assert.deepEqual(lines.toSorted(), ["a\\u001b[2Jb", "oops"]);
      assert.deepEqual((await readFile(join(base, "setup.log"), "utf8")).split("\n").toSorted(), [
        "",
        ...lines.toSorted(),
      ]);
      assert.equal(await readFile(join(room.tree, "made"), "utf8"), "made\n");
      assert.deepEqual(await findProcesses(room.attemptId), []);

      assert.deepEqual(await setup("sleep 777", { limitMs: 1000 }), {
        code: null,
        why: "it took longer than 1 seconds",
      });
      assert.deepEqual(await setup("sleep 777", { signal: AbortSignal.timeout(300) }), {
        code: null,
        why: "it was stopped",
      });
      assert.deepEqual(await findProcesses(room.attemptId), []);
    });
  });
}
