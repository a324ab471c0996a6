import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

type Json = Record<string, unknown>;

interface Turn {
  model: string;
  stream?: boolean;
  tools?: { name: string }[];
  messages: { role: string; content: string | Json[] }[];
}

/** A scripted model that speaks Anthropic's API, and the requests that it received. */
export interface ScriptedModel extends AsyncDisposable {
  url: string;
  /** The results of tools that agents have sent to the model, as they were sent. */
  toolResults(): string[];
}

const LAST_WORDS = "People have answered.";

/**
 * A model on loopback that knows one thing: it asks people with `ask`, waits for what they say, and is done. Requests
 * without that tool, such as for a title, get a word or two.
 */
export async function scriptedModel(ask: Json): Promise<ScriptedModel> {
  const results: string[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      let text = "";
      for await (const chunk of request.setEncoding("utf8")) text += chunk as string;
      const { pathname } = new URL(request.url ?? "/", "http://model");
      if (request.method !== "POST" || !pathname.endsWith("/messages")) return void response.writeHead(404).end();
      const turn = JSON.parse(text) as Turn;
      reply(response, turn, answerTo(turn, ask, results));
    })();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    toolResults: () => results,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

function answerTo({ tools = [], messages }: Turn, ask: Json, results: string[]): Json {
  const named = (suffix: string) => tools.find(({ name }) => name.endsWith(suffix))?.name;
  const call = (suffix: string, input: Json): Json => {
    return { type: "tool_use", id: `toolu_${suffix}`, name: named(suffix), input };
  };
  if (named("ask_human") === undefined) {
    const isSearched = JSON.stringify(messages).includes("toolu_ToolSearch");
    // Claude Code shows the tools of MCP servers only to a model that looks for them.
    return named("ToolSearch") !== undefined && !isSearched
      ? call("ToolSearch", { query: "select:mcp__parley__ask_human,mcp__parley__wait_for_human_responses" })
      : { type: "text", text: "A question" };
  }

  const given = messages
    .flatMap(({ content }) => (typeof content === "string" ? [] : content))
    .filter(({ type }) => type === "tool_result");
  const last = given.at(-1);
  if (last === undefined || last["tool_use_id"] === "toolu_ToolSearch") return call("ask_human", ask);
  const shown = JSON.stringify(last["content"]);
  results.push(shown);
  if (last["tool_use_id"] !== "toolu_ask_human") return { type: "text", text: LAST_WORDS };
  const [id] = /q_\w+/.exec(shown) ?? [];
  return id === undefined
    ? { type: "text", text: "Asking failed." }
    : call("wait_for_human_responses", { question_id: id });
}

function reply(response: ServerResponse, { model, stream }: Turn, block: Json): void {
  const usage = { input_tokens: 1, output_tokens: 1 };
  const stop = { stop_reason: block["type"] === "tool_use" ? "tool_use" : "end_turn", stop_sequence: null };
  const message = { id: "msg_1", type: "message", role: "assistant", model, usage };
  if (!stream) {
    response.writeHead(200, { "content-type": "application/json" });
    return void response.end(JSON.stringify({ ...message, ...stop, content: [block] }));
  }
  const isCall = block["type"] === "tool_use";
  const delta = isCall
    ? { type: "input_json_delta", partial_json: JSON.stringify(block["input"]) }
    : { type: "text_delta", text: block["text"] };
  const events: Json[] = [
    { type: "message_start", message: { ...message, content: [], stop_reason: null, stop_sequence: null } },
    { type: "content_block_start", index: 0, content_block: { ...block, ...(isCall ? { input: {} } : { text: "" }) } },
    { type: "content_block_delta", index: 0, delta },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: stop, usage },
    { type: "message_stop" },
  ];
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const event of events) response.write(`event: ${String(event["type"])}\ndata: ${JSON.stringify(event)}\n\n`);
  response.end();
}
