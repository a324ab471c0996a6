import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { builtSdk } from "./bundle.ts";

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const TSC = join(ROOT, "node_modules/typescript/bin/tsc");
const FRAMEWORKS = ["@langchain/core", "@langchain/langgraph", "@openai/agents", "ai"];

const PROGRAM = `import { askHuman, type HumanAnswers } from "@parley/adapters";
import { askHumanTool as ofAi } from "@parley/adapters/ai";
import { askHumanTool as ofLangChain } from "@parley/adapters/langchain";
import { answerInterrupts } from "@parley/adapters/langgraph";
import { askHumanTool as ofMastra } from "@parley/adapters/mastra";
import { askHumanTool as ofOpenAi } from "@parley/adapters/openai-agents";
import { Parley } from "@parley/sdk";
import { tool } from "ai";
const parley = new Parley({ url: "http://127.0.0.1:9", retries: 0 });
export const asked: Promise<HumanAnswers> = askHuman(parley, { question: "Which label is clearer?" });
asked.catch(({ code }: { code: string }) => {
  const names = [ofLangChain(parley).name, ofMastra(parley).id, ofOpenAi(parley).name];
  console.log(code, typeof tool(ofAi(parley)).execute, names.join(), typeof answerInterrupts);
});
`;

describe("the package @parley/adapters", () => {
  const project = mkdtempSync(join(tmpdir(), "parley-adapters-"));
  after(() => rmSync(project, { recursive: true, force: true }));

  before(async () => {
    const built = join(project, "built");
    using sdk = await builtSdk();
    await run(process.execPath, [join(ROOT, "scripts/build-adapters.mjs"), built]);
    writeFileSync(join(project, "package.json"), JSON.stringify({ name: "empty", private: true }));
    await run("npm", ["pack", built, sdk.folder, "--pack-destination", project]);
    const tarballs = readdirSync(project).filter((name) => name.endsWith(".tgz"));
    assert.equal(tarballs.length, 2);
    const paths = tarballs.map((name) => join(project, name));
    await run("npm", ["install", "--no-save", "--offline", "--ignore-scripts", ...paths], { cwd: project });
    // The frameworks are the application's own.
    for (const name of FRAMEWORKS) {
      const place = join(project, "node_modules", name);
      mkdirSync(dirname(place), { recursive: true });
      symlinkSync(join(ROOT, "node_modules", name), place);
    }
    symlinkSync(join(ROOT, "node_modules/@types"), join(project, "types"));
    writeFileSync(join(project, "program.mts"), PROGRAM);
  });

  it("brings along nothing but itself, and no sources", () => {
    const place = join(project, "node_modules/@parley/adapters");
    assert.deepEqual(readdirSync(place).sort(), ["LICENSE", "README.md", "cjs", "esm", "package.json", "types"]);
    const modules = readdirSync(join(place, "esm")).filter((name) => !/\.js$|^package\.json$/.test(name));
    assert.deepEqual(modules, []);
  });

  it("runs from an application's node_modules", async () => {
    const { stdout } = await run(process.execPath, ["program.mts"], { cwd: project });
    assert.equal(stdout.trim(), "UNREACHABLE function ask_human,ask_human,ask_human function");
  });

  it("type-checks there", async () => {
    const flags = ["--strict", "--noEmit", "--target", "es2024", "--lib", "es2024,dom", "--skipLibCheck"];
    const types = ["--types", "node", "--typeRoots", join(project, "types")];
    const module = ["--module", "nodenext", "--moduleResolution", "nodenext"];
    await run(process.execPath, [TSC, ...flags, ...types, ...module, "program.mts"], { cwd: project });
  });
});
