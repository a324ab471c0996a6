import type { ServerResponse } from "node:http";
import type { Step } from "./step-model.ts";

export type Json = Record<string, unknown>;
type Said = Extract<Step, { call: string } | { say: string }>;

/** A form in which programs speak with models. */
interface Dialect {
  path: RegExp;
  /** The reply to a request outside the work itself. */
  aside: string;
  offersTools(asked: Json): boolean;
  results(asked: Json): string[];
  reply(response: ServerResponse, asked: Json, path: string, said: Said): void;
}

/** Returns the form that is spoken at a path. */
export function dialectOf(path: string): Dialect | undefined {
  return DIALECTS.find((one) => one.path.test(path));
}

const objects = (value: unknown): Json[] => (Array.isArray(value) ? (value as Json[]) : []);
const inputOf = (said: Said): unknown => ("input" in said ? said.input : {});
const hasTools = (asked: Json): boolean => objects(asked["tools"]).length > 0;
/** Ids of calls are told apart by time: an agent that goes on keeps those of before. */
let calls = 0;
const callId = (): string => `call_${Date.now().toString(36)}_${(calls += 1)}`;

function stream(response: ServerResponse, events: readonly (readonly [string | null, Json])[]): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const [event, data] of events) {
    response.write(`${event === null ? "" : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`);
  }
  response.end();
}

function whole(response: ServerResponse, body: Json): void {
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}

const anthropic: Dialect = {
  path: /\/messages(\?|$)/,
  aside: "A title",
  offersTools: hasTools,
  results: ({ messages }) =>
    objects(messages)
      .flatMap(({ content }) => objects(content))
      .filter(({ type }) => type === "tool_result")
      .map(({ content }) => (typeof content === "string" ? content : JSON.stringify(content))),
  reply(response, { model, stream: isStream }, _path, said) {
    const usage = { input_tokens: 11, output_tokens: 7 };
    const isCall = "call" in said;
    const stop = { stop_reason: isCall ? "tool_use" : "end_turn", stop_sequence: null };
    const message = { id: `msg_${callId()}`, type: "message", role: "assistant", model, usage };
    const block = isCall
      ? { type: "tool_use", id: `toolu_${callId()}`, name: said.call, input: inputOf(said) }
      : { type: "text", text: said.say };
    if (!isStream) return whole(response, { ...message, ...stop, content: [block] });
    const delta = isCall
      ? { type: "input_json_delta", partial_json: JSON.stringify(inputOf(said)) }
      : { type: "text_delta", text: said.say };
    const empty = isCall ? { ...block, input: {} } : { ...block, text: "" };
    const events: Json[] = [
      { type: "message_start", message: { ...message, content: [], stop_reason: null, stop_sequence: null } },
      { type: "content_block_start", index: 0, content_block: empty },
      { type: "content_block_delta", index: 0, delta },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: stop, usage },
      { type: "message_stop" },
    ];
    stream(
      response,
      events.map((event) => [String(event["type"]), event]),
    );
  },
};

const responses: Dialect = {
  path: /\/responses(\?|$)/,
  aside: "A title",
  offersTools: (asked) => hasTools(asked) || objects(asked["input"]).some(({ type }) => type === "additional_tools"),
  results: ({ input }) =>
    objects(input)
      .filter(({ type }) => /_call_output$/.test(String(type)))
      .map(({ output }) => (typeof output === "string" ? output : JSON.stringify(output))),
  reply(response, _asked, _path, said) {
    const id = `resp_${callId()}`;
    const usage = { input_tokens: 11, output_tokens: 7, total_tokens: 18 };
    const details = { input_tokens_details: { cached_tokens: 0 }, output_tokens_details: { reasoning_tokens: 0 } };
    const item = responsesItem(said);
    stream(response, [
      ["response.created", { type: "response.created", response: { id } }],
      ["response.output_item.added", { type: "response.output_item.added", output_index: 0, item }],
      ["response.output_item.done", { type: "response.output_item.done", output_index: 0, item }],
      ["response.completed", { type: "response.completed", response: { id, usage: { ...usage, ...details } } }],
    ]);
  },
};

function responsesItem(said: Said): Json {
  const common = { call_id: callId(), status: "completed" };
  if ("say" in said) {
    const content = [{ type: "output_text", text: said.say, annotations: [] }];
    return { type: "message", role: "assistant", id: `msg_${common.call_id}`, content };
  }
  if ("text" in said) return { type: "custom_tool_call", ...common, name: said.call, input: said.text };
  const { call: name, input } = said;
  const namespace = "namespace" in said ? said.namespace : undefined;
  return { type: "function_call", ...common, name, arguments: JSON.stringify(input), ...(namespace && { namespace }) };
}

const chat: Dialect = {
  path: /\/chat\/completions(\?|$)/,
  aside: "A title",
  offersTools: hasTools,
  results: ({ messages }) =>
    objects(messages)
      .filter(({ role }) => role === "tool")
      .map(({ content }) => (typeof content === "string" ? content : JSON.stringify(content))),
  reply(response, { model, stream: isStream }, _path, said) {
    const calls = "call" in said ? [said, ...("beside" in said ? [said.beside] : [])] : [];
    const tool_calls = calls.map((one, index) => {
      const fn = { name: one.call, arguments: JSON.stringify(inputOf(one)) };
      return { index, id: callId(), type: "function", function: fn };
    });
    const message =
      "call" in said
        ? { role: "assistant", content: null, tool_calls }
        : { role: "assistant", content: "say" in said ? said.say : "" };
    const finish_reason = "call" in said ? "tool_calls" : "stop";
    const usage = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 };
    const head = { id: "chat_1", created: 1, model };
    if (!isStream) {
      return whole(response, {
        ...head,
        object: "chat.completion",
        choices: [{ index: 0, message, finish_reason }],
        usage,
      });
    }
    const chunk = (delta: Json, reason: string | null): Json => {
      return { ...head, object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason: reason }] };
    };
    stream(response, [
      [null, chunk(message, null)],
      [null, { ...chunk({}, finish_reason), usage }],
    ]);
  },
};

const gemini: Dialect = {
  path: /:(stream)?generateContent(\?|$)/i,
  /** The answer to the routing call, in the form that it accepts. */
  aside: JSON.stringify({ reasoning: "Simple.", model_choice: "flash", complexity_reasoning: "", complexity_score: 1 }),
  offersTools: ({ tools }) =>
    objects(tools).some(({ functionDeclarations }) => objects(functionDeclarations).length > 0),
  results: ({ contents }) =>
    objects(contents)
      .flatMap(({ parts }) => objects(parts))
      .flatMap(({ functionResponse }) => (functionResponse === undefined ? [] : [JSON.stringify(functionResponse)])),
  reply(response, _asked, path, said) {
    const part = "call" in said ? { functionCall: { name: said.call, args: inputOf(said) } } : { text: said.say };
    const body = {
      candidates: [{ content: { role: "model", parts: [part] }, finishReason: "STOP", index: 0 }],
      usageMetadata: { promptTokenCount: 11, candidatesTokenCount: 7, totalTokenCount: 18 },
    };
    if (!path.includes("streamGenerateContent")) return whole(response, body);
    stream(response, [[null, body]]);
  },
};

const DIALECTS = [anthropic, responses, chat, gemini];
