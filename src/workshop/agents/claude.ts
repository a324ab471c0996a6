import type { ReadableNote } from "../../requests/model/agent-note.ts";
import type { JsonObject } from "../../lib/json/json-body.ts";
import { sha256Hex } from "../../lib/secrets/keyring.ts";
import { chosenLabels } from "../../lib/chosen-labels.ts";
import type { AttemptUsage } from "../../tasks/model/task.ts";
import { MOST_QUESTIONS, TOO_MANY_QUESTIONS } from "./agent.ts";
import type { Agent, AgentEnd, AgentOrder, AgentPipes, Launch, AgentQuestion, AgentCallbacks } from "./agent.ts";
import { claudePermission } from "./claude-tools.ts";
import { writeHomeFile } from "./home-files.ts";
import { countOf, objectOf, objectsOf, readObject, shown, textOf } from "./json-lines.ts";
import { endedUse } from "./ended-use.ts";
import { PARLEY_TOOLS, TOOL_TIMEOUT_MS } from "./parley-tools.ts";

const MCP_FILE = ".parley-mcp.json";
const ASKING_TOOL = "AskUserQuestion";
/** More calls than this wait for nobody: an agent that makes them is out of its mind. */
const MOST_PENDING = 100;
/** Of whose results the tool's name is known. */
const MOST_CALLS = 1000;
/** The first line of the result of a command that failed. */
const EXIT_CODE = /^Exit code (\d{1,9})(?:\n|$)/;
const UNKNOWN_SESSION = /No conversation found/i;
const ARGUMENTS = [
  "-p",
  "--input-format",
  "stream-json",
  "--output-format",
  "stream-json",
  "--verbose",
  "--permission-prompt-tool",
  "stdio",
  "--permission-mode",
  "default",
  "--replay-user-messages",
] as const;

/** Claude Code, over lines of JSON on its standard input and output (spec/assignment 7). */
export const claude: Agent = {
  type: "claude",
  needsSandbox: false,
  launch,
  converse: (order, pipes, callbacks, interrupt) => new Conversation(order, pipes, callbacks).run(interrupt),
};

async function launch(order: AgentOrder): Promise<Launch> {
  const { settings, home, mcp, env, resume, sessionId, maxBudgetUsd } = order;
  const headers = { Authorization: `Bearer ${mcp.token}` };
  const server = { type: "http", url: mcp.url, headers, timeout: TOOL_TIMEOUT_MS };
  await writeHomeFile(order.homeOutside, MCP_FILE, JSON.stringify({ mcpServers: { parley: server } }));
  return {
    argv: [
      settings.command[0] ?? "claude",
      ...ARGUMENTS,
      "--mcp-config",
      `${home}/${MCP_FILE}`,
      "--strict-mcp-config",
      "--setting-sources",
      "",
      "--allowedTools",
      PARLEY_TOOLS.map((tool) => `mcp__parley__${tool}`).join(","),
      ...(maxBudgetUsd === null ? [] : ["--max-budget-usd", String(maxBudgetUsd)]),
      ...(resume === null ? ["--session-id", sessionId] : ["--resume", resume]),
    ],
    env: {
      ...env,
      CLAUDE_CONFIG_DIR: `${home}/.claude`,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      DISABLE_AUTOUPDATER: "1",
      DISABLE_TELEMETRY: "1",
      MCP_TOOL_TIMEOUT: String(TOOL_TIMEOUT_MS),
      CLAUDE_CODE_MCP_TOOL_IDLE_TIMEOUT: "0",
    },
  };
}

class Conversation {
  readonly #order: AgentOrder;
  readonly #pipes: AgentPipes;
  readonly #callbacks: AgentCallbacks;
  /** Ids of the model's replies: each is a turn, however many lines it comes in. */
  readonly #turns = new Set<string>();
  /** Names of the tools whose results are awaited, by call. */
  readonly #calls = new Map<string, string>();
  /** Its requests that wait for a decision, by their ids. */
  readonly #served = new Map<string, AbortController>();
  /** Ids of the notes that it has not taken up yet, by the id of their message. */
  readonly #notes = new Map<string, string>();
  #hasBegun = false;
  #isInterrupted = false;
  #pending = 0;
  #isOver = false;

  constructor(order: AgentOrder, pipes: AgentPipes, callbacks: AgentCallbacks) {
    this.#order = order;
    this.#pipes = pipes;
    this.#callbacks = callbacks;
  }

