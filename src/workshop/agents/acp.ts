import type { ReadableNote } from "../../requests/model/agent-note.ts";
import type { JsonObject } from "../../lib/json/json-body.ts";
import { VERSION } from "../../lib/version.ts";
import { pathFromTree, writing } from "../../tasks/model/action.ts";
import type { Agent, AgentEnd, AgentOrder, AgentPipes, AgentCallbacks } from "./agent.ts";
import { NOT_FOUND, openTreeFiles, type TreeFiles } from "./acp-files.ts";
import { FLAVOURS, launchAcp } from "./acp-launch.ts";
import { acpDeeds, inputOf, writesOf } from "./acp-tools.ts";
import { AcpUpdates } from "./acp-updates.ts";
import { answerElicitation } from "./elicitation.ts";
import { countOf, isObject, objectOf, objectsOf, shown, textOf } from "./json-lines.ts";
import { METHOD_NOT_FOUND, Rpc, RpcError, RpcGone } from "./rpc.ts";

const ACP_VERSION = 1;
const DENIED = -32603;
const TOO_LONG = "A call was denied: it is too long to be shown to anybody. Do it in smaller parts.";

/** Any agent that speaks the Agent Client Protocol, version 1 (spec/assignment 7). */
export const acp: Agent = {
  type: "acp",
  needsSandbox: true,
  launch: launchAcp,
  converse: (order, pipes, callbacks, interrupt) => new Conversation(order, pipes, callbacks, interrupt).run(),
};

class Conversation {
  readonly #order: AgentOrder;
  readonly #pipes: AgentPipes;
  readonly #callbacks: AgentCallbacks;
  readonly #interrupt: AbortSignal;
  readonly #rpc: Rpc;
  readonly #files: TreeFiles;
  readonly #updates: AcpUpdates;
  /** Texts that the agent has permission to write, by path. The agent then writes them through this adapter. */
  readonly #granted = new Map<string, string>();
  /** Reasons of denials in this turn: the protocol's answer has no field for them. */
  #reasons: string[] = [];
  /** Notes for the next turn: the protocol has one prompt at a time. */
  #notes: ReadableNote[] = [];
  #session = "";

