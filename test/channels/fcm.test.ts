import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, beforeEach, describe, it } from "node:test";
import { jwtVerify } from "jose";
import { DeliveryError } from "../../src/channels/channel.ts";
import { openFcm, readFcmAccount } from "../../src/channels/push/fcm.ts";
import type { PushMessage, SendPush } from "../../src/notices/model/push-message.ts";

const MESSAGE: PushMessage = {
  title: "A question for you",
  body: "Pick one of 2, about 30 seconds",
  path: "/q/q_1",
  data: { question_id: "q_1", url: "/q/q_1", type: "multiple_choice" },
  topic: "0123456789abcdef0123456789abcdef",
  ttlSeconds: 600,
  urgency: "normal",
};
const DEVICE = { kind: "fcm", address: "token-of-a-device", keys: null } as const;

/** Replies of FCM, in its own format. */
const ERRORS = {
  unregistered: [
    404,
    {
      error: {
        status: "NOT_FOUND",
        details: [{ "@type": "type.googleapis.com/google.firebase.fcm.v1.FcmError", errorCode: "UNREGISTERED" }],
      },
    },
  ],
  badToken: [
    400,
    {
      error: {
        status: "INVALID_ARGUMENT",
        details: [
          { "@type": "type.googleapis.com/google.firebase.fcm.v1.FcmError", errorCode: "INVALID_ARGUMENT" },
          { "@type": "type.googleapis.com/google.rpc.BadRequest", fieldViolations: [{ field: "message.token" }] },
        ],
      },
    },
  ],
  badMessage: [400, { error: { status: "INVALID_ARGUMENT", details: [{ errorCode: "INVALID_ARGUMENT" }] } }],
  forbidden: [403, { error: { status: "PERMISSION_DENIED", details: [{ errorCode: "SENDER_ID_MISMATCH" }] } }],
  busy: [429, { error: { status: "RESOURCE_EXHAUSTED", details: [{ errorCode: "QUOTA_EXCEEDED" }] } }],
  away: [503, { error: { status: "UNAVAILABLE", details: [{ errorCode: "UNAVAILABLE" }] } }],
} as const;

describe("messages through FCM", () => {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const folder = mkdtempSync(join(tmpdir(), "parley-fcm-"));
  const keyFile = join(folder, "key.json");
  writeFileSync(
    keyFile,
    JSON.stringify({
      type: "service_account",
      project_id: "parley-test",
      client_email: "parley@parley-test.iam.gserviceaccount.com",
      private_key: privateKey.export({ type: "pkcs8", format: "pem" }),
    }),
  );

  let google: Server;
  let origin = "";
  let exchanged = 0;
  let reply: readonly [number, object] = [200, { name: "projects/parley-test/messages/1" }];
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests read bodies of every shape
  const sent: { path: string | undefined; authorization: string | undefined; body: any }[] = [];

  /** Google's token endpoint and FCM's, as far as they look at what they are sent. */
  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = "";
    for await (const part of request) text += String(part);
    const answer = (status: number, body: object) =>
      void response
        .writeHead(status, { "content-type": "application/json", "retry-after": "9" })
        .end(JSON.stringify(body));
    if (request.url === "/token") {
      const form = new URLSearchParams(text);
      const { payload } = await jwtVerify(form.get("assertion") ?? "", publicKey, {
        audience: "https://oauth2.googleapis.com/token",
        issuer: "parley@parley-test.iam.gserviceaccount.com",
      });
      assert.equal(payload["scope"], "https://www.googleapis.com/auth/firebase.messaging");
      exchanged += 1;
      return answer(200, { access_token: `token-${exchanged}`, expires_in: 3600, token_type: "Bearer" });
    }
    sent.push({ path: request.url, authorization: request.headers.authorization, body: JSON.parse(text) });
    return answer(...reply);
  }

  let now = Date.now();
  let send: SendPush;
  before(async () => {
    google = createServer((request, response) => void serve(request, response));
    google.listen(0, "127.0.0.1");
    await once(google, "listening");
    origin = `http://127.0.0.1:${(google.address() as AddressInfo).port}`;
  });
  beforeEach(() => {
    sent.length = 0;
    exchanged = 0;
    now = Date.now();
    reply = [200, { name: "projects/parley-test/messages/1" }];
    // Google's hosts are this machine, for as long as the test runs.
    const fetchHere: typeof fetch = (input, init) => fetch(`${origin}${new URL(String(input)).pathname}`, init);
    send = openFcm(readFcmAccount(keyFile), () => "https://parley.example.com", { fetch: fetchHere, now: () => now });
  });
  after(() => {
    google.closeAllConnections();
    google.close();
    rmSync(folder, { recursive: true });
  });
  const never = new AbortController().signal;

  it("say what the others say, under one token for an hour", async () => {
    await send(DEVICE, MESSAGE, never);
    await send(DEVICE, { ...MESSAGE, urgency: "high" }, never);
    now += 3_400_000;
    await send(DEVICE, MESSAGE, never);
    assert.equal(exchanged, 2);
    assert.deepEqual(
      sent.map(({ authorization }) => authorization),
      ["Bearer token-1", "Bearer token-1", "Bearer token-2"],
    );
    assert.equal(sent[0]?.path, "/v1/projects/parley-test/messages:send");
    const { message } = sent[0]?.body ?? {};
    assert.equal(message.token, "token-of-a-device");
    assert.deepEqual(message.notification, { title: MESSAGE.title, body: MESSAGE.body });
    assert.deepEqual(message.data, MESSAGE.data);
    assert.deepEqual(message.android, { ttl: "600s", priority: "NORMAL", collapse_key: MESSAGE.topic });
    assert.deepEqual(message.webpush.headers, { TTL: "600", Urgency: "normal", Topic: MESSAGE.topic });
    assert.equal(message.webpush.fcm_options.link, "https://parley.example.com/q/q_1");
    assert.equal(sent[1]?.body.message.android.priority, "HIGH");
  });

  it("end with the token, wait, or fail, as FCM says", async () => {
    const outcome = async (error: readonly [number, object]) => {
      reply = error;
      try {
        await send(DEVICE, MESSAGE, never);
      } catch (thrown) {
        assert.ok(thrown instanceof DeliveryError);
        assert.doesNotMatch(String(thrown), /token-of-a-device|token-1/);
        return [thrown.retry, thrown.providerCode, thrown.retryAfterMs];
      }
      return [];
    };
    assert.deepEqual(await outcome(ERRORS.unregistered), [false, "gone", undefined]);
    assert.deepEqual(await outcome(ERRORS.badToken), [false, "gone", undefined]);
    assert.deepEqual(await outcome(ERRORS.badMessage), [false, "INVALID_ARGUMENT", undefined]);
    assert.deepEqual(await outcome(ERRORS.forbidden), [false, "SENDER_ID_MISMATCH", undefined]);
    assert.deepEqual(await outcome(ERRORS.busy), [true, "QUOTA_EXCEEDED", 9000]);
    assert.deepEqual(await outcome(ERRORS.away), [true, "UNAVAILABLE", 9000]);
  });

  it("need a key file that is one", () => {
    const wrong = join(folder, "wrong.json");
    writeFileSync(wrong, "{}");
    assert.throws(() => readFcmAccount(wrong), /cannot be used: it is no service account key/);
    writeFileSync(wrong, "not json");
    assert.throws(() => readFcmAccount(wrong), /cannot be used: it is not JSON/);
    assert.throws(() => readFcmAccount(join(folder, "missing.json")), /cannot be used: it cannot be read/);
  });
});