  async run(interrupt: AbortSignal): Promise<AgentEnd> {
    const stop = () => {
      this.#isInterrupted = true;
      this.#write(request("parley-interrupt", { subtype: "interrupt" }));
    };
    this.#write(request("parley-initialize", { subtype: "initialize", hooks: null }));
    this.#write({ type: "user", message: { role: "user", content: this.#order.message } });
    interrupt.addEventListener("abort", stop, { once: true });
    if (interrupt.aborted) stop();
    this.#callbacks.onNote((note) => this.#sendNote(note));
    try {
      for await (const line of this.#pipes.lines) {
        const end = this.#take(line);
        if (end) return interrupt.aborted ? { kind: "interrupted" } : end;
      }
    } finally {
      this.#isOver = true;
      interrupt.removeEventListener("abort", stop);
      this.#pipes.closeInput();
    }
    const { code, signal, stderr } = await this.#pipes.exited;
    if (interrupt.aborted) return { kind: "interrupted" };
    const how = signal ?? `exit code ${code}`;
    const isLost = this.#order.resume !== null && UNKNOWN_SESSION.test(stderr);
    const error = `Claude Code ended without a result (${how}).${stderr && `\n${stderr}`}`;
    return { kind: "died", error, canResume: !isLost && (this.#hasBegun || this.#order.resume !== null) };
  }

  /** Does what a line is about; returns the end when it was the last. */
  #take(line: string): AgentEnd | undefined {
    const message = readObject(line);
    if (!message) return this.#refuseLong(line);
    switch (message["type"]) {
      case "system":
        return this.#system(message);
      case "assistant":
        return this.#assistant(message);
      case "user":
        this.#takeUp(textOf(message["uuid"]) ?? "");
        return this.#results(message);
      case "control_request":
        return this.#request(textOf(message["request_id"]) ?? "", objectOf(message["request"]));
      case "control_cancel_request":
        return this.#withdraw(textOf(message["request_id"]) ?? "");
      case "result":
        return this.#result(message);
      default:
        return undefined;
    }
  }

  /** It reads a message in its turn after the next tool, or in a turn of its own, and then repeats it with its id. */
  #sendNote({ id, text }: ReadableNote): void {
    const uuid = uuidOf(`${id}\n${this.#pipes.clock.now()}`);
    this.#notes.set(uuid, id);
    this.#write({ type: "user", uuid, message: { role: "user", content: text } });
  }

