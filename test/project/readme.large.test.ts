import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { delimiter, join } from "node:path";
import { describe, type TestContext } from "node:test";
import { within } from "../support/contract.ts";
import { blocksOf, ROOT_FOLDER } from "../support/documents.ts";
import { itWith, TOOLS } from "../support/parts.ts";
import { reservePort } from "../support/ports.ts";
import { newFolder } from "../support/program.ts";

const LINES_OF_FIRST_SCREEN = 20;
/** The command is tried with this one word, so that it ends within a minute: whole, it would run itself. */
const WORD = "errors-page";
const itWithRegistry = await itWith("npm's registry");

/** Returns the two commands as the README shows them. */
function commands(): [start: string, test: string] {
  const first = blocksOf("README.md").filter(({ line }) => line < LINES_OF_FIRST_SCREEN);
  const [start = "", test = ""] = first.map(({ text }) => text.trim());
  return [start, test];
}

/**
 * Returns the environment of a newcomer: the machine's own Node and npm, an empty home, and npm's cache, which saves
 * downloads.
 */
function newcomer(home: string): NodeJS.ProcessEnv {
  const folders = (process.env["PATH"] ?? "").split(delimiter).filter((one) => !/node_modules|\.tools/.test(one));
  const path = folders.join(delimiter);
  const setting = (name: string) =>
    execFileSync("npm", ["config", "get", name], { encoding: "utf8", env: { ...process.env, PATH: path } }).trim();
  return {
    PATH: path,
    HOME: home,
    LANG: "C.UTF-8",
    ...(process.env["NODE_EXTRA_CA_CERTS"] && { NODE_EXTRA_CA_CERTS: process.env["NODE_EXTRA_CA_CERTS"] }),
    npm_config_registry: setting("registry"),
    npm_config_cache: setting("cache"),
    npm_config_prefer_offline: "true",
    TEST_TOOLS: TOOLS,
  };
}

interface Started {
  pid: number;
  exit: Promise<unknown[]>;
  /** Resolves with the output once both npm and the server have ended. */
  ended: Promise<string>;
}

/** Runs `npm start` in a process group of its own until it serves. */
async function startInClone(
  t: TestContext,
  { start, clone, port, env }: { start: string; clone: string; port: string; env: NodeJS.ProcessEnv },
): Promise<Started> {
  const npm = spawn("sh", ["-c", `exec ${start}`], { cwd: clone, env: { ...env, PARLEY_PORT: port }, detached: true });
  const pid = npm.pid ?? assert.fail("npm did not start");
  const exit = once(npm, "exit");
  let said = "";
  const ended = once(npm, "close").then(() => said);
  let isOver = false;
  void ended.then(() => (isOver = true));
  t.after(() => {
    if (!isOver) process.kill(-pid, "SIGKILL");
  });
  await new Promise<void>((resolve, reject) => {
    for (const stream of [npm.stdout, npm.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        said += text;
        if (said.includes(`http://127.0.0.1:${port}`)) resolve();
      });
    }
    ended.then(() => reject(new Error(`npm start ended: ${said}`)), reject);
  });
  return { pid, exit, ended };
}

describe("the README's two commands, in a fresh clone and an empty home", () => {
  itWithRegistry("run the product, and pass its tests", { timeout: 600_000 }, async (t) => {
    const [start, test] = commands();
    assert.deepEqual([start, test], ["npm start", "npm test"]);
    const home = newFolder();
    mkdirSync(home, { recursive: true });
    const clone = join(home, "parley");
    execFileSync("git", ["clone", "--quiet", ROOT_FOLDER, clone]);
    const env = newcomer(home);

    // Somebody may serve at the usual address already.
    const port = String(await reservePort());
    // A supervisor ends it by a signal to npm's own process alone.
    const supervised = await startInClone(t, { start, clone, port, env });
    assert.equal((await fetch(`http://127.0.0.1:${port}/healthz`)).status, 200);
    process.kill(supervised.pid, "SIGTERM");
    assert.match(
      await within(supervised.ended, "npm start is gone, and somebody still writes"),
      /"msg":"Stopping; once more/,
    );
    await assert.rejects(fetch(`http://127.0.0.1:${port}/healthz`));

    // A terminal ends it by one signal to all processes, which npm passes on once more.
    const typed = await startInClone(t, { start, clone, port, env });
    process.kill(-typed.pid, "SIGINT");
    assert.match(await within(typed.ended, "Ctrl-C left somebody who writes"), /"msg":"Stopping; once more/);
    assert.deepEqual(await typed.exit, [0, null]);

    const tests = spawn("sh", ["-c", `${test} -- ${WORD}`], { cwd: clone, env, stdio: ["ignore", "pipe", "pipe"] });
    let printed = "";
    for (const stream of [tests.stdout, tests.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => (printed += text));
    }
    const [code] = (await once(tests, "close")) as [number | null];
    assert.equal(code, 0, printed);
    assert.match(printed, /^\S* ?pass [1-9]\d*$/m);
  });
});
