import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { openRunnerWorld } from "../support/runner-world.ts";
import type { Line } from "../support/scripted-llm.ts";

const call = (name: string, args: unknown = {}): Line => ({ calls: [{ name, args }] });
const done = (words = "done"): Line => JSON.stringify({ answer_text: words });

describe("code.run", () => {
  it("knows its input and earlier results, and no clock, chance, network, file or time without end", async () => {
    const names = ["Date", "Math.random", "fetch", "process", "require", "setTimeout", "performance", "WebAssembly"];
    const codes = [
      "input.a + 1",
      "results[0].tool + results[0].result",
      `[${names.map((name) => `typeof ${name}`).join(", ")}]`,
      "while (true) {}",
      "'x'.repeat(1e9)",
      "'x'.repeat(70000)",
    ];
    await using world = await openRunnerWorld({
      roles: { "role.coder@v1.yaml": CODER },
      script: ({ results }) =>
        results.length < codes.length ? call("code_run", { code: codes[results.length] }) : done(),
    });
    await world.answer({ meta: { input: { a: 41 } }, roleId: "role.coder" });
    assert.deepEqual(world.llm.heard.at(-1)?.results, [
      "42",
      '"code.run42"',
      JSON.stringify(names.map(() => "undefined")),
      "Error: it did not end within 2 s",
      "Error: InternalError: out of memory",
      "Error: its last value is 70002 bytes long; 65536 may be",
    ]);
  });
});

const CODER = `
id: role.coder
version: 1
purpose: Counts
system: You count.
limits: { max_tool_calls: 8 }
`;
