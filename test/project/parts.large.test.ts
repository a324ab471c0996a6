import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { globSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import { describe, it } from "node:test";
import { MISSING_VARIABLE } from "../support/parts.ts";
import { newFolder } from "../support/program.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const ABSENT = /^(python3?(\.\d+)?|apt-get)$/;
const MISSING =
  /^Missing: .*\bPython 3 for the Python package, .* \(it is not installed\).* Install it with this system's packages, and run npm test again\.$/;

/** Runs the command behind `npm test` where there is no Python, and nothing that could bring it. */
function testWithoutPython(...args: string[]): { status: number | null; lines: string[] } {
  const folder = newFolder();
  const bin = join(folder, "bin");
  mkdirSync(bin, { recursive: true });
  const seen = new Set<string>();
  for (const from of (process.env["PATH"] ?? "").split(delimiter)) {
    for (const name of readdirIfThere(from)) {
      if (ABSENT.test(name) || seen.has(name)) continue;
      seen.add(name);
      symlinkSync(join(from, name), join(bin, name));
    }
  }
  const env: NodeJS.ProcessEnv = { ...process.env, PATH: bin, TEST_TOOLS: join(folder, "tools"), CI: "true" };
  // It finds out by itself what is missing, as where no other run surrounds it.
  const { NODE_TEST_CONTEXT: _, [MISSING_VARIABLE]: __, ...own } = env;
  const { status, stdout, stderr } = spawnSync(process.execPath, ["scripts/test.mjs", ...args], {
    cwd: ROOT,
    env: own,
    encoding: "utf8",
  });
  return { status, lines: `${stdout}${stderr}`.trim().split("\n") };
}

describe("a part that tests need and that npm does not have", () => {
  it("is named at the end where it is missing, and each test left out for it is counted as skipped", () => {
    const one = ["cli/inbox", "--test-name-pattern=shows the whole call", "--test-reporter=tap"];
    const { status, lines } = testWithoutPython(...one);
    assert.equal(status, 0, lines.join("\n"));
    assert.ok(lines.includes("# skipped 1"), lines.join("\n"));
    assert.match(lines.at(-1) ?? "", MISSING);
  });

  it("ends npm test -- --all at its start, in one sentence that names it, and no test runs", () => {
    const { status, lines } = testWithoutPython("cli/inbox", "--all");
    assert.equal(status, 2, lines.join("\n"));
    assert.equal(lines.length, 1, lines.join("\n"));
    assert.match((lines[0] ?? "").replace("With --all nothing may be missing. ", ""), MISSING);
  });

  it("leaves out tests one by one: those of a suite that is skipped whole are counted by nobody", () => {
    const files = globSync("test/**/*.test.ts", { cwd: ROOT, exclude: ["test/agents/**"] });
    const skipsWhole = /\bdescribe(\.skip\(|\([^\n]*\{[^\n}]*\bskip:)/;
    assert.deepEqual(
      files.filter((file) => skipsWhole.test(readFileSync(join(ROOT, file), "utf8"))),
      [],
    );
  });
});

function readdirIfThere(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
