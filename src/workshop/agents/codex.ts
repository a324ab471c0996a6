import type { ReadableNote } from "../../requests/model/agent-note.ts";
import type { JsonObject } from "../../lib/json/json-body.ts";
import { VERSION } from "../../lib/version.ts";
import type { AttemptUsage } from "../../tasks/model/task.ts";
import type { Agent, AgentEnd, AgentOrder, AgentPipes, ToolUseEnd, Launch, AgentCallbacks } from "./agent.ts";
import { CodexRequests } from "./codex-requests.ts";
import { endedUse } from "./ended-use.ts";
import { writeHomeFile } from "./home-files.ts";
import { countOf, objectOf, objectsOf, shown, textOf } from "./json-lines.ts";
import { TOOL_TIMEOUT_MS } from "./parley-tools.ts";
import { Rpc, RpcError, RpcGone } from "./rpc.ts";

const TOKEN = "PARLEY_MCP_TOKEN";
const FOLDER = ".codex";
const START_TIMEOUT_S = 120;
const KEYS = ["CODEX_API_KEY", "OPENAI_API_KEY"];

/** Codex CLI, over its app server (spec/assignment 7); `codex exec` would never ask. */
export const codex: Agent = {
  type: "codex",
  needsSandbox: false,
  launch,
  converse: (order, pipes, callbacks, interrupt) => new Conversation(order, pipes, callbacks).run(interrupt),
};

async function launch({ settings, home, homeOutside, mcp, env }: AgentOrder): Promise<Launch> {
  await writeHomeFile(homeOutside, `${FOLDER}/config.toml`, configOf(env));
  const server = [
    `url=${JSON.stringify(mcp.url)}`,
    `bearer_token_env_var=${JSON.stringify(TOKEN)}`,
    `tool_timeout_sec=${TOOL_TIMEOUT_MS / 1000}`,
    // A machine that is busy is waited for: without its server the agent would go to work with nobody to ask.
    `startup_timeout_sec=${START_TIMEOUT_S}`,
    'default_tools_approval_mode="approve"',
  ].join(",");
  return {
    argv: [settings.command[0] ?? "codex", "app-server", "-c", `mcp_servers.parley={${server}}`],
    env: { ...env, CODEX_HOME: `${home}/${FOLDER}`, [TOKEN]: mcp.token },
  };
}

/** Returns what stands in its own settings: where its model is, if not where it usually is. */
function configOf(env: AgentOrder["env"]): string {
  const url = env["OPENAI_BASE_URL"];
  const provider = [
    'model_provider = "given"',
    "[model_providers.given]",
    'name = "given"',
    `base_url = ${JSON.stringify(url)}`,
    'wire_api = "responses"',
    `env_key = ${JSON.stringify(KEYS.find((name) => env[name]) ?? KEYS[0])}`,
  ];
  // The key is given anew each time, and stays in no file.
  const always = ['cli_auth_credentials_store = "ephemeral"', "analytics.enabled = false"];
  return [...always, ...(url ? provider : []), ""].join("\n");
}

class Conversation {
  readonly #order: AgentOrder;
  readonly #pipes: AgentPipes;
  readonly #callbacks: AgentCallbacks;
  readonly #rpc: Rpc;
  readonly #requests: CodexRequests;
  #thread = "";
  #turn = "";
  /** Notes that its turn has not taken: they begin the next. */
  #notes: ReadableNote[] = [];
  #isInterrupted = false;
  #usage: AttemptUsage = {};
  #lastWords: string | undefined;
  readonly #end = Promise.withResolvers<AgentEnd>();

