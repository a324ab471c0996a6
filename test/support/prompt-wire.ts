import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { PromptDecision, PromptingAgent } from "../../src/connect/agent.ts";

/** The wire of an agent: what it sends, and the bytes that it reads. */
export interface AgentWire {
  agent: PromptingAgent;
  /** Each prompt with the tool and the arguments that people see. */
  prompts: readonly { sent: object; tool: string; shown: object; session?: string }[];
  /** Each decision with the text that the agent reads; of the first prompt. */
  decisions: readonly (readonly [PromptDecision, string])[];
  /** Other events: nothing to decide. */
  otherEvents: readonly object[];
  /** Prompts that cannot be decided. */
  unreadable: readonly unknown[];
}

/** Registers the tests of an agent's wire. */
export function describeWire({ agent, prompts, decisions, otherEvents, unreadable }: AgentWire): void {
  const read = (value: unknown) => agent.read(Buffer.from(JSON.stringify(value)));
  describe(`the wire of ${agent.title}`, () => {
    it("has the tool and the whole input of a prompt", () => {
      for (const { sent, tool, shown, session } of prompts) {
        const prompt = read(sent) ?? assert.fail();
        assert.deepEqual([prompt.tool, prompt.shown], [tool, shown]);
        assert.equal(prompt.session, session ?? "s1");
        assert.ok(agent.events.includes(prompt.event));
      }
    });

    it("has these bytes for each decision", () => {
      const prompt = read(prompts[0]?.sent) ?? assert.fail();
      for (const [decision, bytes] of decisions) assert.equal(agent.print(prompt, decision), bytes);
    });

    it("shows an input that is no exact JSON as its text", () => {
      const { sent } = prompts[0] ?? assert.fail();
      const text = JSON.stringify(sent).replace(/"command":"[^"]*"/, '"command":"ls","command":"rm"');
      const shown = agent.read(Buffer.from(text))?.shown ?? assert.fail();
      assert.match(String(shown["input_json"]), /"command":"rm"/);
    });

    it("has nothing to decide in other events, and takes nothing else for a prompt", () => {
      for (const event of otherEvents) assert.equal(read(event), null);
      for (const value of [null, [], "x", 1, ...unreadable]) assert.throws(() => read(value), JSON.stringify(value));
      assert.throws(() => agent.read(Buffer.from("\xff", "latin1")));
    });
  });
}
