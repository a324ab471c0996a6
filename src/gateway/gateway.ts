import type { Clock } from "../lib/clock.ts";
import { membersOf } from "../lib/json/exact-json.ts";
import { ServerUnreachable, RequestRefused, type GateClient } from "./gate-client.ts";
import { openGathering, type Gathering } from "./gathering.ts";
import { openJudgedTools, type JudgedTools } from "./judged-tools.ts";
import {
  CALL,
  CODE,
  errorLine,
  isReadable,
  isRequest,
  keyOf,
  lineOf,
  NotPassedOn,
  readClientLine,
  readServerLine,
  type RpcMessage,
  type RpcIdentity,
  type RpcJson,
  type ServerMessage,
} from "./messages.ts";
import { openRounds, type Rounds } from "./rounds.ts";
import { answerCall } from "./run-call.ts";
import { endRun } from "./run.ts";
import { readCall } from "./tool-call.ts";
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

/** The server has so long for an answer to the gate itself: a list of its tools, or a preview. */
const ANSWER_MS = 60_000;
const SAME_ID = "This id is that of a request under way";

/**
 * One connection of a client to an MCP server, with a gate in between. The server gets each message as the gate has read
 * it, written anew; the client gets its server's lines as they came. A `tools/call` waits for an approval, and a list of
 * tools loses those that are not what was accepted (spec/gate 6).
 */
export class Gateway {
  readonly #options: GatewayOptions;
  readonly #tools: ToolList;
  readonly #judged: JudgedTools;
  readonly #gathering: Gathering;
  /** Calls of the client, from when they come to when they are answered. */
  readonly #calls = new Map<string, { abort: AbortController; done: Promise<void> }>();
  /** The callers that wait for each answer of the server. */
  readonly #waiting = new Map<string, (answer: ServerMessage | null) => void>();
  /** Other requests of the client that have no answer yet; true for one of the list of tools. */
  readonly #others = new Map<string, boolean>();
  readonly #rounds: Rounds;
  readonly #gone = new AbortController();
  #isServerGone = false;

  constructor(options: GatewayOptions) {
    this.#options = options;
    this.#tools = openToolList((...asked) => this.#askServer(...asked));
    this.#judged = openJudgedTools(options.client);
    this.#gathering = openGathering(options, this.#gone.signal);
    this.#rounds = openRounds(options.clock, (run) => endRun(options, run, { outcome: "lost" }));
  }

  /** Takes a line of the client. */
  fromClient(line: string): void {
    if (line.trim() === "") return;
    try {
      this.#takeMessage(readClientLine(line));
    } catch (error) {
      if (!(error instanceof NotPassedOn)) throw error;
      this.#options.toClient(error.answer);
    }
  }

  /** Takes a line of the server. */
  fromServer(line: string): void {
    const messages = readServerLine(line);
    if (messages.length === 0) this.#options.toClient(line);
    for (const message of messages) this.#takeAnswer(message);
  }

