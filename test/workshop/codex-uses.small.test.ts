import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { AgentCallbacks } from "../../src/workshop/agents/agent.ts";
import { openWire, type Wire } from "../support/agent-wire.ts";

describe("uses of tools by Codex", () => {
  /** Brings the conversation to where a turn is under way. */
  async function working(told: Partial<AgentCallbacks> = {}): Promise<Wire> {
    const wire = openWire("codex", told);
    for (const [method, result] of [
      ["initialize", { userAgent: "parley/0.171.0 (x)" }],
      ["thread/start", { thread: { id: "t1" } }],
      ["turn/start", { turn: { id: "u1" } }],
    ] as const) {
      const { id } = await wire.heard((message) => message.method === method);
      wire.say({ id, result });
    }
    wire.say({ method: "turn/started", params: { threadId: "t1", turn: { id: "u1" } } });
    return wire;
  }
  const asked = (wire: Wire, method: string, params: object) =>
    wire.asks({ id: 9, method, params: { threadId: "t1", turnId: "u1", ...params } } as { id: number });

  it("by its helpers too are told with their end, and a use that it declined was not run", async () => {
    const ended: [string, boolean | undefined][] = [];
    const wire = await working({ tool: (use) => use.ended && ended.push([use.ended.use, use.ended.isDeclined]) });
    const finishes = (threadId: string, id: string, status: string) => {
      const item = { type: "commandExecution", id, command: "ls", cwd: wire.tree, status, exitCode: 0 };
      wire.say({ method: "item/completed", params: { threadId, turnId: "u2", item } });
    };
    for (const [itemId, status] of [
      ["h1", "completed"],
      ["h2", "declined"],
    ] as const) {
      await asked(wire, "item/commandExecution/requestApproval", { threadId: "t2", itemId, command: "ls" });
      finishes("t2", itemId, status);
      finishes("t2", itemId, status);
      wire.said.length = 0;
    }
    finishes("t2", "unasked", "completed");
    await wire.gone(0);
    assert.deepEqual(ended, [
      ["h1", undefined],
      ["h2", true],
    ]);
  });
});
