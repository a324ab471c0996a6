import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { systemClock as clock } from "../../src/lib/clock.ts";
import { runSetup } from "../../src/workshop/sandbox/sandbox.ts";

const base = mkdtempSync(join(tmpdir(), "parley-setup-"));
after(() => rmSync(base, { recursive: true, force: true }));
const [tree, home] = [join(base, "tree"), join(base, "home")];
for (const folder of [tree, home]) mkdirSync(folder);

let count = 0;
async function setUp(command: string, more: { log?: string; onLine?: (text: string) => Promise<void> } = {}) {
  const lines: string[] = [];
  count += 1;
  const attemptId = `att_setup_${process.pid}_${count}`;
  const ended = await runSetup({
    command,
    sandbox: "none",
    tree,
    home,
    store: join(base, "store"),
    attemptId,
    clock,
    log: more.log ?? join(base, `${attemptId}.log`),
    signal: new AbortController().signal,
    async onLine(text) {
      lines.push(text);
      await more.onLine?.(text);
    },
  });
  return { ended, lines, log: join(base, `${attemptId}.log`) };
}

describe("what a setup command says", () => {
  it("stops nothing where it cannot be written down, and nobody can be told", async () => {
    const nowhere = { log: join(base, "gone", "setup.log"), onLine: () => Promise.reject(new Error("away")) };
    const { ended, lines } = await setUp("echo one; sleep 0.3; echo two", nowhere);
    assert.deepEqual(ended, { code: 0 });
    assert.deepEqual(lines, ["one", "two"]);
  });

  it("is told in order and up to a number of lines, and written down up to a number of bytes", async () => {
    let told = 0;
    let most = 0;
    const { ended, lines, log } = await setUp("seq 1 100000", {
      async onLine() {
        told += 1;
        most = Math.max(most, told);
        await new Promise((resolve) => setImmediate(resolve));
        told -= 1;
      },
    });
    assert.deepEqual(ended, { code: 0 });
    assert.equal(most, 1, "one is told after another");
    assert.deepEqual(lines.slice(0, 3), ["1", "2", "3"]);
    assert.equal(lines.length, 2001);
    assert.equal(lines.at(-1), "The rest of its output is in its log.");
    assert.ok(statSync(log).size > 10_000);
  });

  it("may be one line without an end", async () => {
    const { ended, lines, log } = await setUp("head -c 80000000 /dev/zero | tr '\\0' x");
    assert.deepEqual(ended, { code: 0 });
    assert.ok((lines[0]?.length ?? 0) <= 70_000, `${lines[0]?.length} characters are told`);
    assert.ok(statSync(log).size <= 60_000_000);
  });
});
