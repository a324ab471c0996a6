import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createKey } from "../../src/access/create-key.ts";
import { ROOMY, sharedWorld } from "../support/contract.ts";
import { environment, HOOK_PROGRAM, newFolder } from "../support/program.ts";

const PARLEY = fileURLToPath(new URL("../../bin/parley.mjs", import.meta.url));
const LISTS = new URL("../support/list-loaded.mjs", import.meta.url).href;
/** The server, its database and its channels, whose facts in `kind.ts` every part may read. */
const SERVER =
  /\/src\/(server|channels(?!\/(kinds|\w+\/kind)\.ts)|protocols|core|responders)\/|\/node_modules\/(fastify|pg|nodemailer|imapflow|pino)\//;
const OURS = /\/(src|sdk|bin|node_modules)\//;

/** Runs a program to its end, and returns its exit code and the files that it has loaded. */
async function loadedBy(words: readonly string[], env: Record<string, string> = {}) {
  const folder = newFolder();
  mkdirSync(join(folder, ".claude"), { recursive: true });
  const LOADED = join(folder, "loaded");
  const options = { env: environment({ HOME: folder, LOADED, ...env }) };
  const ran = promisify(execFile)(process.execPath, ["--import", LISTS, ...words], options);
  ran.child.stdin?.end(env["INPUT"] ?? "");
  const code = await ran.then(
    () => 0,
    (error: { code: number }) => error.code,
  );
  const files = readFileSync(LOADED, "utf8").split("\n");
  return { code, files: files.filter((url) => url.startsWith("file:") && OURS.test(url) && url !== LISTS) };
}

describe("the command line", () => {
  const world = sharedWorld({ on: "sqlite", env: ROOMY, at: Date.now() });

  const anasKey = async () =>
    (await createKey(world().server.ctx, { name: "ana-terminal", scope: "answer", person: "1" })).text;

  for (const [words, expected] of [
    [["--help"], 0],
    [["ask", "Which day?", "--options", "Monday,Tuesday"], 0],
    [["check", "q_unknown"], 1],
    [["inbox"], 0],
    [["answer", "q_unknown", "--option", "1"], 1],
    [["connect", "status"], 0],
  ] as const) {
    it(`loads no server, database or channel for parley ${words.join(" ")}`, async () => {
      const { code, files } = await loadedBy([PARLEY, ...words], {
        PARLEY_URL: world().url,
        ...(words[0] === "inbox" && { PARLEY_KEY: await anasKey() }),
      });
      assert.equal(code, expected);
      assert.ok(files.length > 5);
      assert.deepEqual(
        files.filter((url) => SERVER.test(url)),
        [],
      );
    });
  }

  it("loads its first file alone for its version", async () => {
    const { code, files } = await loadedBy([PARLEY, "--version"]);
    assert.equal(code, 0);
    assert.deepEqual(
      files.map((url) => fileURLToPath(url)),
      [PARLEY],
    );
  });

  it("loads one file for a hook, and no other file of a package", async () => {
    const program = await loadedBy([HOOK_PROGRAM, "hook", "claude"]);
    assert.deepEqual(
      program.files.map((url) => fileURLToPath(url)),
      [HOOK_PROGRAM],
    );
    const command = await loadedBy([PARLEY, "hook", "claude"]);
    assert.deepEqual(
      command.files.map((url) => fileURLToPath(url)),
      [PARLEY, HOOK_PROGRAM],
    );
  });
});
