import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { AtTerminal } from "../../src/cli/serve/greeting.ts";
import { openLog } from "../../src/cli/serve/log.ts";
import { table } from "../../src/cli/print.ts";
import { clockText, parseDurationMs } from "../../src/lib/duration.ts";
import { printable, printableLines } from "../../src/lib/printable.ts";

describe("what somebody else wrote", () => {
  it("shows what cannot be seen, and leaves the rest as it is", () => {
    assert.equal(printable("Grüße, 你好 👍 – “ok”"), "Grüße, 你好 👍 – “ok”");
    assert.equal(printable("\u001b]0;title\u0007"), "\\u001b]0;title\\u0007");
    assert.equal(printable("a\u202eb\u200bc\ufeffd\u0085\u00ad"), "a\\u202eb\\u200bc\\ufeffd\\u0085\\u00ad");
    assert.equal(printable("tag\u{e0041}"), "tag\\u{e0041}");
    assert.equal(printable("lone \ud800."), "lone \ufffd.");
    assert.equal(printable("one\ntwo"), "one\\u000atwo");
  });

  it("keeps its lines where lines are shown", () => {
    assert.deepEqual(printableLines("one\r\ntwo\rthree\n\tfour"), ["one", "two", "three", "  four"]);
  });
});

describe("durations", () => {
  it("are read with a unit, and not without", () => {
    const read = ["90s", "15m", "1.5h", "90d", "250ms", "0s"].map(parseDurationMs);
    assert.deepEqual(read, [90_000, 900_000, 5_400_000, 7_776_000_000, 250, 0]);
    for (const wrong of ["", "90", "h", "-1h", "1 h", "1h30m", "soon"]) assert.equal(parseDurationMs(wrong), null);
  });

  it("are shown as a clock", () => {
    assert.deepEqual([0, 900, 42_000, 3_492_000, 3_723_000, -5].map(clockText), [
      "0:00",
      "0:01",
      "0:42",
      "58:12",
      "1:02:03",
      "0:00",
    ]);
  });
});

describe("a table", () => {
  it("is as wide as its widest cells and no line ends in blanks", () => {
    assert.deepEqual(table(["A", "LONG"], [["xyz", "1"]]), ["A    LONG", "xyz  1"]);
  });
});

describe("the log", () => {
  const AT_BOTH: AtTerminal = { out: true, err: true };

  function logged(write: (log: ReturnType<typeof openLog>) => void, at: AtTerminal): string {
    const original = process.stderr.write;
    let text = "";
    process.stderr.write = ((chunk: string) => {
      text += chunk;
      return true;
    }) as typeof process.stderr.write;
    try {
      write(openLog("info", at));
    } finally {
      process.stderr.write = original;
    }
    return text;
  }

  it("on a terminal is a readable line without keys, steering characters or endless texts", () => {
    const key = `parley_agent_${"a".repeat(38)}`;
    const text = logged((log) => {
      log.error({ err: new Error(`\u001b[2J ${key} /k/${key}/agent ${"x".repeat(300)}`) }, "a request failed");
      log.debug("not this");
    }, AT_BOTH);
    assert.match(
      text,
      /^\d\d:\d\d:\d\d error a request failed: \\u001b\[2J parley_agent_\[key\] \/k\/\[key\]\/agent x+\.\.\.\n {4}at /,
    );
    assert.ok(!text.includes(key) && !text.includes("not this") && !text.includes("x".repeat(201)));
  });

  it("is lines of JSON on standard error where only standard output is a terminal", () => {
    const text = logged((log) => log.info("it listens"), { out: true, err: false });
    assert.equal((JSON.parse(text) as { msg: string }).msg, "it listens");
  });
});
