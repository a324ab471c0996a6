import type { JsonObject } from "../../lib/json/json-body.ts";
import type { AgentPipes } from "./agent.ts";
import { isObject, objectOf, readObject, textOf } from "./json-lines.ts";

export const METHOD_NOT_FOUND = -32601;
export const INVALID_PARAMS = -32602;
/** More requests than this of one agent wait for nobody. */
const MOST_PENDING = 100;
/** A line that is too long to be read may still want an answer; that stands among its first characters. */
const HEAD_CHARACTERS = 400;
/** How an answer begins. Its length is the agent's session's, and so no reason to miss it. */
const ANSWER = /^\{(?:"jsonrpc":"2\.0",)?"id":(\d+),"(?:result|error)":/;

/** A request was answered with an error; or it is how one is answered. */
export class RpcError extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** The other side has gone, and will answer no more. */
export class RpcGone extends Error {}

/** Handles the requests and notifications of the other side. */
export interface RpcListener {
  /**
   * Returns the result of a request. `withdrawn` is aborted when its sender waits for it no more.
   *
   * @throws {RpcError} which is what it is answered with
   */
  request(method: string, params: JsonObject, withdrawn: AbortSignal): Promise<unknown>;
  notice(method: string, params: JsonObject): void;
  /** A request was too long to be read, and is refused. */
  refused(): void;
}

/** One side of JSON-RPC by lines of text. */
export class Rpc {
  readonly #pipes: AgentPipes;
  /** The members of every message: the version, or nothing where the other side leaves the version out. */
  readonly #mark: JsonObject;
  readonly #listener: RpcListener;
  readonly #waiting = new Map<number, { resolve: (result: JsonObject) => void; reject: (error: Error) => void }>();
  /** The requests of the other side that wait for an answer, by their ids. */
  readonly #served = new Map<number | string, AbortController>();
  /** Ids of requests whose answer nobody waits for. */
  readonly #unanswered = new Set<number | string>();
  #lastId = 0;
  #pending = 0;
  #isOver = false;

  constructor(pipes: AgentPipes, mark: JsonObject, listener: RpcListener) {
    this.#pipes = pipes;
    this.#mark = mark;
    this.#listener = listener;
  }

  /** Reads messages of the other side until it ends. Requests that still wait for an answer then fail. */
  async readMessages(): Promise<void> {
    try {
      for await (const line of this.#pipes.lines) this.#take(line);
    } finally {
      this.#isOver = true;
      for (const { reject } of this.#waiting.values()) reject(new RpcGone());
      this.#waiting.clear();
    }
  }

  /** @throws {RpcError | RpcGone} */
  request(method: string, params: JsonObject): Promise<JsonObject> {
    if (this.#isOver) return Promise.reject(new RpcGone());
    const id = (this.#lastId += 1);
    const answered = new Promise<JsonObject>((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
    // Who asks may have stopped waiting by the time the other side goes.
    answered.catch(() => {});
    this.#write({ id, method, params });
    return answered;
  }

  notify(method: string, params?: JsonObject): void {
    this.#write({ method, ...(params && { params }) });
  }

  /** The sender of a request waits no more, and takes an answer or, where it `isSettled`, none. */
  withdraw(id: unknown, { isSettled }: { isSettled: boolean }): void {
    if (typeof id !== "number" && typeof id !== "string") return;
    const served = this.#served.get(id);
    if (!served) return;
    if (isSettled) this.#unanswered.add(id);
    served.abort();
  }

  /** The sender of all open requests waits for none of them any more, but takes the answers. */
  withdrawAll(): void {
    for (const served of this.#served.values()) served.abort();
  }

  #take(line: string): void {
    const message = readObject(line);
    if (!message) {
      if (!this.#takeLongAnswer(line)) this.#refuseLong(line);
      return;
    }
    const { id } = message;
    const method = textOf(message["method"]);
    if (method === undefined) return this.#answered(id, message);
    const params = objectOf(message["params"]);
    if (typeof id === "number" || typeof id === "string") void this.#serve(id, method, params);
    else this.#listener.notice(method, params);
  }

  #answered(id: unknown, message: JsonObject): void {
    const asker = typeof id === "number" ? this.#waiting.get(id) : undefined;
    if (!asker) return;
    this.#waiting.delete(id as number);
    const { error } = message;
    if (!isObject(error)) return asker.resolve(objectOf(message["result"]));
    const code = typeof error["code"] === "number" ? error["code"] : 0;
    const details = textOf(objectOf(error["data"])["details"]);
    asker.reject(new RpcError(code, details ?? textOf(error["message"]) ?? "it gave no reason"));
  }

  async #serve(id: number | string, method: string, params: JsonObject): Promise<void> {
    this.#pending += 1;
    const withdrawn = new AbortController();
    this.#served.set(id, withdrawn);
    try {
      if (this.#pending > MOST_PENDING) throw new RpcError(INVALID_PARAMS, "Too many requests wait for an answer.");
      const result = await this.#listener.request(method, params, withdrawn.signal);
      if (!this.#unanswered.has(id)) this.#write({ id, result });
    } catch (error) {
      const { code, message } = error instanceof RpcError ? error : { code: INVALID_PARAMS, message: String(error) };
      if (!this.#unanswered.has(id)) this.#write({ id, error: { code, message } });
    } finally {
      this.#pending -= 1;
      this.#served.delete(id);
      this.#unanswered.delete(id);
    }
  }

  /** Returns whether a line is an answer that is waited for, however long or deep. One that was cut is a failure. */
  #takeLongAnswer(line: string): boolean {
    const id = Number(ANSWER.exec(line.slice(0, HEAD_CHARACTERS))?.[1]);
    const asker = this.#waiting.get(id);
    if (!asker) return false;
    try {
      this.#answered(id, objectOf(JSON.parse(line)));
    } catch {
      this.#waiting.delete(id);
      asker.reject(new RpcError(INVALID_PARAMS, "its answer cannot be read"));
    }
    return true;
  }

  /** A request too long to be read is refused, or its sender would wait for ever. */
  #refuseLong(line: string): void {
    const head = line.slice(0, HEAD_CHARACTERS);
    const id = /"id":\s*(\d+|"[^"\\]*")/.exec(head)?.[1];
    if (id === undefined || !/"method":/.test(head)) return;
    this.#listener.refused();
    this.#write({
      id: JSON.parse(id) as unknown,
      error: { code: INVALID_PARAMS, message: "The request cannot be read." },
    });
  }

  #write(message: JsonObject): void {
    if (!this.#isOver) this.#pipes.write(JSON.stringify({ ...this.#mark, ...message }));
  }
}
