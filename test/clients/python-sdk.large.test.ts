import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, it } from "node:test";
import { promisify } from "node:util";
import { createKey } from "../../src/access/create-key.ts";
import { until } from "../support/contract.ts";
import { blocksOf } from "../support/documents.ts";
import { OPERATOR } from "../support/identities.ts";
import { itWith } from "../support/parts.ts";
import { newFolder, parley, post, serve, stop } from "../support/program.ts";
import { openWorld } from "../support/world.ts";

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
    const { text: decider } = await createKey(world.server.ctx, { name: "dana", scope: "answer", person: OPERATOR });
    const tests = spawn("python3", ["-m", "unittest", "discover", "-s", "tests"], {
      cwd: PACKAGE,
      env: {
        ...process.env,
        PYTHONPATH: "src",
        PYTHONDONTWRITEBYTECODE: "1",
        PARLEY_URL: world.url,
        PARLEY_KEY: "",
        PARLEY_TEST_QUOTA: String(QUOTA),
        PARLEY_TEST_DECIDER: decider,
      },
    });
    let printed = "";
    tests.stdout.on("data", (chunk: Buffer) => (printed += chunk));
    tests.stderr.on("data", (chunk: Buffer) => (printed += chunk));
    const [code] = (await once(tests, "exit")) as [number | null];

    assert.equal(code, 0, printed);
    assert.match(printed, /Ran 70 tests/);
  });

  itWithPython("goes on waiting for an approval while the server is started again", async () => {
    const dataDir = newFolder();
    const first = await serve(dataDir);
    const { url } = first;
    const words = ["keys", "create", "dana", "--scope", "answer", "--person", OPERATOR];
    const key = (await parley(words, { PARLEY_DATA_DIR: dataDir })).out.trim();
    const program =
      "from parley import Parley\nprint(Parley().approve('deploy', {'version': '1.4.2'}).args['version'])";
    const asking = run("python3", ["-c", program], {
      env: {
        PATH: process.env["PATH"],
        PARLEY_URL: url,
        PYTHONPATH: join(PACKAGE, "src"),
        PYTHONDONTWRITEBYTECODE: "1",
      },
    });
    asking.catch(() => undefined);
    const calls = `${url}/a2h/v1alpha1/agent/function_calls`;
    const id = await until(async () => {
      const { items } = (await (await fetch(`${calls}/pending`)).json()) as { items: { call_id: string }[] };
      return items[0]?.call_id;
    });
    await stop(first);
    const second = await serve(dataDir, {}, "--port", new URL(url).port);
    const reply = await post(calls, `/${id}/respond`, { approved: true }, { authorization: `Bearer ${key}` });
    assert.equal(reply.status, 200, await reply.text());
    assert.equal((await asking).stdout, "1.4.2\n");
    await stop(second);
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
      const shown = ["docs/how-to/questions.md", "sdk-python/README.md"].flatMap(blocksOf);
      const blocks = shown.filter(({ language }) => language === "python");
      assert.equal(blocks.length, 6);
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
