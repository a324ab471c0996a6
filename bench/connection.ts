import { connect, type Socket } from "node:net";

/** A reply, with enough of it to check it and to go on. */
export interface Reply {
  status: number;
  /** The head as it came, lower-cased only by `headerOf`. */
  head: string;
  body: string;
}

/**
 * One keep-alive connection with one request under way at a time.
 *
 * It is written on the bare socket, because a general HTTP client costs more than the servers it would measure.
 */
export class Connection {
  readonly #url: URL;
  #socket: Socket | null = null;
  #received = "";
  #bodyAt = -1;
  #bodyLength = 0;
  #settle: { resolve: (reply: Reply) => void; reject: (error: Error) => void } | null = null;
  /** Whether a reply has come over this connection: the server may close it at any moment while it is idle. */
  #used = false;

  /** Connects with the first request, and again where the server has closed the connection for being idle. */
  constructor(url: string) {
    this.#url = new URL(url);
  }

  /** Sends one request and resolves with its whole reply. `headers` are lines that end with a line break. */
  async send(method: string, path: string, headers: string, body = ""): Promise<Reply> {
    if (this.#settle) throw new Error("a request is under way on this connection");
    const wasUsed = this.#used;
    try {
      return await this.#sendOnce(method, path, headers, body);
    } catch (error) {
      if (!wasUsed) throw error;
      // Closed for being idle while this request was on its way.
      return this.#sendOnce(method, path, headers, body);
    }
  }

  async #sendOnce(method: string, path: string, headers: string, body: string): Promise<Reply> {
    const socket = this.#socket ?? (await this.#connect());
    const length =
      body === "" ? "" : `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`;
    return new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
      socket.write(`${method} ${path} HTTP/1.1\r\nHost: ${this.#url.host}\r\n${headers}${length}\r\n${body}`);
    });
  }

  close(): void {
    this.#settle = null;
    this.#socket?.destroy();
  }

  #connect(): Promise<Socket> {
    return new Promise((resolve, reject) => {
      const socket = connect({ host: this.#url.hostname, port: Number(this.#url.port), noDelay: true });
      // One byte, one character: the length of the body is counted in bytes.
      socket.setEncoding("latin1");
      socket.on("data", (chunk: string) => this.#receive(chunk));
      socket.once("connect", () => resolve((this.#socket = socket)));
      socket.on("error", (error) => {
        reject(error);
        this.#lose(error);
      });
      socket.on("close", () => this.#lose(new Error("the server closed the connection")));
    });
  }

  #receive(chunk: string): void {
    this.#received = this.#received === "" ? chunk : this.#received + chunk;
    if (this.#bodyAt < 0) {
      const end = this.#received.indexOf("\r\n\r\n");
      if (end < 0) return;
      this.#bodyAt = end + 4;
      this.#bodyLength = Number(headerOf(this.#received.slice(0, end + 2), "content-length") ?? 0);
    }
    if (this.#received.length < this.#bodyAt + this.#bodyLength) return;

    const reply: Reply = {
      status: Number(this.#received.slice(9, 12)),
      head: this.#received.slice(0, this.#bodyAt),
      body: this.#received.slice(this.#bodyAt),
    };
    const settle = this.#settle;
    this.#received = "";
    this.#bodyAt = -1;
    this.#settle = null;
    this.#used = true;
    settle?.resolve(reply);
  }

  #lose(error: Error): void {
    const settle = this.#settle;
    this.#socket = null;
    this.#used = false;
    this.#received = "";
    this.#bodyAt = -1;
    this.#settle = null;
    settle?.reject(error);
  }
}

/** Returns the value of a header, or nothing. */
export function headerOf(head: string, name: string): string | undefined {
  const at = head.toLowerCase().indexOf(`\r\n${name}: `);
  return at < 0 ? undefined : head.slice(at + name.length + 4, head.indexOf("\r\n", at + 2));
}
