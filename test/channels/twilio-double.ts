import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** One request to the stand-in for Twilio's API. */
export interface ApiCall {
  method: string | undefined;
  path: string | undefined;
  authorization: string | undefined;
  type: string | undefined;
  form: Readonly<Record<string, string>>;
}

export interface TwilioDouble extends AsyncDisposable {
  origin: string;
  calls: ApiCall[];
  /** The next calls are answered so, each once; afterwards every message is taken. */
  answerNext(...replies: { status: number; body?: object; headers?: Record<string, string> }[]): void;
}

/** A stand-in for Twilio's Messages API, on loopback. */
export async function openTwilioDouble(): Promise<TwilioDouble> {
  const calls: ApiCall[] = [];
  const replies: { status: number; body?: object; headers?: Record<string, string> }[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      let text = "";
      for await (const part of request) text += String(part);
      const { method, url: path, headers } = request;
      const type = headers["content-type"]?.split(";")[0];
      calls.push({
        method,
        path,
        type,
        authorization: headers.authorization,
        form: Object.fromEntries(new URLSearchParams(text)),
      });
      const sid = `SM${String(calls.length).padStart(32, "0")}`;
      const { status, body, headers: more } = replies.shift() ?? { status: 201, body: { sid, status: "queued" } };
      response.writeHead(status, { "content-type": "application/json", ...more }).end(JSON.stringify(body ?? {}));
    })();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    answerNext: (...next) => void replies.push(...next),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
