import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { minifySync } from "vite";
import { bundled } from "./bundle.ts";

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const TSC = join(ROOT, "node_modules/typescript/bin/tsc");

const ESM = `import { NotApproved, Parley, ParleyError, type Decision, type Question } from "@parley/sdk";
import { Admin, type Person } from "@parley/sdk/admin";
import { Connection } from "@parley/sdk/connection";
import { Inbox, type InboxPage } from "@parley/sdk/inbox";
import { People } from "@parley/sdk/people";
import { type Board, Tasks } from "@parley/sdk/tasks";
import { ask, AskRejected, jobs, type AskResult, type JobEvent } from "@parley/sdk/executor";
export const may: Promise<AskResult<{ decision: "ALLOW" }>> = ask("POLICY_DECISION", "May I?");
may.catch((error: unknown) => console.log(error instanceof AskRejected, typeof jobs.claim));
export const told: JobEvent[] = [];
const server = new Connection({ url: "http://127.0.0.1:9" }, () => ({ authorization: "Bearer key" }));
export const waiting = (): Promise<InboxPage> => server.call("GET", "/people/me/asks");
export const mine = (): Promise<InboxPage> => new Inbox({ url: "http://127.0.0.1:9", key: "key" }).asks();
export const titles = ({ asks }: InboxPage): string[] => asks.map(({ title }) => title);
export const board = (): Promise<Board> => new Tasks({ url: "http://127.0.0.1:9", key: "key", repo: "shop" }).board();
export const runs = ({ tasks }: Board): string[] => tasks.map(({ id }) => id);
export const isAdmin = ({ role }: Person): boolean => role === "admin";
export const everybody = (): Promise<Person[]> => new Admin({ url: "http://127.0.0.1:9", key: "key" }).people();
const parley = new Parley({ url: "http://127.0.0.1:9", retries: 0 });
export const asked: Promise<Question> = parley.check("q_x");
export const refund = parley.requireApproval(async ({ order }: { order: string }) => order.length, { name: "refund" });
export const size: (call: { order: string }) => Promise<number> = refund;
export const decided = (): Promise<Decision<{ order: string }>> =>
  parley.approve({ fn: "refund", args: { order: "A" } }).catch((error: unknown) => {
    throw error instanceof NotApproved ? error.status : error;
  });
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

  for (const [entry, says] of [
    ["client", /idempotency_key/],
    ["people", /\/human\/responses/],
    ["executor", /parley-lease/],
    ["admin", /sign_in_link/],
    ["tasks", /application\/x-ndjson/],
    ["inbox", /\/people\/me\/conversations/],
    ["connection", /last-event-id/],
  ] as const) {
    it(`is under 10 kB in what a program loads of its ${entry}, bundled, minified and gzipped`, async () => {
      const program = await bundled(`sdk/dist/esm/${entry}.js`);
      const { code } = minifySync("program.js", program, { module: true });
      assert.match(code, says);
      assert.ok(gzipSync(code).length < 10_000, `${gzipSync(code).length} B`);
    });
  }

  it("holds nothing but modules, their types, and what says what it is", () => {
    const packed = readdirSync(join(project, "node_modules/@parley/sdk"), { recursive: true, withFileTypes: true });
    const files = packed.filter((one) => one.isFile()).map(({ parentPath, name }) => join(parentPath, name));
    const others = files.filter(
      (path) => !/\/((cjs|esm)\/(executor\/)?[\w-]+\.js|(cjs|types)\/(executor\/)?[\w-]+\.d\.ts)$/.test(path),
    );
    assert.ok(others.length < files.length);
    assert.deepEqual(others.map((path) => path.replace(/^.*@parley\/sdk\//, "")).sort(), [
      "LICENSE",
      "README.md",
      "cjs/package.json",
      "esm/package.json",
      "package.json",
      "types/package.json",
    ]);
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
    const both = `import { ParleyError } from "@parley/sdk";
      import { createRequire } from "node:module";
      console.log(createRequire(import.meta.url)("@parley/sdk").ParleyError === ParleyError);`;
    const one = await run(process.execPath, ["--input-type=module", "--eval", both], { cwd: project });
    assert.equal(one.stdout.trim(), "true");
  });
});