  constructor(order: AgentOrder, pipes: AgentPipes, callbacks: AgentCallbacks, interrupt: AbortSignal) {
    this.#order = order;
    this.#pipes = pipes;
    this.#callbacks = callbacks;
    this.#interrupt = interrupt;
    this.#files = openTreeFiles(order.tree, order.treeOutside);
    this.#updates = new AcpUpdates(callbacks);
    const notice = (method: string, params: JsonObject) => {
      if (method === "session/update") this.#updates.take(objectOf(params["update"]));
      // A request that is withdrawn is still answered, as cancelled.
      else if (method === "$/cancel_request") this.#rpc.withdraw(params["requestId"], { isSettled: false });
    };
    this.#rpc = new Rpc(
      pipes,
      { jsonrpc: "2.0" },
      {
        request: (method, params, withdrawn) => this.#serve(method, params, withdrawn),
        notice,
        refused: () => void this.#reasons.push(TOO_LONG),
      },
    );
  }

  async run(): Promise<AgentEnd> {
    const stop = () => this.#cancel();
    const gone = this.#rpc.readMessages().then(() => this.#gone());
    this.#interrupt.addEventListener("abort", stop, { once: true });
    try {
      const worked = this.#work().catch((error: unknown) => (error instanceof RpcGone ? gone : failure(error)));
      const end = await Promise.race([gone, worked]);
      return this.#interrupt.aborted ? { kind: "interrupted" } : end;
    } finally {
      this.#updates.flush();
      this.#interrupt.removeEventListener("abort", stop);
      this.#pipes.closeInput();
    }
  }

  async #work(): Promise<AgentEnd> {
    const clientCapabilities = {
      fs: { readTextFile: true, writeTextFile: true },
      terminal: false,
      elicitation: { form: {}, url: {} },
    };
    const clientInfo = { name: "parley", title: "Parley", version: VERSION };
    const met = await this.#rpc.request("initialize", { protocolVersion: ACP_VERSION, clientCapabilities, clientInfo });
    if (met["protocolVersion"] !== ACP_VERSION) return failed("The agent does not speak version 1 of ACP.");
    const lost = await this.#open(objectOf(met["agentCapabilities"]));
    if (lost) return lost;
    this.#callbacks.session(this.#session, textOf(objectOf(met["agentInfo"])["version"]));
    this.#callbacks.onNote((note) => void this.#notes.push(note));
    let text = this.#order.message;
    let notes: ReadableNote[] = [];
    for (;;) {
      if (this.#interrupt.aborted) return { kind: "interrupted" };
      const prompted = this.#rpc.request("session/prompt", {
        sessionId: this.#session,
        prompt: [{ type: "text", text }],
      });
      for (const { id } of notes.splice(0)) this.#callbacks.noted(id);
      const done = await prompted;
      this.#updates.flush();
      // Nobody waits any more for what the turn has left open.
      this.#rpc.withdrawAll();
      this.#count(done);
      const { stopReason } = done;
      const reasons = this.#reasons.splice(0);
      if (stopReason === "cancelled" && !this.#interrupt.aborted) return failed("The agent broke off its turn.");
      // A denial ends the turn of some agents, and no agent has received the reason yet.
      if (reasons.length > 0 && (stopReason === "end_turn" || stopReason === "refusal")) {
        text = `${reasons.join("\n")}\n\nGo on with the task, if there is still something to do.`;
        continue;
      }
      if (stopReason === "end_turn") notes = this.#notes.splice(0);
      if (notes.length > 0) {
        text = notes.map((note) => note.text).join("\n\n");
        continue;
      }
      if (stopReason === "end_turn") return { kind: "done", ...this.#updates.summary() };
      return failed(`The agent stopped: ${shown(textOf(stopReason) ?? "it did not say why")}.`);
    }
  }

  /** Begins a session, or goes on with one; returns the end where it is not known any more. */
  async #open(capabilities: JsonObject): Promise<AgentEnd | null> {
    const { tree, resume } = this.#order;
    const where = { cwd: tree, mcpServers: this.#mcpServers(capabilities) };
    if (resume === null) {
      this.#session = textOf((await this.#rpc.request("session/new", where))["sessionId"]) ?? "";
      return null;
    }
    const canResume = isObject(objectOf(capabilities["sessionCapabilities"])["resume"]);
    if (!canResume && capabilities["loadSession"] !== true) {
      return { kind: "died", error: "The agent cannot go on with a session.", canResume: false };
    }
    this.#session = resume;
    this.#updates.mute();
    try {
      // A load tells all of the session anew, which a resume leaves out.
      await this.#rpc.request(canResume ? "session/resume" : "session/load", { sessionId: resume, ...where });
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      return { kind: "died", error: `The agent lost its session: ${error.message}`, canResume: false };
    }
    this.#updates.unmute();
    return null;
  }

  #mcpServers(capabilities: JsonObject): JsonObject[] {
    const { mcp, settings } = this.#order;
    if (FLAVOURS[settings.flavour].knowsParley) return [];
    if (objectOf(capabilities["mcpCapabilities"])["http"] !== true) {
      this.#callbacks.error("The agent does not speak MCP over HTTP, so it cannot ask people by itself.");
      return [];
    }
    const headers = [{ name: "Authorization", value: `Bearer ${mcp.token}` }];
    return [{ type: "http", name: "parley", url: mcp.url, headers }];
  }

  #cancel(): void {
    if (this.#session !== "") this.#rpc.notify("session/cancel", { sessionId: this.#session });
  }

  #serve(method: string, params: JsonObject, withdrawn: AbortSignal): Promise<unknown> {
    switch (method) {
      case "session/request_permission":
        return this.#permission(params, withdrawn);
      case "elicitation/create":
        return this.#elicitation(params, withdrawn);
      case "fs/read_text_file":
        return this.#read(params);
      case "fs/write_text_file":
        return this.#write(params, withdrawn);
      default:
        return Promise.reject(new RpcError(METHOD_NOT_FOUND, "Parley does not know this request."));
    }
  }

  async #elicitation(params: JsonObject, withdrawn: AbortSignal): Promise<JsonObject> {
    const answer = await answerElicitation(this.#callbacks, { tool: "elicitation", source: {}, params }, withdrawn);
    if (this.#interrupt.aborted) return { action: "cancel" };
    return answer.action === "accept" ? { ...answer } : { action: answer.action };
  }

  async #permission(params: JsonObject, withdrawn: AbortSignal): Promise<JsonObject> {
    const asked = objectOf(params["toolCall"]);
    const isDiff = writesOf(asked).length > 0;
    if (!isDiff) await this.#updates.inputTold(asked, { clock: this.#pipes.clock, signal: withdrawn });
    const { name, call } = this.#updates.known(asked);
    const options = objectsOf(params["options"]);
    const chosen = (kind: string): JsonObject => {
      // An "always" is never chosen: what may be done without asking is Parley's to remember.
      const optionId = textOf(options.find((one) => one["kind"] === kind)?.["optionId"]);
      return { outcome: optionId === undefined ? { outcome: "cancelled" } : { outcome: "selected", optionId } };
    };
    const input = inputOf(asked, call);
    for (const deed of acpDeeds(call, name, this.#order.tree)) {
      const permissionRequest = { tool: name, input, ...deed };
      const decision = await this.#callbacks.permission(permissionRequest, withdrawn, textOf(asked["toolCallId"]));
      if (decision.allow) continue;
      if (decision.canceled || this.#interrupt.aborted) return { outcome: { outcome: "cancelled" } };
      this.#reasons.push(`${name} was denied: ${decision.why}`);
      return chosen("reject_once");
    }
    if (this.#interrupt.aborted) return { outcome: { outcome: "cancelled" } };
    for (const { path, text } of writesOf(call)) this.#granted.set(pathFromTree(path, this.#order.tree), text);
    return chosen("allow_once");
  }

  async #read(params: JsonObject): Promise<JsonObject> {
    const [line, limit] = [countOf(params["line"]), countOf(params["limit"])];
    try {
      return { content: await this.#files.read(textOf(params["path"]) ?? "", { line, limit }) };
    } catch (error) {
      const isMissing = error instanceof RpcError && error.code === NOT_FOUND;
      if (isMissing && FLAVOURS[this.#order.settings.flavour].takesMissingAsEmpty) return { content: "" };
      throw error;
    }
  }

  /** Some agents write through us what was allowed before, some without asking first: that is asked here. */
  async #write(params: JsonObject, withdrawn: AbortSignal): Promise<JsonObject> {
    const [path, content] = [textOf(params["path"]) ?? "", textOf(params["content"]) ?? ""];
    const deed = writing(path, this.#order.tree);
    const isGranted = this.#granted.get(deed.resource) === content;
    this.#granted.delete(deed.resource);
    if (!isGranted) {
      const input = { tool: "fs/write_text_file", input: { path, content }, ...deed, diff: content };
      const decision = await this.#callbacks.permission(input, withdrawn);
      if (!decision.allow) throw new RpcError(DENIED, decision.why);
    }
    await this.#files.write(path, content);
    return {};
  }

  /** Counts the tokens of a turn. The usage that other agents report in this field covers only their last message. */
  #count(done: JsonObject): void {
    const tokens = objectOf(objectOf(objectOf(done["_meta"])["quota"])["token_count"]);
    const [inputTokens, outputTokens] = [countOf(tokens["input_tokens"]), countOf(tokens["output_tokens"])];
    if (inputTokens !== undefined && outputTokens !== undefined) this.#updates.addTokens(inputTokens, outputTokens);
  }

  async #gone(): Promise<AgentEnd> {
    const { code, signal, stderr } = await this.#pipes.exited;
    const error = `The agent ended without a result (${signal ?? `exit code ${code}`}).${stderr && `\n${stderr}`}`;
    return { kind: "died", error, canResume: this.#session !== "" };
  }
}

const failed = (error: string): AgentEnd => ({ kind: "failed", error });

function failure(error: unknown): AgentEnd {
  return failed(shown(`The agent refused: ${error instanceof Error ? error.message : String(error)}`));
}
