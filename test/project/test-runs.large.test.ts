import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { databaseUrl } from "../support/postgres.ts";

const SCRIPTS = fileURLToPath(new URL("../../scripts", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "parley-planted-"));
const RESULTS = join(folder, "results.json");
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
    env: { ...env, TEST_DATABASE_URL: await databaseUrl(), TEST_FILE_ENDS_WITHIN_MS: "1000", TEST_RESULTS: RESULTS },
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

/** Writes a file with one test, named as the file, which does this. */
function write(name: string, text: string, imports = ""): string {
  const file = join(folder, `${name}.test.ts`);
  writeFileSync(file, `import { it } from "node:test"; ${imports} it("is ${name}", () => { ${text} });`);
  return file;
}

describe("a run of the tests", () => {
  it("passes with a file that failed and passes alone, prints it as unsteady, and writes it down", async () => {
    const file = plant("unsteady.test.ts");
    assert.equal((await run("test.mjs", file)).code, 0);
    const { code, out } = await run("test.mjs", file);
    assert.equal(code, 0);
    assert.match(out, /^UNSTEADY \S*unsteady\.test\.ts: it failed, and passed when it ran alone/m);
    assert.match(out, /first: a file with a race > races \(sometimes\)\n +AssertionError.*the other one was first/);
    assert.match(out, /then, alone:\n( {4}.*\n)* +ℹ pass 2/);
    assert.match(out, /npm run test:steady -- \S*unsteady\.test\.ts --rounds 20\n/);
    assert.match(out, /\n2 passed, 0 failed, 0 skipped\n$/);
    const [result] = JSON.parse(readFileSync(RESULTS, "utf8")) as { passed: boolean; unsteady: { file: string }[] }[];
    assert.equal(result?.passed, true);
    assert.match(result.unsteady[0]?.file ?? "", /unsteady\.test\.ts$/);
  });

  it("fails with more than two unsteady files", async () => {
    const files = ["one", "two", "three"].map((name) => plant(`unsteady-${name}.test.ts`));
    assert.equal((await run("test.mjs", ...files)).code, 0);
    const { code, out } = await run("test.mjs", ...files);
    assert.equal(code, 1);
    assert.match(out, /3 files are unsteady, and at most 2 may be\./);
  });

  it("fails with a file that fails again, and ends with the command that runs each failed test alone", async () => {
    const file = write("fails (always)", `throw new Error("this is why")`);
    const { code, out } = await run("test.mjs", file);
    assert.equal(code, 1);
    const [, command = ""] =
      /is fails \(always\)\n +(npm test -- .*)\n\n0 passed, 1 failed/.exec(out) ?? assert.fail(out);
    assert.match(command, /fails \(always\)\.test\.ts --test-name-pattern='\^is fails \\\(always\\\)\$'$/);
  });

  it("fails with a test that another module declares for the file, and names the file", async () => {
    const declares = join(folder, "declares.ts");
    writeFileSync(
      declares,
      `import { it } from "node:test";
       export const declare = () => it("always fails", () => { throw new Error("no"); });`,
    );
    const file = join(folder, "declared.test.ts");
    writeFileSync(file, `import { declare } from ${JSON.stringify(declares)}; declare();`);
    const { code, out } = await run("test.mjs", file);
    assert.equal(code, 1);
    assert.match(out, /npm test -- \S*declared\.test\.ts --test-name-pattern='\^always fails\$'/);
  });

  it("runs files together in one process, and is failed by one that ends it for those after it", async () => {
    const first = write("first", `globalThis.left = process.pid;`);
    const second = write("second", `if (globalThis.left !== process.pid) throw new Error("another process");`);
    assert.equal((await run("test.mjs", first, second)).code, 0);

    const quits = write("quits", `process.exit(0);`);
    const { code, out } = await run("test.mjs", first, quits, second);
    assert.equal(code, 1);
    const [, command = ""] = /: the file itself\n +(npm test -- .*)\n/.exec(out) ?? assert.fail(out);
    // The last words of the process, and with them the end of the first file, may be lost with it.
    assert.deepEqual(command.match(/\w+(?=\.test\.ts)/g)?.slice(-2), ["quits", "second"]);
  });

  it("holds a file to the size in its name", async () => {
    const spawns = `import { spawnSync } from "node:child_process";`;
    const listens = `import { createServer } from "node:net";`;
    const program = `spawnSync("true");`;
    const socket = `const server = createServer(); server.listen(0, "127.0.0.1"); server.close();`;
    const sizes = [
      [write("opens.small", socket, listens), "A small test opens no socket."],
      [write("starts.small", program, spawns), "A small test starts no program, and this one starts true."],
      [write("starts", program, spawns), "A medium test starts no program, and this one starts true."],
      [write("opens", socket, listens), null],
      [write("starts.large", program, spawns), null],
    ] as const;
    for (const [file, refusal] of sizes) {
      const { code, out } = await run("test.mjs", file);
      assert.deepEqual([code, refusal === null || out.includes(refusal)], [refusal === null ? 0 : 1, true], out);
    }
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