  constructor(order: AgentOrder, pipes: AgentPipes, callbacks: AgentCallbacks) {
    this.#order = order;
    this.#pipes = pipes;
    this.#callbacks = callbacks;
    this.#requests = new CodexRequests(callbacks, order.tree, (why) => this.#explain(why));
    const request = (method: string, params: JsonObject, withdrawn: AbortSignal) =>
      this.#requests.answer(method, params, withdrawn);
    this.#rpc = new Rpc(
      pipes,
      {},
      {
        request,
        notice: (method, params) => this.#notice(method, params),
        refused: () => this.#explain("it is too long to be shown to anybody; do it in smaller parts"),
      },
    );
  }

  async run(interrupt: AbortSignal): Promise<AgentEnd> {
    const stop = () => this.#interrupt();
    const gone = this.#rpc.readMessages().then(() => this.#gone());
    interrupt.addEventListener("abort", stop, { once: true });
    try {
      const started = this.#start(interrupt).then(() => this.#end.promise);
      const end = await Promise.race([gone, started.catch((error: unknown) => this.#failure(error, gone))]);
      return interrupt.aborted ? { kind: "interrupted" } : end;
    } finally {
      interrupt.removeEventListener("abort", stop);
      this.#pipes.closeInput();
    }
  }

  async #start(interrupt: AbortSignal): Promise<void> {
    const { tree, jailed, message, resume } = this.#order;
    const clientInfo = { name: "parley", title: "Parley", version: VERSION };
    const { userAgent } = await this.#rpc.request("initialize", { clientInfo });
    this.#rpc.notify("initialized");
    await this.#logIn();
    // Begun with more than reading, a thread would mark the folder trusted, and its `.codex/config.toml` would be obeyed.
    const how = { cwd: tree, approvalPolicy: "untrusted", sandbox: "read-only" };
    const { thread } = await (resume === null
      ? this.#rpc.request("thread/start", how)
      : this.#rpc.request("thread/resume", { threadId: resume, ...how }).catch(lostSession));
    this.#thread = textOf(objectOf(thread)["id"]) ?? "";
    this.#callbacks.session(this.#thread, /\/(\d[\w.-]*)/.exec(textOf(userAgent) ?? "")?.[1]);
    if (interrupt.aborted) return this.#end.resolve({ kind: "interrupted" });
    const { turn } = await this.#rpc.request("turn/start", {
      threadId: this.#thread,
      input: input(message),
      sandboxPolicy: jailed ? JAILED : sandboxOf(tree),
    });
    this.#turn ||= textOf(objectOf(turn)["id"]) ?? "";
    if (interrupt.aborted) this.#interrupt();
    this.#callbacks.onNote((note) => void this.#steer(note));
  }

  /** Sends a note into the turn under way, which Codex reads after the step that it is at. */
  async #steer(note: ReadableNote): Promise<void> {
    this.#notes.push(note);
    const params = { threadId: this.#thread, expectedTurnId: this.#turn, input: input(note.text) };
    const taken = await this.#rpc.request("turn/steer", params).catch(() => null);
    // One that came between two turns is sent with the next.
    if (taken && this.#notes.includes(note)) this.#note([note]);
  }

  #note(taken: readonly ReadableNote[]): void {
    this.#notes = this.#notes.filter((one) => !taken.includes(one));
    for (const { id } of taken) this.#callbacks.noted(id);
  }

  /** Begins another turn with the notes that came too late for the one before. */
  async #nextTurn(): Promise<void> {
    const late = [...this.#notes];
    const { tree, jailed } = this.#order;
    const { turn } = await this.#rpc.request("turn/start", {
      threadId: this.#thread,
      input: late.flatMap(({ text }) => input(text)),
      sandboxPolicy: jailed ? JAILED : sandboxOf(tree),
    });
    this.#turn = textOf(objectOf(turn)["id"]) ?? this.#turn;
    this.#note(late);
    if (this.#isInterrupted) this.#interrupt();
  }

  /** The app server takes no key from its environment. Without one it may know its provider otherwise. */
  async #logIn(): Promise<void> {
    const apiKey = KEYS.map((name) => this.#order.env[name]).find(Boolean);
    if (apiKey !== undefined) await this.#rpc.request("account/login/start", { type: "apiKey", apiKey });
  }

  #interrupt(): void {
    this.#isInterrupted = true;
    if (this.#turn === "") return;
    void this.#rpc.request("turn/interrupt", { threadId: this.#thread, turnId: this.#turn }).catch(() => {});
  }

  /** Sends the model, within its turn, the reason of a denial. */
  #explain(why: string): void {
    const text = input(`That was denied: ${why}`);
    const params = { threadId: this.#thread, expectedTurnId: this.#turn, input: text };
    void this.#rpc.request("turn/steer", params).catch(() => {});
  }

  #notice(method: string, params: JsonObject): void {
    const thread = textOf(params["threadId"]);
    const item = objectOf(params["item"]);
    if (method === "serverRequest/resolved") return this.#rpc.withdraw(params["requestId"], { isSettled: true });
    if (thread !== undefined && this.#thread !== "" && thread !== this.#thread) {
      // Helpers of the agent have threads of their own: of these people see what they were asked for, and its end.
      if (method === "item/completed" && this.#requests.wasAsked(textOf(item["id"]) ?? "")) this.#finished(item);
      return;
    }
    if (method === "turn/started") this.#turn = textOf(objectOf(params["turn"])["id"]) ?? this.#turn;
    else if (method === "turn/completed") this.#completed(objectOf(params["turn"]));
    else if (method === "item/started") this.#started(item);
    else if (method === "item/completed") this.#finished(item);
    else if (method === "item/fileChange/patchUpdated") this.#noteChanges(textOf(params["itemId"]), params["changes"]);
    else if (method === "thread/tokenUsage/updated") this.#count(objectOf(objectOf(params["tokenUsage"])["total"]));
    else if (method === "error")
      this.#callbacks.error(shown(textOf(objectOf(params["error"])["message"]) ?? "an error"));
    else if (/^(warning|configWarning|guardianWarning)$/.test(method)) {
      this.#callbacks.error(shown(textOf(params["message"]) ?? textOf(params["summary"]) ?? method));
    }
  }

  #started(item: JsonObject): void {
    const id = textOf(item["id"]);
    if (item["type"] === "fileChange") this.#noteChanges(id, item["changes"]);
    const use = useOf(item);
    if (use) this.#callbacks.tool(use);
  }

  #noteChanges(id: string | undefined, changes: unknown): void {
    if (id !== undefined) this.#requests.note(id, objectsOf(changes));
  }

  #finished(item: JsonObject): void {
    this.#requests.forget(textOf(item["id"]) ?? "");
    const { type } = item;
    if (type === "agentMessage" || type === "reasoning") {
      const summary = Array.isArray(item["summary"]) ? item["summary"].filter((one) => typeof one === "string") : [];
      const text = textOf(item["text"]) ?? summary.join("\n");
      if (type === "agentMessage") this.#lastWords = text;
      if (text.trim() !== "") this.#callbacks.message(shown(text));
      return;
    }
    const use = useOf(item);
    if (use) this.#callbacks.tool({ name: use.name, ...resultOf(item), ended: endedItem(item) });
  }

  #count(total: JsonObject): void {
    const [inputTokens, outputTokens] = [countOf(total["inputTokens"]), countOf(total["outputTokens"])];
    this.#usage = {
      turns: (this.#usage.turns ?? 0) + 1,
      ...(inputTokens !== undefined && { inputTokens }),
      ...(outputTokens !== undefined && { outputTokens }),
    };
    this.#callbacks.usage(this.#usage);
  }

  #completed(turn: JsonObject): void {
    if (this.#turn !== "" && textOf(turn["id"]) !== this.#turn) return;
    const usage = this.#usage;
    const { status } = turn;
    if (status === "completed" && this.#notes.length > 0 && !this.#isInterrupted)
      return void this.#nextTurn().catch((error: unknown) => this.#end.reject(error));
    if (status === "completed") {
      const summary = this.#lastWords;
      return this.#end.resolve({ kind: "done", ...(summary !== undefined && { summary: shown(summary) }), usage });
    }
    if (status === "interrupted")
      return this.#end.resolve({ kind: "failed", error: "Codex broke off its turn.", usage });
    const error = textOf(objectOf(turn["error"])["message"]) ?? "Codex failed and did not say why.";
    this.#end.resolve({ kind: "failed", error: shown(error), usage });
  }

  async #failure(error: unknown, gone: Promise<AgentEnd>): Promise<AgentEnd> {
    if (error instanceof RpcGone) return gone;
    if (error instanceof LostSession) return { kind: "died", error: error.message, canResume: false };
    return { kind: "failed", error: `Codex refused: ${error instanceof Error ? error.message : String(error)}` };
  }

  async #gone(): Promise<AgentEnd> {
    const { code, signal, stderr } = await this.#pipes.exited;
    const error = `Codex ended without a result (${signal ?? `exit code ${code}`}).${stderr && `\n${stderr}`}`;
    return { kind: "died", error, canResume: this.#turn !== "" || this.#order.resume !== null };
  }
}

