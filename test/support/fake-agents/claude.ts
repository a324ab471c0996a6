#!/usr/bin/env node
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import {
  type Hands,
  type Json,
  loadSession,
  newSession,
  onMessages,
  play,
  send,
  type PermissionReply,
} from "./play.ts";

/** A fake Claude Code: what it says was looked up in what 2.1.332 says. */
const VERSION = "2.1.332";
const { values } = parseArgs({
  options: {
    version: { type: "boolean" },
    print: { type: "boolean", short: "p" },
    verbose: { type: "boolean" },
    "replay-user-messages": { type: "boolean" },
    "input-format": { type: "string" },
    "output-format": { type: "string" },
    model: { type: "string" },
    "permission-prompt-tool": { type: "string" },
    "permission-mode": { type: "string" },
    "mcp-config": { type: "string" },
    "strict-mcp-config": { type: "boolean" },
    "setting-sources": { type: "string" },
    allowedTools: { type: "string" },
    "max-budget-usd": { type: "string" },
    "session-id": { type: "string" },
    resume: { type: "string" },
  },
});
if (values.version) {
  console.log(`${VERSION} (Claude Code)`);
  process.exit(0);
}

const session_id = values.resume ?? values["session-id"] ?? randomUUID();
const waiting = new Map<string, (response: Json) => void>();
const stopping = new AbortController();
let call = "";
let turns = 0;

const usage = { input_tokens: 11, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 7 };
const common = () => ({ parent_tool_use_id: null, session_id, uuid: randomUUID() });

function assistant(block: Json): void {
  turns += 1;
  const head = { id: `msg_${turns}`, type: "message", role: "assistant", model: "fake", usage };
  send({ type: "assistant", message: { ...head, content: [block], stop_reason: null }, ...common() });
}

function useTool(name: string, input: Json): void {
  call = `toolu_${randomUUID()}`;
  assistant({ type: "tool_use", id: call, name, input });
}

async function permission(tool: string, input: Json): Promise<Json> {
  useTool(tool, input);
  const request_id = randomUUID();
  const request = { subtype: "can_use_tool", tool_name: tool, display_name: tool, input, tool_use_id: call };
  send({ type: "control_request", request_id, request });
  return new Promise((resolve) => waiting.set(request_id, resolve));
}

async function verdict(tool: string, input: Json, kept: string): Promise<PermissionReply> {
  const { behavior, message, updatedInput } = await permission(tool, input);
  if (behavior !== "allow") return { allow: false, why: String(message) };
  return { allow: true, text: String((updatedInput as Json)[kept]) };
}

const hands: Hands = {
  say: (text) => assistant({ type: "text", text }),
  mayWrite: (file_path, content) => verdict("Write", { file_path, content }, "content"),
  mayRun: (command) => verdict("Bash", { command, description: "Run it" }, "command"),
  async ask(question, options) {
    const shown = options.map((label) => ({ label, description: label }));
    const asked = { question, header: "Question", options: shown, multiSelect: false };
    const { behavior, message, updatedInput } = await permission("AskUserQuestion", { questions: [asked] });
    if (behavior !== "allow") return String(message);
    return `Your questions have been answered: ${JSON.stringify((updatedInput as Json)["answers"])}`;
  },
  result(content, is_error) {
    const block = { tool_use_id: call, type: "tool_result", content, is_error };
    send({ type: "user", message: { role: "user", content: [block] }, ...common() });
  },
  mcp() {
    useTool("mcp__parley__tool", {});
    const config = JSON.parse(readFileSync(values["mcp-config"] ?? "", "utf8")) as Json;
    const { parley } = config["mcpServers"] as { parley: { url: string; headers: { Authorization: string } } };
    return { url: parley.url, token: parley.headers.Authorization.replace("Bearer ", "") };
  },
};

function result(parts: Json): void {
  const counts = { duration_ms: 12, duration_api_ms: 9, num_turns: turns, total_cost_usd: 0.001, usage };
  send({ ...counts, ...parts, type: "result", session_id, uuid: randomUUID() });
}

const known = values.resume === undefined ? undefined : loadSession(session_id);
if (values.resume !== undefined && known === undefined) {
  const error = `No conversation found with session ID: ${session_id}`;
  result({ subtype: "error_during_execution", is_error: true, errors: [error] });
  console.error(error);
  process.exit(1);
}

async function work(message: string): Promise<void> {
  send({ type: "system", subtype: "init", cwd: process.cwd(), session_id, claude_code_version: VERSION, tools: [] });
  const session = known ?? newSession(session_id, message);
  const failure = await play(session, hands, stopping.signal);
  if (stopping.signal.aborted) result({ subtype: "error_during_execution", is_error: true, errors: ["aborted"] });
  else if (failure !== null) result({ subtype: "success", is_error: true, result: failure });
  else result({ subtype: "success", is_error: false, result: "Done.", stop_reason: "end_turn" });
  process.exitCode = failure === null && !stopping.signal.aborted ? 0 : 1;
}

onMessages(
  (message) => {
    const { type, request_id } = message;
    if (type === "user") void work(String((message["message"] as Json)["content"]));
    if (type === "control_request") {
      const { subtype } = message["request"] as Json;
      send({ type: "control_response", response: { subtype: "success", request_id, response: {} } });
      if (subtype !== "interrupt") return;
      stopping.abort();
      for (const [id, resolve] of waiting) {
        send({ type: "control_cancel_request", request_id: id });
        resolve({ behavior: "deny", message: "interrupted" });
      }
      waiting.clear();
    }
    if (type === "control_response") {
      const { request_id: id, response } = message["response"] as Json;
      waiting.get(String(id))?.(response as Json);
      waiting.delete(String(id));
    }
  },
  () => process.exit(),
);
