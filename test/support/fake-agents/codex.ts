#!/usr/bin/env node
import { randomUUID } from "node:crypto";
import {
  type Hands,
  type Json,
  loadSession,
  newSession,
  onMessages,
  play,
  send,
  type Session,
  type PermissionReply,
} from "./play.ts";

/** A fake Codex app server: what it says was looked up in what 0.171.0 says. */
const VERSION = "0.171.0";
const args = process.argv.slice(2);
if (args.includes("--version")) {
  console.log(`codex-cli ${VERSION}`);
  process.exit(0);
}
if (args[0] !== "app-server") throw new Error("this fake is an app server only");

const waiting = new Map<unknown, (result: Json) => void>();
const stopping = new AbortController();
let lastId = 0;
let items = 0;
let item: Json = {};
let tokens = 0;
let session: Session | undefined;
let threadId = "";
let turnId = "";
const steered: string[] = [];

const notify = (method: string, params: Json) => send({ method, params, emittedAtMs: Date.now() });
const inTurn = () => ({ threadId, turnId });

function request(method: string, params: Json): Promise<Json> {
  const id = lastId++;
  send({ method, id, params: { ...inTurn(), startedAtMs: Date.now(), ...params } });
  return new Promise((resolve) => waiting.set(id, resolve));
}

function start(parts: Json): void {
  item = { id: `call_${(items += 1)}`, status: "inProgress", ...parts };
  notify("item/started", { item, ...inTurn() });
}

function complete(parts: Json): void {
  notify("item/completed", { item: { ...item, ...parts }, ...inTurn() });
  tokens += 18;
  const total = { totalTokens: tokens, inputTokens: tokens - 7, outputTokens: 7 };
  notify("thread/tokenUsage/updated", { ...inTurn(), tokenUsage: { total, last: total, modelContextWindow: 1 } });
}

async function approval(method: string, params: Json): Promise<PermissionReply> {
  const { decision } = await request(method, { itemId: item["id"], ...params });
  if (decision === "accept") return { allow: true };
  complete({ status: "declined" });
  // The client's reason arrives as a message in between.
  await new Promise((resolve) => setTimeout(resolve, 20));
  return { allow: false, why: ["rejected by user", ...steered.splice(0)].join("\n") };
}

const hands: Hands = {
  say(text) {
    start({ type: "agentMessage", text });
    complete({});
  },
  mayWrite(path, text) {
    start({ type: "fileChange", changes: [{ path, kind: { type: "add" }, diff: text }] });
    return approval("item/fileChange/requestApproval", { reason: null, grantRoot: null });
  },
  mayRun(line) {
    const command = `/bin/bash -lc '${line}'`;
    const commandActions = [{ type: "unknown", command: line }];
    start({ type: "commandExecution", command, cwd: process.cwd(), commandActions, aggregatedOutput: null });
    const parts = { kind: "command", environmentId: "local", command, cwd: process.cwd(), commandActions };
    return approval("item/commandExecution/requestApproval", parts);
  },
  async ask(question, options) {
    start({ type: "dynamicToolCall", tool: "request_user_input" });
    const shown = options.map((label) => ({ label, description: label }));
    const asked = { id: "q1", header: "Question", question, isOther: true, isSecret: false, options: shown };
    const { answers } = await request("item/tool/requestUserInput", {
      itemId: item["id"],
      questions: [asked],
      isBlocking: true,
    });
    return JSON.stringify(answers);
  },
  result: (text, isError) => complete({ status: isError ? "failed" : "completed", aggregatedOutput: text }),
  mcp() {
    start({ type: "mcpToolCall", server: "parley", tool: "tool", arguments: {} });
    const given = args.find((arg) => arg.startsWith("mcp_servers.parley=")) ?? "";
    const url = /url="([^"]+)"/.exec(given)?.[1] ?? "";
    const variable = /bearer_token_env_var="([^"]+)"/.exec(given)?.[1] ?? "";
    return { url, token: process.env[variable] ?? "" };
  },
};

async function work(message: string): Promise<void> {
  session ??= newSession(threadId, message);
  const failure = await play(session, hands, stopping.signal);
  const status = stopping.signal.aborted ? "interrupted" : failure === null ? "completed" : "failed";
  const error = failure === null ? null : { message: failure, codexErrorInfo: "other", additionalDetails: null };
  notify("turn/completed", { threadId, turn: { id: turnId, items: [], itemsView: "notLoaded", status, error } });
}

function textOf(params: Json): string {
  return (params["input"] as { text: string }[]).map(({ text }) => text).join("\n");
}

function answer(method: string, params: Json): Json {
  switch (method) {
    case "initialize":
      return {
        userAgent: `parley/${VERSION} (Debian; x86_64)`,
        codexHome: process.env["CODEX_HOME"],
        platformOs: "linux",
      };
    case "account/login/start":
      if (typeof params["apiKey"] !== "string") throw new Error("no key came");
      return { type: "apiKey" };
    case "thread/start":
      threadId = randomUUID();
      return {
        thread: { id: threadId, sessionId: threadId, cwd: params["cwd"] },
        approvalPolicy: params["approvalPolicy"],
      };
    case "thread/resume":
      threadId = String(params["threadId"]);
      session = loadSession(threadId);
      if (!session) throw new Error(`no rollout found for thread id ${threadId}`);
      return { thread: { id: threadId, sessionId: threadId, cwd: params["cwd"] } };
    case "turn/start":
      turnId = randomUUID();
      setImmediate(() => {
        notify("turn/started", { threadId, turn: { id: turnId, status: "inProgress", items: [] } });
        void work(textOf(params));
      });
      return { turn: { id: turnId, status: "inProgress", items: [] } };
    case "turn/steer":
      steered.push(textOf(params));
      return { turnId };
    case "turn/interrupt":
      stopping.abort();
      for (const resolve of waiting.values()) resolve({ decision: "cancel", answers: {} });
      return {};
    default:
      throw new Error(`unknown method ${method}`);
  }
}

onMessages(({ id, method, params, result }) => {
  if (method === undefined) {
    waiting.get(id)?.((result ?? {}) as Json);
    waiting.delete(id);
    return;
  }
  if (id === undefined) return;
  try {
    send({ id, result: answer(String(method), (params ?? {}) as Json) });
  } catch (error) {
    send({ error: { code: -32600, message: (error as Error).message }, id });
  }
});
