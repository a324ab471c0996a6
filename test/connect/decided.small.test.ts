import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { claude } from "../../src/connect/agents/claude/claude.ts";
import { decided, overHttp } from "../../src/connect/decided.ts";
import { CouldNotAsk } from "../../src/connect/people-requests.ts";
import type { HttpExchange } from "../../src/lib/network/exchange.ts";
import { advanceUntil } from "../support/contract.ts";
import { heldClock } from "../support/held-clock.ts";

const TIMEOUT_S = 60;

describe("a prompt whose server goes away at the end of its time", () => {
  it("is given up before its agent ends the hook, and may run the tool", async () => {
    const clock = heldClock();
    const input = {
      hook_event_name: "PreToolUse",
      session_id: "s",
      tool_name: "Bash",
      tool_use_id: "u",
      tool_input: {},
    };
    const prompt = claude.read(Buffer.from(JSON.stringify(input))) ?? assert.fail();
    /** It has stored the request and says that it waits, refuses soon after the time, and says nothing at the end. */
    const exchange: HttpExchange = async (_, { signal }) => {
      const late = clock.monotonic() / 1000 - TIMEOUT_S;
      if (late < 10) return { status: 200, bytes: Buffer.from(JSON.stringify({ call_id: "claude:u", status: {} })) };
      if (late < 60) throw new Error("refused");
      return new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(new Error("aborted"))));
    };
    const { signal } = new AbortController();
    const place = {
      url: "http://parley",
      key: undefined,
      agentId: "claude-code",
      clock,
      exchange,
      signal,
      leaseSeconds: 90,
    };
    const deciding = decided(overHttp(place), claude, prompt, {
      to: undefined,
      by: undefined,
      timeoutSeconds: TIMEOUT_S,
    });
    let isOver = false;
    const given = assert.rejects(deciding, CouldNotAsk).finally(() => (isOver = true));
    await advanceUntil({ advance: async (ms) => clock.advance(ms) }, 2000, () => isOver);
    await given;
    assert.ok(clock.monotonic() < (TIMEOUT_S + 110) * 1000, `${clock.monotonic()} ms`);
  });
});
