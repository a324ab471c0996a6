import assert from "node:assert/strict";
import { closeSync, openSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { readLog } from "../../src/workshop/supervisor/log.ts";
import { all, messagesOf, openAttempt, type TestAttempt } from "../support/workshop-attempt.ts";

const MIB = 1_048_576;
const MOST = 50 * MIB;
const WISH = { tool: "Bash", input: { command: "make" }, action: "execute", resource: "make" } as const;

/** The attempt's log is as large as if its agent had written so much before; returns the number of its last line. */
function fill({ folder }: TestAttempt, bytes: number): number {
  const file = openSync(join(folder, "log.ndjson"), "a", 0o600);
  const line = (seq: number, text: string) => `${JSON.stringify({ seq, at: 1, type: "message", text })}\n`;
  const words = "x".repeat(MIB - 100);
  let seq = 0;
  for (let left = bytes; left > MIB; left = bytes - statSync(join(folder, "log.ndjson")).size) {
    writeSync(file, line((seq += 1), words));
  }
  closeSync(file);
  return seq;
}

const sizeOf = ({ folder }: TestAttempt, name: string) => statSync(join(folder, name)).size;

describe("the logs of an attempt", () => {
  it("keep no more words than there is room for, say so once, and the attempt goes on", async () => {
    await using attempt = await openAttempt();
    const before = fill(attempt, 41 * MIB);
    const link = await attempt.start([{ say: "one" }, { say: "two" }, { permission: WISH }, { end: "done" }]);
    const lines = [];
    for await (const line of link.lines(before)) {
      lines.push(line);
      if (line.type === "permission") link.decide(line.ref, { allow: true });
    }
    assert.deepEqual(messagesOf(lines), []);
    const told = lines.flatMap((line) => (line.type === "error" ? [line.text] : []));
    assert.equal(told.length, 1, JSON.stringify(lines));
    assert.match(told[0] ?? "", /^The agent has written more than is kept/);
    const last = lines.at(-1);
    assert.deepEqual(last?.type === "ended" && last.end.kind, "done");
    assert.deepEqual(
      lines.map(({ seq }) => seq),
      lines.map((_, i) => before + 1 + i),
    );
    assert.ok(sizeOf(attempt, "log.ndjson") <= MOST);
  });

  it("end an attempt that asks for more than they hold, and say why", async () => {
    await using attempt = await openAttempt();
    const before = fill(attempt, MOST - 1000);
    const link = await attempt.start([
      { permission: { ...WISH, input: { command: "y".repeat(MIB) } } },
      { sleepMs: 60_000 },
    ]);
    for await (const line of link.lines(before)) assert.notEqual(line.type, "permission");
    const last = (await readLog(attempt.folder, before)).at(-1);
    assert.ok(last?.type === "ended");
    assert.deepEqual(last.end, { kind: "failed", error: "The agent asked for so much that its log is full." });
    assert.ok(sizeOf(attempt, "log.ndjson") <= MOST);
  });

  it("hold 50 MiB of raw output, and the attempt's own says where it was cut", async () => {
    await using attempt = await openAttempt();
    const file = openSync(join(attempt.folder, "raw.log"), "a", 0o600);
    writeSync(file, Buffer.alloc(MOST - 200, "z"));
    closeSync(file);
    const link = await attempt.start([{ say: "w".repeat(1000) }, { say: "after" }, { end: "done" }]);
    const lines = await all(link.lines(0));
    assert.ok(
      lines.some((line) => line.type === "error" && /more than 50 MiB/.test(line.text)),
      JSON.stringify(lines),
    );
    assert.ok(messagesOf(lines).includes("after"), "it goes on");
    assert.ok(sizeOf(attempt, "raw.log") <= MOST);
  });
});