/** The agent does not know the session it was to go on with. */
class LostSession extends Error {}

function lostSession(error: unknown): never {
  throw error instanceof RpcError ? new LostSession(error.message) : error;
}

const JAILED = { type: "externalSandbox", networkAccess: "restricted" } as const;

function sandboxOf(tree: string): JsonObject {
  const temporary = { excludeTmpdirEnvVar: true, excludeSlashTmp: true };
  return { type: "workspaceWrite", writableRoots: [tree], networkAccess: false, ...temporary };
}

const input = (text: string): JsonObject[] => [{ type: "text", text, text_elements: [] }];

function useOf(item: JsonObject): { name: string; input: unknown } | null {
  switch (item["type"]) {
    case "commandExecution":
      return { name: "commandExecution", input: { command: item["command"], cwd: item["cwd"] } };
    case "fileChange":
      return { name: "fileChange", input: { changes: item["changes"] } };
    case "mcpToolCall":
      return { name: `mcp:${textOf(item["server"]) ?? ""}/${textOf(item["tool"]) ?? ""}`, input: item["arguments"] };
    case "webSearch":
      return { name: "webSearch", input: { query: item["query"] } };
    default:
      return null;
  }
}

function endedItem(item: JsonObject): ToolUseEnd {
  const { id, aggregatedOutput: output, exitCode: code, result, error, changes, status } = item;
  const whole = textOf(output) ?? JSON.stringify(result ?? error ?? changes ?? null);
  return { ...endedUse(textOf(id) ?? "", whole, countOf(code)), ...(status === "declined" && { isDeclined: true }) };
}

function resultOf(item: JsonObject): { result: string; isError: boolean } {
  const [output, code] = [textOf(item["aggregatedOutput"]), item["exitCode"]];
  const { result, error, status } = item;
  const words =
    output ?? textOf(objectOf(error)["message"]) ?? (result ? JSON.stringify(objectOf(result)["content"]) : "");
  const isError = status === "failed" || status === "declined" || (typeof code === "number" && code !== 0);
  return { result: shown(words || (textOf(status) ?? "")), isError };
}
