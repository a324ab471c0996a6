import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { bundled } from "./bundle.ts";

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const TSC = join(ROOT, "node_modules/typescript/bin/tsc");

const ESM = `import { Parley, ParleyError, type Question } from "@parley/sdk";
import { People } from "@parley/sdk/people";
import { ask, AskRejected, jobs, type AskResult, type JobEvent } from "@parley/sdk/executor";
export const may: Promise<AskResult<{ decision: "ALLOW" }>> = ask("POLICY_DECISION", "May I?");
may.catch((error: unknown) => console.log(error instanceof AskRejected, typeof jobs.claim));
export const told: JobEvent[] = [];
const parley = new Parley({ url: "http://127.0.0.1:9", retries: 0 });
export const asked: Promise<Question> = parley.check("q_x");
asked.catch((error: unknown) => console.log(error instanceof ParleyError && error.code, typeof People));
`;
const CJS = `import sdk = require("@parley/sdk");
const parley = new sdk.Parley({ url: "http://127.0.0.1:9", retries: 0 });
parley.check("q_x").catch((error: unknown) => console.log(error instanceof sdk.ParleyError && error.code));
`;

describe("the package @parley/sdk", () => {
  const project = mkdtempSync(join(tmpdir(), "parley-sdk-"));
  after(() => rmSync(project, { recursive: true, force: true }));

  before(async () => {
    await run(process.execPath, [join(ROOT, "scripts/build-sdk.mjs")]);
    await run("npm", ["pack", join(ROOT, "sdk/dist"), "--pack-destination", project]);
    writeFileSync(join(project, "package.json"), JSON.stringify({ name: "empty", private: true }));
    const [tarball = ""] = readdirSync(project).filter((name) => name.endsWith(".tgz"));
    await run("npm", ["install", "--no-save", "--offline", "--ignore-scripts", join(project, tarball)], {
      cwd: project,
    });
    symlinkSync(join(ROOT, "node_modules/@types"), join(project, "types"));
    writeFileSync(join(project, "esm.mts"), ESM);
    writeFileSync(join(project, "cjs.cts"), CJS);
  });

  it("is smaller than 20 kB, and 10 kB without what only executors need", async () => {
    const sizeIn = (folder: string) => {
      const [tarball = ""] = readdirSync(folder).filter((name) => name.endsWith(".tgz"));
      return statSync(join(folder, tarball)).size;
    };
    assert.ok(sizeIn(project) < 20_000);
    const asking = join(project, "asking");
    const isWanted = (path: string) => !/executor[^/]*$/.test(path);
    cpSync(join(ROOT, "sdk/dist"), asking, { recursive: true, filter: isWanted });
    await run("npm", ["pack", asking, "--pack-destination", asking]);
    assert.ok(sizeIn(asking) < 10_000);
  });

  it("is under 10 kB gzipped in what a program can load of it, all of it together", () => {
    const folder = join(ROOT, "sdk/dist/esm");
    const modules = readdirSync(folder).filter((name) => name.endsWith(".js"));
    const whole = Buffer.concat(modules.map((name) => readFileSync(join(folder, name))));
    assert.ok(modules.includes("client.js") && modules.includes("executor.js"));
    assert.ok(gzipSync(whole).length < 10_000, String(gzipSync(whole).length));
  });

  it("adds less than 4 kB to a program that asks", async () => {
    const program = await bundled("sdk/dist/esm/client.js");
    assert.match(program, /idempotency_key/);
    assert.ok(gzipSync(program).length < 4000, String(gzipSync(program).length));
  });

  for (const [module, resolution, files] of [
    ["esnext", "bundler", ["esm.mts"]],
    ["node16", "node16", ["esm.mts", "cjs.cts"]],
    ["nodenext", "nodenext", ["esm.mts", "cjs.cts"]],
  ] as const) {
    it(`type-checks in an empty project with moduleResolution ${resolution}`, async () => {
      const types = ["--types", "node", "--typeRoots", join(project, "types")];
      const options = ["--strict", "--noEmit", "--target", "es2024", "--lib", "es2024,dom", "--skipLibCheck", "false"];
      const flags = [...options, ...types, "--module", module, "--moduleResolution", resolution];
      await run(process.execPath, [TSC, ...flags, ...files], { cwd: project });
    });
  }

  it("runs for those who import it and for those who require it", async () => {
    const esm = await run(process.execPath, ["esm.mts"], { cwd: project });
    assert.deepEqual(esm.stdout.trim().split("\n").sort(), ["UNREACHABLE function", "false function"]);
    const plain = `const sdk = require("@parley/sdk");
      new sdk.Parley({ url: "http://127.0.0.1:9", retries: 0 }).check("q_x").catch((error) => console.log(error.code));`;
    const cjs = await run(process.execPath, ["--input-type=commonjs", "--eval", plain], { cwd: project });
    assert.equal(cjs.stdout.trim(), "UNREACHABLE");
  });
});
