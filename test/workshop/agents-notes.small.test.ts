import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { openWire } from "../support/agent-wire.ts";
import { until } from "../support/contract.ts";

const NOTE = { id: "note_1", text: "Use the staging bucket." };

describe("a note of a person", () => {
  it("is a message to Claude Code, which has it once it repeats it, and begins another turn if it came late", async () => {
    const wire = openWire("claude");
    wire.note(NOTE);
    const sent = await wire.heard(({ uuid }) => uuid !== undefined);
    assert.deepEqual(sent.message, { role: "user", content: NOTE.text });
    assert.match(sent.uuid, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
    wire.say({ type: "result", subtype: "success", is_error: false, result: "Done before it came." });
    wire.say({ ...sent, isReplay: true });
    await until(() => wire.noted.length === 1);
    assert.deepEqual(wire.noted, [NOTE.id]);
    wire.say({ type: "result", subtype: "success", is_error: false, result: "Done with it." });
    const end = await wire.ended;
    assert.equal(end.kind === "done" && end.summary, "Done with it.");
  });

  const startCodex = async () => {
    const wire = openWire("codex");
    const reply = async (method: string, result: object) => {
      const { id } = await wire.heard((message) => message.method === method);
      wire.say({ id, result });
    };
    await reply("initialize", { userAgent: "codex/0.1.0" });
    await reply("thread/start", { thread: { id: "t" } });
    await reply("turn/start", { turn: { id: "1" } });
    await wire.heard(({ method }) => method === "turn/start");
    return { wire, reply };
  };
  const completed = { method: "turn/completed", params: { threadId: "t", turn: { id: "1", status: "completed" } } };

  it("steers the turn of Codex", async () => {
    const { wire, reply } = await startCodex();
    await until(() => wire.takesNotes());
    wire.note(NOTE);
    const { params } = await wire.heard(({ method }) => method === "turn/steer");
    assert.equal(params.input[0].text, NOTE.text);
    assert.equal(params.expectedTurnId, "1");
    await reply("turn/steer", { turnId: "1" });
    await until(() => wire.noted.length === 1);
    wire.say(completed);
    assert.equal((await wire.ended).kind, "done");
  });

  it("begins another turn of Codex where the one before was over", async () => {
    const { wire } = await startCodex();
    await until(() => wire.takesNotes());
    wire.note(NOTE);
    const { id } = await wire.heard(({ method }) => method === "turn/steer");
    wire.say(completed);
    wire.say({ id, error: { code: -32600, message: "no active turn to steer" } });
    const next = await wire.heard(
      ({ method, params }) => method === "turn/start" && params.input[0].text === NOTE.text,
    );
    wire.say({ id: next.id, result: { turn: { id: "2" } } });
    await until(() => wire.noted.length === 1);
    wire.say({ method: "turn/completed", params: { threadId: "t", turn: { id: "2", status: "completed" } } });
    assert.equal((await wire.ended).kind, "done");
  });

  /** An ACP agent at its first prompt. */
  async function promptAcp() {
    const wire = openWire("acp");
    for (const [method, result] of [
      ["initialize", { protocolVersion: 1, agentCapabilities: {} }],
      ["session/new", { sessionId: "s1" }],
    ] as const) {
      const { id } = await wire.heard((message) => message.method === method);
      wire.say({ jsonrpc: "2.0", id, result });
    }
    return { wire, first: await wire.heard(({ method }) => method === "session/prompt") };
  }

  it("waits on where an ACP agent or Codex is interrupted before its next turn", async () => {
    const [acp, codex] = [await promptAcp(), await startCodex()];
    await until(() => codex.wire.takesNotes());
    for (const { wire } of [acp, codex]) {
      wire.note(NOTE);
      wire.stop.abort();
    }
    const { id } = await codex.wire.heard(({ method }) => method === "turn/steer");
    codex.wire.say({ id, error: { code: -32600, message: "no active turn to steer" } });
    codex.wire.say(completed);
    acp.wire.say({ jsonrpc: "2.0", id: acp.first.id, result: { stopReason: "end_turn" } });
    for (const { wire } of [acp, codex]) {
      assert.equal((await wire.ended).kind, "interrupted");
      assert.deepEqual(wire.noted, []);
    }
  });

  it("is the next prompt of an ACP agent", async () => {
    const { wire, first } = await promptAcp();
    wire.note(NOTE);
    wire.say({ jsonrpc: "2.0", id: first.id, result: { stopReason: "end_turn" } });
    const isNote = ({ method, params }: { method: string; params: { prompt: { text: string }[] } }) =>
      method === "session/prompt" && params.prompt[0]?.text === NOTE.text;
    const next = await wire.heard(isNote);
    assert.deepEqual(wire.noted, [NOTE.id]);
    wire.say({ jsonrpc: "2.0", id: next.id, result: { stopReason: "end_turn" } });
    assert.equal((await wire.ended).kind, "done");
  });
});
