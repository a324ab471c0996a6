import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, it } from "node:test";
import { promisify } from "node:util";
import { blocksOf } from "../documents.ts";
import { itWith } from "../parts.ts";
import { openWorld } from "../world.ts";

const run = promisify(execFile);
const PYRIGHT = fileURLToPath(new URL("../../node_modules/pyright/index.js", import.meta.url));

const PACKAGE = fileURLToPath(new URL("../../sdk-python/", import.meta.url));
const QUOTA = 4;
const itWithPython = await itWith("Python 3");

describe("the Python package", () => {
  itWithPython("asks, waits, reads and fails as its own tests say, against this server", async () => {
    await using world = await openWorld({
      on: "sqlite",
      running: true,
      env: { PARLEY_ASK_A_HUMAN_LIMITS_OPEN_QUESTIONS: String(QUOTA) },
    });
    const tests = spawn("python3", ["-m", "unittest", "discover", "-s", "tests"], {
      cwd: PACKAGE,
      env: {
        ...process.env,
        PYTHONPATH: "src",
        PYTHONDONTWRITEBYTECODE: "1",
        PARLEY_URL: world.url,
        PARLEY_KEY: "",
        PARLEY_TEST_QUOTA: String(QUOTA),
      },
    });
    let printed = "";
    tests.stdout.on("data", (chunk: Buffer) => (printed += chunk));
    tests.stderr.on("data", (chunk: Buffer) => (printed += chunk));
    const [code] = (await once(tests, "exit")) as [number | null];

    assert.equal(code, 0, printed);
    assert.match(printed, /Ran 10 tests/);
  });

  const checked = (folder: string) =>
    run(process.execPath, [PYRIGHT, "-p", folder], { timeout: 60_000 }).catch((error: { stdout: string }) => error);

  it("is strictly typed, for the oldest Python that it runs on", async () => {
    const { stdout } = await checked(PACKAGE);
    assert.match(stdout, /^0 errors, 0 warnings/);
  });

  it("gives its types to those who use it", async () => {
    const folder = mkdtempSync(join(tmpdir(), "parley-typed-"));
    try {
      const settings = { include: ["."], typeCheckingMode: "strict", extraPaths: [join(PACKAGE, "src")] };
      writeFileSync(join(folder, "pyrightconfig.json"), JSON.stringify(settings));
      const shown = ["README.md", "sdk-python/README.md"].flatMap(blocksOf);
      const blocks = shown.filter(({ language }) => language === "python");
      assert.equal(blocks.length, 2);
      for (const [i, { text }] of blocks.entries()) writeFileSync(join(folder, `block_${i}.py`), text);
      assert.match((await checked(folder)).stdout, /^0 errors/);

      const wrong = "from parley import Parley\n\nParley().ask(1).responses[0].answer + 1\n";
      writeFileSync(join(folder, "wrong.py"), wrong);
      const { stdout } = await checked(folder);
      assert.match(stdout, /cannot be assigned to parameter "prompt" of type "str"/);
      assert.match(stdout, /Operator "\+" not supported for types "str \| None"/);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
