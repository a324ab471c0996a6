import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { NewTaskEvent } from "../../src/tasks/model/task.ts";
import { sizedEvent } from "../../src/tasks/model/event-size.ts";

const MOST_BYTES = 262_144;
const tool = (data: Record<string, unknown>): NewTaskEvent => ({ type: "tool", data });

describe("an event of a task", () => {
  it("is told as it is where it is not large", () => {
    const event = tool({ name: "Write", input: { path: "a", content: "x".repeat(60_000) }, isError: false });
    assert.deepEqual(sizedEvent(event), event);
  });

  it("is cut where it is too large for a slow reader, however it is made", () => {
    const deep = JSON.parse(`${"[".repeat(20_000)}${"]".repeat(20_000)}`) as unknown;
    const many = Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [`name ${i}`, "x".repeat(100)]));
    for (const data of [
      { text: "x".repeat(3_000_000) },
      { name: "Write", input: { content: "\u{1f600}".repeat(1_000_000) }, result: "y".repeat(1_000_000) },
      { ["n".repeat(1_000_000)]: 1, input: deep },
      many,
    ]) {
      const sized = sizedEvent(tool(data));
      assert.equal(sized.data["cut"], true);
      assert.ok(Buffer.byteLength(JSON.stringify(sized)) <= MOST_BYTES);
      if ("name" in data) assert.equal(sized.data["name"], "Write");
    }
  });
});
