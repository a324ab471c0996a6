#!/usr/bin/env node
import { randomUUID } from "node:crypto";
import {
  type Hands,
  type Json,
  loadSession,
  newSession,
  onMessages,
  play,
  remember,
  send,
  type Session,
  type PermissionReply,
} from "./play.ts";

/**
 * A fake agent of the Agent Client Protocol: what it says was looked up in what opencode 1.18.33 says; with `--gemini`
 * it names its calls and writes through its client as Gemini CLI 0.61.0 does.
 */
const isGemini = process.argv.includes("--gemini");
const VERSION = "1.18.33";
if (process.argv.includes("--version")) {
  console.log(VERSION);
  process.exit(0);
}

const waiting = new Map<unknown, { resolve: (result: Json) => void; reject: (error: Error) => void }>();
let stopping = new AbortController();
let lastId = 0;
let calls = 0;
let call: Json = {};
let sessionId = "";
let session: Session | undefined;
let parley = { url: "", token: "" };

function request(method: string, params: Json): Promise<Json> {
  const id = lastId++;
  send({ jsonrpc: "2.0", id, method, params: { sessionId, ...params } });
  return new Promise((resolve, reject) => waiting.set(id, { resolve, reject }));
}

const update = (parts: Json) =>
  send({ jsonrpc: "2.0", method: "session/update", params: { sessionId, update: parts } });

function begin(tool: string, kind: string, parts: Json): void {
  const n = (calls += 1);
  const toolCallId = isGemini ? `${tool}__${tool}_${n}_0` : `call_${n}`;
  call = { toolCallId, title: tool, kind, status: "pending", locations: [], ...parts };
  // Gemini CLI does not tell of a call before it asks.
  if (!isGemini) update({ sessionUpdate: "tool_call", ...call, title: tool, rawInput: {} });
}

async function permission(): Promise<PermissionReply> {
  const names = isGemini
    ? { once: "proceed_once", always: "proceed_always", reject: "cancel" }
    : { once: "once", always: "always", reject: "reject" };
  const options = [
    { optionId: names.always, name: "Always", kind: "allow_always" },
    { optionId: names.once, name: "Once", kind: "allow_once" },
    { optionId: names.reject, name: "Reject", kind: "reject_once" },
  ];
  // To these agents an error is a rejection.
  const rejected = { outcome: { outcome: "selected", optionId: names.reject } };
  const { outcome } = await request("session/request_permission", { toolCall: call, options }).catch(() => rejected);
  const { outcome: how, optionId } = outcome as Json;
  if (how === "selected" && optionId === names.once) return { allow: true };
  if (how === "selected" && optionId === names.always) throw new Error("nobody may allow this for ever");
  if (how === "cancelled") stopping.abort();
  // With a denial a turn of opencode is over.
  return { allow: false, why: "The user rejected permission to use this specific tool call.", endsTurn: !isGemini };
}

const hands: Hands = {
  say(text) {
    for (const piece of text.match(/[^]{1,4}/g) ?? []) {
      update({ sessionUpdate: "agent_message_chunk", content: { type: "text", text: piece } });
    }
  },
  async mayWrite(path, text) {
    const diff = { type: "diff", path, oldText: "", newText: text };
    const raw = isGemini ? {} : { rawInput: { filepath: path, diff: text } };
    const parts = { title: isGemini ? `Writing to ${path}` : path, content: [diff], locations: [{ path }], ...raw };
    begin(isGemini ? "write_file" : "write", "edit", parts);
    const verdict = await permission();
    if (!verdict.allow) return verdict;
    await request("fs/write_text_file", { path, content: text });
    const { content } = await request("fs/read_text_file", { path });
    return { allow: true, text: String(content) };
  },
  mayRun(command) {
    const parts = isGemini ? { title: command } : { title: command, rawInput: { command } };
    begin(isGemini ? "run_shell_command" : "bash", "execute", parts);
    return permission();
  },
  async ask(question) {
    begin("question", "other", {});
    try {
      return JSON.stringify(await request("x/ask", { question }));
    } catch (error) {
      return (error as Error).message;
    }
  },
  result(text, isError) {
    const content = [{ type: "content", content: { type: "text", text } }];
    const { toolCallId } = call;
    update({ sessionUpdate: "tool_call_update", toolCallId, status: isError ? "failed" : "completed", content });
  },
  mcp() {
    begin("parley_tool", "other", {});
    return parley;
  },
};

async function prompt(text: string): Promise<Json> {
  stopping = new AbortController();
  if (session) remember(session, text);
  session ??= newSession(sessionId, text);
  const failure = await play(session, hands, stopping.signal);
  if (stopping.signal.aborted) return { stopReason: "cancelled" };
  if (failure !== null) throw new Error(failure);
  return { stopReason: "end_turn" };
}

async function answer(method: string, params: Json): Promise<Json> {
  switch (method) {
    case "initialize": {
      const agentCapabilities = {
        loadSession: true,
        mcpCapabilities: { http: true, sse: true },
        ...(!isGemini && { sessionCapabilities: { resume: {} } }),
      };
      return { protocolVersion: 1, agentCapabilities, agentInfo: { name: "Fake", version: VERSION }, authMethods: [] };
    }
    case "session/new":
    case "session/resume":
    case "session/load": {
      const [server] = params["mcpServers"] as { url: string; headers: { value: string }[] }[];
      if (server) parley = { url: server.url, token: server.headers[0]?.value.replace("Bearer ", "") ?? "" };
      if (method === "session/new") {
        sessionId = `ses_${randomUUID()}`;
        return { sessionId };
      }
      sessionId = String(params["sessionId"]);
      session = loadSession(sessionId);
      if (!session) throw new Error("Session not found");
      if (method === "session/load") hands.say("All that was said before.");
      return {};
    }
    case "session/prompt":
      return prompt((params["prompt"] as { text: string }[]).map(({ text }) => text).join("\n"));
    default:
      throw new Error(`unknown method ${method}`);
  }
}

onMessages(({ id, method, params, result, error }) => {
  if (method === undefined) {
    const asker = waiting.get(id);
    waiting.delete(id);
    if (error) asker?.reject(new Error(`${(error as Json)["code"]} ${(error as Json)["message"]}`));
    else asker?.resolve((result ?? {}) as Json);
    return;
  }
  if (method === "session/cancel") {
    stopping.abort();
    return;
  }
  if (id === undefined) return;
  answer(String(method), (params ?? {}) as Json).then(
    (given) => send({ jsonrpc: "2.0", id, result: given }),
    (problem: Error) => send({ jsonrpc: "2.0", id, error: { code: -32603, message: problem.message } }),
  );
});
