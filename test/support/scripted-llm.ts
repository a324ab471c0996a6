import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

type Json = Record<string, unknown>;

/** The next reply of the model: a text, calls of tools, an error of its provider, no reply at all, or half a reply. */
export type Line =
  | string
  | { calls: readonly { name: string; args: unknown }[] }
  | { status: number; after?: number }
  | { hangs: true }
  | { breaks: true };

/** One request, in the same words whatever it was asked in. */
export interface LlmRequest {
  wire: "anthropic" | "openai" | "google";
  headers: IncomingHttpHeaders;
  system: string;
  /** The first message of the user. */
  user: string;
  tools: readonly { name: string; description: string }[];
  /** The results of tools so far. */
  results: readonly string[];
  maxTokens: number;
  temperature: unknown;
}

export interface ScriptedLlm extends AsyncDisposable {
  url: string;
  /** Every request so far. */
  heard: LlmRequest[];
}

export type Script = (heard: LlmRequest, number: number) => Line | Promise<Line>;

const USAGE = { input: 100, output: 20 };

/**
 * A model on loopback that speaks Anthropic's Messages, OpenAI's chat completions and Google's generateContent, and says
 * what the script tells it to. Each reply took 100 tokens in and 20 out.
 */
export async function scriptedLlm(script: Script): Promise<ScriptedLlm> {
  const heard: LlmRequest[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      let text = "";
      for await (const chunk of request.setEncoding("utf8")) text += chunk as string;
      const path = new URL(request.url ?? "/", "http://model").pathname;
      const body = JSON.parse(text) as Json;
      const one = path.endsWith("/messages")
        ? fromAnthropic(body, request.headers)
        : path.endsWith(":generateContent")
          ? fromGoogle(body, request.headers)
          : fromOpenAi(body, request.headers);
      heard.push(one);
      say(response, one, await script(one, heard.length));
    })();
  });
  // A test that could not begin must not wait for it.
  server.listen(0, "127.0.0.1").unref();
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    heard,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

function say(response: ServerResponse, { wire }: LlmRequest, line: Line): void {
  if (typeof line !== "string" && "hangs" in line) return;
  if (typeof line !== "string" && "breaks" in line) return void response.destroy();
  if (typeof line !== "string" && "status" in line) {
    response.writeHead(line.status, { "content-type": "application/json" });
    return void response.end(JSON.stringify({ type: "error", error: { type: "some", message: "not now" } }));
  }
  const text = typeof line === "string" ? line : null;
  const calls = typeof line === "string" ? [] : line.calls;
  const body = { anthropic: asAnthropic, openai: asOpenAi, google: asGoogle }[wire](text, calls);
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}

type Calls = readonly { name: string; args: unknown }[];

function fromAnthropic(body: Json, headers: IncomingHttpHeaders): LlmRequest {
  const messages = body["messages"] as { content: string | Json[] }[];
  const blocks = messages.flatMap(({ content }) =>
    typeof content === "string" ? [{ type: "text", text: content } as Json] : content,
  );
  const results = blocks.filter(({ type }) => type === "tool_result").map(({ content }) => plain(content));
  return {
    wire: "anthropic",
    headers,
    system: plain(body["system"]),
    user: plain(blocks.find(({ type }) => type === "text")?.["text"]),
    tools: ((body["tools"] ?? []) as Json[]).map(({ name, description }) => shown(name, description)),
    results,
    maxTokens: Number(body["max_tokens"]),
    temperature: body["temperature"],
  };
}

function asAnthropic(text: string | null, calls: Calls): Json {
  const content =
    text !== null
      ? [{ type: "text", text }]
      : calls.map(({ name, args }, i) => ({ type: "tool_use", id: `toolu_${Math.random()}_${i}`, name, input: args }));
  return {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "scripted",
    content,
    stop_sequence: null,
    stop_reason: text !== null ? "end_turn" : "tool_use",
    usage: { input_tokens: USAGE.input, output_tokens: USAGE.output },
  };
}

function fromOpenAi(body: Json, headers: IncomingHttpHeaders): LlmRequest {
  const messages = body["messages"] as Json[];
  const by = (role: string) => messages.filter((one) => one["role"] === role).map(({ content }) => plain(content));
  return {
    wire: "openai",
    headers,
    system: by("system").join("\n"),
    user: by("user")[0] ?? "",
    tools: ((body["tools"] ?? []) as { function: Json }[]).map(({ function: one }) =>
      shown(one["name"], one["description"]),
    ),
    results: by("tool"),
    maxTokens: Number(body["max_tokens"] ?? body["max_completion_tokens"]),
    temperature: body["temperature"],
  };
}

function asOpenAi(text: string | null, calls: Calls): Json {
  const toolCalls = calls.map(({ name, args }, i) => ({
    id: `call_${Math.random()}_${i}`,
    type: "function",
    function: { name, arguments: typeof args === "string" ? args : JSON.stringify(args) },
  }));
  const message = { role: "assistant", content: text, ...(text === null && { tool_calls: toolCalls }) };
  return {
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 1,
    model: "scripted",
    choices: [{ index: 0, finish_reason: text !== null ? "stop" : "tool_calls", message }],
    usage: { prompt_tokens: USAGE.input, completion_tokens: USAGE.output, total_tokens: USAGE.input + USAGE.output },
  };
}

function fromGoogle(body: Json, headers: IncomingHttpHeaders): LlmRequest {
  const partsOf = (one: unknown): Json[] => ((one as { parts?: Json[] } | undefined)?.parts ?? []) as Json[];
  const parts = (body["contents"] as Json[]).flatMap(partsOf);
  const config = (body["generationConfig"] ?? {}) as Json;
  const declared = ((body["tools"] ?? []) as { functionDeclarations?: Json[] }[]).flatMap(
    ({ functionDeclarations = [] }) => functionDeclarations,
  );
  return {
    wire: "google",
    headers,
    system: partsOf(body["systemInstruction"])
      .map(({ text }) => plain(text))
      .join("\n"),
    user: plain(parts.find(({ text }) => text !== undefined)?.["text"]),
    tools: declared.map(({ name, description }) => shown(name, description)),
    results: parts.flatMap(({ functionResponse: given }) => (given ? [JSON.stringify(given)] : [])),
    maxTokens: Number(config["maxOutputTokens"]),
    temperature: config["temperature"],
  };
}

function asGoogle(text: string | null, calls: Calls): Json {
  const parts = text !== null ? [{ text }] : calls.map(({ name, args }) => ({ functionCall: { name, args } }));
  return {
    candidates: [{ index: 0, finishReason: "STOP", content: { role: "model", parts } }],
    usageMetadata: {
      promptTokenCount: USAGE.input,
      candidatesTokenCount: USAGE.output,
      totalTokenCount: USAGE.input + USAGE.output,
    },
  };
}

function shown(name: unknown, description: unknown): { name: string; description: string } {
  return { name: plain(name), description: plain(description) };
}

/** Returns the text of a content that may be a text or a list of parts. */
function plain(content: unknown): string {
  if (typeof content === "string") return content;
  if (Array.isArray(content)) return (content as Json[]).map(({ text }) => plain(text)).join("\n");
  return content === undefined || content === null ? "" : JSON.stringify(content);
}