  #takeUp(uuid: string): void {
    const id = this.#notes.get(uuid);
    if (id === undefined) return;
    this.#notes.delete(uuid);
    this.#callbacks.noted(id);
  }

  /** A call too long to be read is denied, or Claude Code would wait for ever. */
  #refuseLong(line: string): undefined {
    const id = /^\{"type":"control_request","request_id":"([^"\\]*)"/.exec(line)?.[1];
    if (id === undefined) return;
    const response = { subtype: "success", request_id: id, response: denial("The call is too long to be shown.") };
    this.#write({ type: "control_response", response });
  }

  #system(message: JsonObject): undefined {
    if (message["subtype"] !== "init") return;
    this.#hasBegun = true;
    this.#callbacks.session(
      textOf(message["session_id"]) ?? this.#order.sessionId,
      textOf(message["claude_code_version"]),
    );
  }

  #assistant(agentMessage: JsonObject): undefined {
    const message = objectOf(agentMessage["message"]);
    for (const part of objectsOf(message["content"])) {
      const text = textOf(part["text"]) ?? textOf(part["thinking"]);
      if (text?.trim()) this.#callbacks.message(shown(text));
      const name = textOf(part["name"]);
      if (part["type"] !== "tool_use" || name === undefined) continue;
      this.#callbacks.tool({ name, input: part["input"] });
      if (this.#calls.size >= MOST_CALLS) this.#calls.clear();
      this.#calls.set(textOf(part["id"]) ?? "", name);
    }
    const id = textOf(message["id"]);
    // A message of a subagent does not count as a turn of the agent.
    if (id === undefined || textOf(agentMessage["parent_tool_use_id"]) !== undefined || this.#turns.has(id)) return;
    this.#turns.add(id);
    this.#callbacks.usage({ turns: this.#turns.size });
  }

  #results(message: JsonObject): undefined {
    for (const part of objectsOf(objectOf(message["message"])["content"])) {
      if (part["type"] !== "tool_result") continue;
      const { content } = part;
      const result =
        textOf(content) ??
        objectsOf(content)
          .map(({ text }) => textOf(text) ?? "")
          .join("\n");
      const id = textOf(part["tool_use_id"]) ?? "";
      this.#callbacks.tool({
        name: this.#calls.get(id) ?? id,
        result: shown(result),
        isError: part["is_error"] === true,
        ended: endedUse(id, result, EXIT_CODE.exec(result)?.[1]),
      });
      this.#calls.delete(id);
    }
  }

  #request(id: string, request: JsonObject): undefined {
    const tool = textOf(request["tool_name"]);
    if (request["subtype"] !== "can_use_tool" || tool === undefined) {
      const response = { subtype: "error", request_id: id, error: "Parley does not know this request." };
      this.#write({ type: "control_response", response });
      return;
    }
    void this.#decide(id, { tool, use: textOf(request["tool_use_id"]) }, objectOf(request["input"]));
  }

  /** Takes back from people what Claude Code waits for no more. After an interrupt it stays, for the resume. */
  #withdraw(id: string): undefined {
    if (!this.#isInterrupted) this.#served.get(id)?.abort();
  }

  async #decide(id: string, called: { tool: string; use: string | undefined }, input: JsonObject): Promise<void> {
    const withdrawn = new AbortController();
    this.#served.set(id, withdrawn);
    this.#pending += 1;
    const deciding = this.#permissionResult(called, input, withdrawn.signal);
    const reply = await deciding.catch((error: unknown) => denial(String(error)));
    this.#pending -= 1;
    this.#served.delete(id);
    if (withdrawn.signal.aborted) return;
    this.#write({ type: "control_response", response: { subtype: "success", request_id: id, response: reply } });
  }

  async #permissionResult(
    { tool, use }: { tool: string; use: string | undefined },
    input: JsonObject,
    withdrawn: AbortSignal,
  ): Promise<JsonObject> {
    if (this.#pending > MOST_PENDING) return denial("Too many calls wait for a decision.");
    if (tool === ASKING_TOOL) return this.#answers(input, withdrawn);
    const decision = await this.#callbacks.permission(claudePermission(tool, input, this.#order.tree), withdrawn, use);
    return decision.allow ? { behavior: "allow", updatedInput: input } : denial(decision.why);
  }

  /** Asks each of the questions; the agent gets what was answered, and for the rest why nobody did. */
  async #answers(input: JsonObject, withdrawn: AbortSignal): Promise<JsonObject> {
    const questions = objectsOf(input["questions"]).map(claudeQuestion);
    if (questions.length === 0) return denial("The call holds no question.");
    if (questions.length > MOST_QUESTIONS) return denial(TOO_MANY_QUESTIONS);
    const given = await Promise.all(questions.map((question) => this.#callbacks.question(question, withdrawn)));
    const whyNot = given.find((one) => "none" in one);
    if (whyNot && given.every((one) => "none" in one)) return denial(whyNot.why);
    const texts = given.map((one, i) => ("none" in one ? `(no answer: ${one.why})` : chosenIn(questions[i], one.text)));
    const answers = Object.fromEntries(questions.map(({ text }, i) => [text, texts[i] ?? ""]));
    return { behavior: "allow", updatedInput: { ...input, answers } };
  }

  #result(message: JsonObject): AgentEnd | undefined {
    const usage = usageOf(message);
    this.#callbacks.usage(usage);
    const summary = textOf(message["result"]);
    if (message["is_error"] !== true && message["subtype"] === "success") {
      // A note came too late for this turn: it begins another.
      if (this.#notes.size > 0) return undefined;
      return { kind: "done", ...(summary !== undefined && { summary: shown(summary) }), usage };
    }
    const errors = Array.isArray(message["errors"]) ? message["errors"].filter((one) => typeof one === "string") : [];
    const error =
      summary ?? (errors.join("\n") || textOf(message["subtype"])) ?? "Claude Code failed and did not say why.";
    if (this.#order.resume !== null && UNKNOWN_SESSION.test(error)) return { kind: "died", error, canResume: false };
    return { kind: "failed", error: shown(error), usage };
  }

  #write(message: JsonObject): void {
    if (!this.#isOver) this.#pipes.write(JSON.stringify(message));
  }
}

function request(id: string, what: JsonObject): JsonObject {
  return { type: "control_request", request_id: id, request: what };
}

/** Returns an id in the form of a UUID, the same for the same text. */
function uuidOf(text: string): string {
  const [, a, b, c, d, e] = /^(.{8})(.{4}).(.{3}).(.{3})(.{12})/.exec(sha256Hex(text)) ?? [];
  return `${a}-${b}-4${c}-8${d}-${e}`;
}

const denial = (message: string): JsonObject => ({ behavior: "deny", message });

function claudeQuestion(question: JsonObject): AgentQuestion {
  const options = objectsOf(question["options"]).flatMap(({ label, description }) => {
    const text = textOf(description);
    return typeof label === "string" ? [{ label, ...(text !== undefined && { description: text }) }] : [];
  });
  return { text: textOf(question["question"]) ?? "", options, multiple: question["multiSelect"] === true };
}

/** Returns several choices as Claude Code takes them: their labels, with commas between them. */
function chosenIn(question: AgentQuestion | undefined, words: string): string {
  if (!question?.multiple) return words;
  const labels = question.options.map(({ label }) => label);
  return chosenLabels(words, labels).join(", ");
}

function usageOf(message: JsonObject): AttemptUsage {
  const tokens = objectOf(message["usage"]);
  const inputs = ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"];
  const inputTokens = inputs.reduce((sum, name) => sum + (countOf(tokens[name]) ?? 0), 0);
  const [turns, outputTokens] = [countOf(message["num_turns"]), countOf(tokens["output_tokens"])];
  const [costUsd, workMs] = [countOf(message["total_cost_usd"]), countOf(message["duration_ms"])];
  return {
    inputTokens,
    ...(turns !== undefined && { turns }),
    ...(outputTokens !== undefined && { outputTokens }),
    ...(costUsd !== undefined && { costUsd }),
    ...(workMs !== undefined && { workMs }),
  };
}