  #takeMessage(message: RpcMessage): void {
    const { id, method } = message;
    if (method === CALL) return this.#takeCall(message);
    if (method === "notifications/cancelled") return this.#cancel(message);
    if (method !== undefined && id !== undefined) {
      this.#refuseSameId(id);
      this.#others.set(keyOf(id), method === "tools/list");
    }
    this.#options.toServer(lineOf(message.json));
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
    await this.#rounds.endAll();
  }

  #takeAnswer(message: ServerMessage): void {
    const { id, method, line, json } = message;
    const key = method === undefined && id !== undefined ? keyOf(id) : "";
    const waiter = this.#waiting.get(key);
    const isList = this.#others.get(key);
    this.#others.delete(key);
    if (method === "notifications/tools/list_changed") this.#tools.forget();
    if (waiter) {
      this.#waiting.delete(key);
      waiter(message);
    } else if (isList !== undefined && !isReadable(message)) {
      this.#options.toClient(errorLine(id, CODE.internal, "The server's answer is not JSON-RPC"));
    } else if (isList && "result" in json) void this.#passList(message);
    else this.#options.toClient(line);
  }

  #exchange(id: RpcIdentity, line: string): Promise<ServerMessage | null> {
    if (this.#isServerGone) return Promise.resolve(null);
    return new Promise((resolve) => {
      this.#waiting.set(keyOf(id), resolve);
      this.#options.toServer(line);
    });
  }

  /** A server that does not answer in time, or before nobody waits for it any more, has answered nothing. */
  async #askServer(method: string, params: RpcJson, signal: AbortSignal): Promise<RpcJson> {
    const { clock, newRun } = this.#options;
    const id = `parley-gate-${newRun()}`;
    const over = new AbortController();
    const late = clock.sleep(ANSWER_MS, AbortSignal.any([over.signal, signal])).then(() => null);
    const answer = await Promise.race([this.#exchange(id, lineOf({ jsonrpc: "2.0", id, method, params })), late]);
    over.abort();
    return membersOf(answer?.json["result"]);
  }

  /** Two requests under one id would let the answer to one of them end the other. @throws {NotPassedOn} */
  #refuseSameId(id: RpcIdentity): void {
    const key = keyOf(id);
    const isUsed = this.#calls.has(key) || this.#waiting.has(key) || this.#others.has(key);
    if (isUsed) throw new NotPassedOn(CODE.invalidRequest, SAME_ID, id);
  }

  #takeCall(message: RpcMessage): void {
    const { id } = message;
    if (id === undefined) {
      if (isRequest(message)) throw new NotPassedOn(CODE.invalidRequest, "The id is none");
      return;
    }
    this.#refuseSameId(id);
    const call = readCall(message, id);
    const key = keyOf(id);
    const abort = new AbortController();
    const exchange = (same: RpcIdentity, line: string) => this.#exchange(same, line);
    const done = answerCall(
      {
        ...this.#options,
        tools: this.#tools,
        judged: this.#judged,
        gathering: this.#gathering,
        rounds: this.#rounds,
        askServer: (...asked) => this.#askServer(...asked),
        exchange,
      },
      call,
      abort.signal,
    )
      .catch(this.#options.onError)
      .finally(() => this.#calls.delete(key));
    this.#calls.set(key, { abort, done });
  }

  /** Gives up a call that waits, of which its server knows nothing. A call that runs is given up by the server. */
  #cancel(message: RpcMessage): void {
    const { requestId } = message.params;
    const key = typeof requestId === "string" || typeof requestId === "number" ? keyOf(requestId) : "";
    const call = this.#calls.get(key);
    if (!call || this.#waiting.has(key)) this.#options.toServer(lineOf(message.json));
    call?.abort.abort();
  }

  async #passList(answer: ServerMessage): Promise<void> {
    const { toClient, onError } = this.#options;
    const listed = toolsIn(membersOf(answer.json["result"]));
    this.#tools.note(listed);
    try {
      const heldBack = listed.length === 0 ? new Set<string>() : await this.#judged.judge(listed, this.#gone.signal);
      toClient(heldBack.size === 0 ? answer.line : withoutTools(answer, heldBack));
    } catch (error) {
      if (this.#gone.signal.aborted) return;
      const isNotified = error instanceof ServerUnreachable || error instanceof RequestRefused;
      if (!isNotified) onError(error);
      toClient(errorLine(answer.id, CODE.internal, isNotified ? error.message : "The gate could not pass this on"));
    }
  }
}

function withoutTools({ json }: ServerMessage, heldBack: ReadonlySet<unknown>): string {
  const result = membersOf(json["result"]);
  const kept = (result["tools"] as unknown[]).filter((tool) => !heldBack.has(membersOf(tool)["name"]));
  return lineOf({ ...json, result: { ...result, tools: kept } });
}
