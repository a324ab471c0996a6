import type { Clock } from "../lib/clock.ts";
import { membersOf } from "../lib/json/exact-json.ts";
import { ServerUnreachable, RequestRefused, type GateClient } from "./gate-client.ts";
import {
  errorLine,
  isRequest,
  isResponse,
  keyOf,
  NotPassedOn,
  readClientLine,
  readServerLine,
  type RpcMessage,
  type RpcIdentity,
  type RpcJson,
} from "./messages.ts";
import { answerCall } from "./run-call.ts";
import { openToolList, toolsIn, type ToolList } from "./tool-list.ts";

export interface GatewayOptions {
  /** The gate's name. */
  gate: string;
  client: GateClient;
  clock: Clock;
  newRun: () => string;
  /** How long a client is held that receives no progress. */
  holdMs: number;
  toClient(line: string): void;
  toServer(line: string): void;
  /** Receives errors of the gateway itself. */
  onError(error: unknown): void;
}

const INVALID_REQUEST = -32600;
const INTERNAL = -32603;

/**
 * One connection of a client to an MCP server, with a gate in between. Every message is passed on as it came, in both
 * directions, but for `tools/call`, which waits for an approval, and `tools/list`, from which what is not what was
 * accepted is left out (spec/gate 6).
 */
export class Gateway {
  readonly #options: GatewayOptions;
  readonly #tools: ToolList;
  /** Calls of the client, from when they come to when they are answered. */
  readonly #calls = new Map<string, { abort: AbortController; done: Promise<void> }>();
  /** The callers that wait for each answer of the server. */
  readonly #waiting = new Map<string, (answer: RpcMessage | null) => void>();
  readonly #listing = new Set<string>();
  readonly #gone = new AbortController();
  #isServerGone = false;

  constructor(options: GatewayOptions) {
    this.#options = options;
    this.#tools = openToolList((method, params) => this.#askServer(method, params));
  }

  /** Takes a line of the client. */
  fromClient(line: string): void {
    if (line.trim() === "") return;
    const { toClient, toServer } = this.#options;
    let message: RpcMessage;
    try {
      message = readClientLine(line);
    } catch (error) {
      if (!(error instanceof NotPassedOn)) throw error;
      return toClient(error.answer);
    }
    const { id, method } = message;
    if (method === "tools/call") {
      if (id !== undefined) this.#takeCall(message, id);
      else if (isRequest(message)) toClient(errorLine(id, INVALID_REQUEST, "The id is none"));
      return;
    }
    if (method === "notifications/cancelled") return this.#cancel(message);
    if (method === "tools/list" && id !== undefined) this.#listing.add(keyOf(id));
    toServer(line);
  }

  /** Takes a line of the server. */
  fromServer(line: string): void {
    const messages = readServerLine(line);
    if (messages.length === 0) this.#options.toClient(line);
    for (const message of messages) this.#takeAnswer(message);
  }

  /** The client sends no more: waits end, and what was asked stays asked. */
  clientGone(): void {
    this.#gone.abort();
    for (const { abort } of this.#calls.values()) abort.abort();
  }

  /** The server sends no more; resolves once it is stored that what ran has no known end. */
  async serverGone(): Promise<void> {
    this.#isServerGone = true;
    const waiters = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const answer of waiters) answer(null);
    await Promise.all([...this.#calls.values()].map(({ done }) => done));
  }

  #takeAnswer(message: RpcMessage): void {
    const { id, method, line, json } = message;
    const key = isResponse(message) && id !== undefined ? keyOf(id) : "";
    const waiter = this.#waiting.get(key);
    if (method === "notifications/tools/list_changed") this.#tools.forget();
    if (waiter) {
      this.#waiting.delete(key);
      waiter(message);
    } else if (this.#listing.delete(key) && "result" in json) void this.#passList(message);
    else this.#options.toClient(line);
  }

  #exchange(id: RpcIdentity, line: string): Promise<RpcMessage | null> {
    if (this.#isServerGone) return Promise.resolve(null);
    return new Promise((resolve) => {
      this.#waiting.set(keyOf(id), resolve);
      this.#options.toServer(line);
    });
  }

  async #askServer(method: string, params: RpcJson): Promise<RpcJson> {
    const id = `parley-gate-${this.#options.newRun()}`;
    const answer = await this.#exchange(id, JSON.stringify({ jsonrpc: "2.0", id, method, params }));
    return membersOf(answer?.json["result"]);
  }

  #takeCall(call: RpcMessage, id: RpcIdentity): void {
    const key = keyOf(id);
    if (this.#calls.has(key) || this.#waiting.has(key)) {
      return this.#options.toClient(errorLine(id, INVALID_REQUEST, "This id is that of a request under way"));
    }
    const abort = new AbortController();
    const exchange = (same: RpcIdentity, line: string) => this.#exchange(same, line);
    const done = answerCall({ ...this.#options, tools: this.#tools, exchange }, call, abort.signal)
      .catch(this.#options.onError)
      .finally(() => this.#calls.delete(key));
    this.#calls.set(key, { abort, done });
  }

  /** Gives up a call that waits, of which its server knows nothing. A call that runs is given up by the server. */
  #cancel(message: RpcMessage): void {
    const { requestId } = message.params;
    const key = typeof requestId === "string" || typeof requestId === "number" ? keyOf(requestId) : "";
    const call = this.#calls.get(key);
    if (!call || this.#waiting.has(key)) this.#options.toServer(message.line);
    call?.abort.abort();
  }

  async #passList(answer: RpcMessage): Promise<void> {
    const { client, toClient, onError } = this.#options;
    const listed = toolsIn(membersOf(answer.json["result"]));
    this.#tools.note(listed);
    try {
      const heldBack = listed.length === 0 ? new Set<string>() : await client.heldBack(listed, this.#gone.signal);
      toClient(heldBack.size === 0 ? answer.line : withoutTools(answer, heldBack));
    } catch (error) {
      if (this.#gone.signal.aborted) return;
      const isNotified = error instanceof ServerUnreachable || error instanceof RequestRefused;
      if (!isNotified) onError(error);
      toClient(errorLine(answer.id, INTERNAL, isNotified ? error.message : "The gate could not pass this on"));
    }
  }
}

function withoutTools({ json }: RpcMessage, heldBack: ReadonlySet<unknown>): string {
  const result = membersOf(json["result"]);
  const kept = (result["tools"] as unknown[]).filter((tool) => !heldBack.has(membersOf(tool)["name"]));
  return JSON.stringify({ ...json, result: { ...result, tools: kept } });
}
