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

interface Answer {
  status: number;
  body?: object;
  headers?: Record<string, string>;
}

export interface TwilioDouble extends AsyncDisposable {
  origin: string;
  calls: ApiCall[];
  /** The next calls are answered so, each once; afterwards every message is taken. */
  answerNext(...replies: Answer[]): void;
}

const TOO_LONG: Answer = {
  status: 400,
  body: { code: 21617, message: "The concatenated message body exceeds 1600 characters" },
};

/** Twilio takes 1,600 characters of a message, and of each variable of a template (its errors 21617 and 21658). */
function isTooLong({ Body = "", ContentVariables = "{}" }: Readonly<Record<string, string>>): boolean {
  const variables = Object.values(JSON.parse(ContentVariables) as Record<string, string>);
  return [Body, ...variables].some(({ length }) => length > 1600);
}

/** A stand-in for Twilio's Messages API, on loopback. */
export async function openTwilioDouble(): Promise<TwilioDouble> {
  const calls: ApiCall[] = [];
  const replies: Answer[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      let text = "";
      for await (const part of request) text += String(part);
      const { method, url: path, headers } = request;
      const type = headers["content-type"]?.split(";")[0];
      const form = Object.fromEntries(new URLSearchParams(text));
      calls.push({ method, path, type, authorization: headers.authorization, form });
      const sid = `SM${String(calls.length).padStart(32, "0")}`;
      const taken: Answer = isTooLong(form) ? TOO_LONG : { status: 201, body: { sid, status: "queued" } };
      const { status, body, headers: more } = replies.shift() ?? taken;
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
