import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { databaseUrl } from "../support/postgres.ts";

const SCRIPTS = fileURLToPath(new URL("../../scripts", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "parley-planted-"));
after(() => rmSync(folder, { recursive: true }));

/** Writes a file of tests, one of which races a timer of its own: it finds its own mark in every second run. */
function plant(name: string): string {
  const path = join(folder, name);
  const mark = JSON.stringify(join(folder, `${name}.mark`));
  writeFileSync(
    path,
    `import assert from "node:assert/strict";
     import { existsSync, rmSync, writeFileSync } from "node:fs";
     import { describe, it } from "node:test";
     describe("a file with a race", () => {
       it("holds", () => assert.equal(1, 1));
       it("races (sometimes)", () => {
         const lost = existsSync(${mark});
         if (lost) rmSync(${mark});
         else writeFileSync(${mark}, "");
         assert.ok(!lost, "the other one was first");
       });
     });`,
  );
  return path;
}

/** Runs one of the repository's scripts to its end. */
async function run(script: string, ...args: string[]): Promise<{ code: number | null; out: string }> {
  const { NODE_TEST_CONTEXT: _context, ...env } = process.env;
  const child = spawn(process.execPath, [join(SCRIPTS, script), ...args], {
    env: { ...env, TEST_DATABASE_URL: await databaseUrl(), TEST_FILE_ENDS_WITHIN_MS: "1000" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let out = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
  const [code] = (await once(child, "close")) as [number | null];
  return { code, out };
}

describe("the search for tests that fail by chance", () => {
  it("names a test that failed once, how often it failed, why, and the line that repeats it", async () => {
    const file = plant("steady.test.ts");
    const { code, out } = await run("test-steady.mjs", file, "--rounds", "3", "--descriptors", "512");
    assert.equal(code, 1);
    assert.match(out, /✖ a file with a race > races \(sometimes\)\n +failed in 1 of 3 runs: the other one was first\n/);
    assert.match(out, /npm run test:steady -- \S*steady\.test\.ts --rounds 20 --descriptors 512\n/);
    assert.doesNotMatch(out, /✖ .*holds/);
  });

  it("is content with tests that always hold, and says what it cannot read", async () => {
    const file = join(folder, "calm.test.ts");
    writeFileSync(file, `import { it } from "node:test"; it("holds", () => {});`);
    const calm = await run("test-steady.mjs", file, "--rounds", "2", "--idle");
    assert.deepEqual([calm.code, calm.out.includes("1 passed, 0 failed")], [0, true]);
    assert.equal((await run("test-steady.mjs", "--rounds", "many")).code, 2);
  });
});

describe("a run of the tests", () => {
  it("ends with each failed test once more, and the command that runs it alone", async () => {
    const file = plant("whole.test.ts");
    assert.equal((await run("test.mjs", file)).code, 0);
    const { code, out } = await run("test.mjs", file);
    assert.equal(code, 1);
    const [, command = ""] = /races \(sometimes\)\n +(npm test -- .*)\n$/.exec(out) ?? assert.fail(out);
    assert.match(command, /whole\.test\.ts --test-name-pattern='\^a file with a race races \\\(sometimes\\\)\$'$/);
  });

  it("runs files together in one process, and is failed by one that ends it for those after it", async () => {
    const says = (name: string, text: string) => {
      const file = join(folder, `${name}.test.ts`);
      writeFileSync(file, `import { it } from "node:test"; it("is ${name}", () => { ${text} });`);
      return file;
    };
    const first = says("first", `globalThis.left = process.pid;`);
    const second = says("second", `if (globalThis.left !== process.pid) throw new Error("another process");`);
    assert.equal((await run("test.mjs", first, second)).code, 0);

    const quits = says("quits", `process.exit(0);`);
    const { code, out } = await run("test.mjs", first, quits, second);
    assert.equal(code, 1);
    const [, command = ""] = /not all of which came to their end\n +(npm test -- .*)\n$/.exec(out) ?? assert.fail(out);
    // What the process said last, and with it the end of the first file, may be lost with it.
    assert.deepEqual(command.match(/\w+(?=\.test\.ts)/g)?.slice(-2), ["quits", "second"]);
  });

  it("says why a test failed as soon as it has, and ends a file that leaves something open", async () => {
    const file = join(folder, "open.test.ts");
    writeFileSync(
      file,
      `import { it } from "node:test";
       it("fails", () => { setInterval(() => {}, 1000); throw new Error("this is why"); });`,
    );
    const { code, out } = await run("test.mjs", file);
    assert.equal(code, 1);
    assert.match(out, /✖ fails \(.*\)\n +Error: this is why\n/);
    assert.match(out, /did not end within 1 s of its last test\. Still open: .*Timeout/);
  });
});
