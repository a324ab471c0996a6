import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { describe, it } from "node:test";
import { openWorld } from "../world.ts";

const PACKAGE = fileURLToPath(new URL("../../sdk-python/", import.meta.url));
const QUOTA = 4;

describe("the Python package", () => {
  it("asks, waits, reads and fails as its own tests say, against this server", async () => {
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
});
