import { createECDH, randomBytes, type ECDH } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { decrypt } from "http_ece";
import { importJWK, jwtVerify } from "jose";

/** A browser's side of a subscription: what it gives the server, and what opens its messages. */
export interface Browser {
  endpoint: string;
  keys: { p256dh: string; auth: string };
  ecdh: ECDH;
}

/** One message as the push service saw it, opened with the browser's key. */
export interface Pushed {
  browser: Browser;
  headers: IncomingHttpHeaders;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests read payloads of every shape
  payload: any;
  vapid: { aud: unknown; sub: unknown; expiresInS: number };
}

export interface PushService extends AsyncDisposable {
  origin: string;
  /** A browser subscribes. */
  subscribe(): Browser;
  /** Everything that was taken, oldest first. */
  pushed: Pushed[];
  /** How often anything was tried. */
  tries(): number;
  /** Forgets all earlier messages, and accepts everything from now on. */
  reset(): void;
  /** The next requests are answered so, each once; afterwards everything is taken. */
  answerNext(...replies: { status: number; headers?: Record<string, string> }[]): void;
}

/**
 * A push service on loopback that takes what the standards ask for and nothing else: it verifies the sender by RFC 8292
 * with `jose` and opens the message by RFC 8291 with `http_ece`.
 */
export async function openPushService(vapidPublicKey: () => Promise<string>): Promise<PushService> {
  const browsers = new Map<string, Browser>();
  const pushed: Pushed[] = [];
  const replies: { status: number; headers?: Record<string, string> }[] = [];
  let tries = 0;

  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    tries += 1;
    const browser = browsers.get(request.url ?? "");
    if (!browser) return void response.writeHead(404).end();
    const reply = replies.shift();
    if (reply) return void response.writeHead(reply.status, reply.headers).end("no");
    try {
      const vapid = await verify(request.headers.authorization ?? "");
      const { ecdh, keys } = browser;
      const options = { version: "aes128gcm", privateKey: ecdh, authSecret: keys.auth } as const;
      const opened = decrypt(Buffer.concat(parts), options).toString("utf8");
      pushed.push({ browser, headers: request.headers, payload: JSON.parse(opened), vapid });
      response.writeHead(201).end();
    } catch (error) {
      response.writeHead(400).end(String(error));
    }
  }

  async function verify(authorization: string): Promise<Pushed["vapid"]> {
    const [, token = "", key = ""] = /^vapid t=([^,\s]+), ?k=(\S+)$/.exec(authorization) ?? [];
    if (key !== (await vapidPublicKey())) throw new Error("the message is from another server");
    const point = Buffer.from(key, "base64url");
    const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((half) => half.toString("base64url"));
    const jwk = await importJWK({ kty: "EC", crv: "P-256", x: x ?? "", y: y ?? "" }, "ES256");
    const { payload } = await jwtVerify(token, jwk, { audience: origin, algorithms: ["ES256"] });
    return { aud: payload.aud, sub: payload.sub, expiresInS: (payload.exp ?? 0) - Date.now() / 1000 };
  }

  const server = createServer((request, response) => void take(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    origin,
    pushed,
    tries: () => tries,
    reset() {
      pushed.length = 0;
      replies.length = 0;
    },
    answerNext: (...next) => void replies.push(...next),
    subscribe() {
      const ecdh = createECDH("prime256v1");
      const p256dh = ecdh.generateKeys().toString("base64url");
      const path = `/send/${randomBytes(9).toString("base64url")}`;
      const auth = randomBytes(16).toString("base64url");
      const browser = { endpoint: `${origin}${path}`, keys: { p256dh, auth }, ecdh };
      browsers.set(path, browser);
      return browser;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
