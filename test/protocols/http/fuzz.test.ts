import assert from "node:assert/strict";
import { once } from "node:events";
import { request, type IncomingMessage } from "node:http";
import { text as textOf } from "node:stream/consumers";
import { describe, it } from "node:test";
import fc from "fast-check";
import { fresh, IN_PUBLIC, LABELS, ROOMY, sendRaw, sharedWorld } from "../../support/contract.ts";
import { ONE_DATABASE, type Reply } from "../../support/world.ts";

const RUNS = { numRuns: 120 };

/** Texts that have broken programs before, among any others. */
const hostileText = fc.oneof(
  fc.string({ unit: "binary", maxLength: 60 }),
  // Units by themselves: unpaired surrogates, U+0000 and all.
  fc.array(fc.nat(0xffff), { maxLength: 20 }).map((units) => String.fromCharCode(...units)),
  fc.constantFrom(
    "__proto__",
    "constructor",
    "toString",
    "\0",
    "' OR '1'='1",
    "${7*7}",
    "%00",
    "../..",
    "\ud800",
    "NaN",
    "1e400",
  ),
  fc.constantFrom("x".repeat(5001), "😀".repeat(2001), "\u202e", "\r\nSet-Cookie: a=b", "-0", "9007199254740993"),
);
const hostileValue = fc.oneof(
  hostileText,
  fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<unknown>,
  fc.constantFrom<unknown>(null, true, 0, -1, 1.5, 1e308, [], {}, [[]], [null], { __proto__: null }, { length: 3 }),
);
/** Often what is right, so that what lies behind is reached. */
const mostly = <T>(good: T) =>
  fc.oneof({ weight: 3, arbitrary: fc.constant<unknown>(good) }, { weight: 1, arbitrary: hostileValue });

const question = fc.record(
  {
    prompt: mostly("Which label is clearer?"),
    type: mostly("multiple_choice"),
    options: fc.oneof(mostly(LABELS), fc.array(hostileText, { maxLength: 4 })),
    audience: mostly(["product"]),
    min_responses: mostly(3),
    timeout_seconds: mostly(600),
    idempotency_key: fc.oneof(mostly("once"), hostileText),
    share_results: mostly(true),
    extra: hostileValue,
  },
  { requiredKeys: ["prompt", "type"] },
);
const response = (id: string) =>
  fc.record(
    {
      question_id: mostly(id),
      answer: hostileValue,
      selected_option: mostly(1),
      confidence: mostly(3),
      extra: hostileValue,
    },
    { requiredKeys: ["question_id"] },
  );
const subscription = fc.record(
  {
    fcm_token: hostileValue,
    subscription: fc.record({
      endpoint: fc.oneof(mostly("https://push.example.com/x"), fc.webUrl(), hostileText),
      keys: fc.oneof(hostileValue, fc.record({ p256dh: hostileValue, auth: hostileValue })),
    }),
    min_interval_minutes: mostly(30),
    audience: mostly([]),
    quiet_hours: fc.oneof(
      hostileValue,
      fc.record({ start: mostly("22:00"), end: mostly("07:00"), time_zone: mostly("Europe/Berlin") }),
    ),
    subscription_id: hostileValue,
  },
  { requiredKeys: [] },
);

/** A text that a client can put into a header at all. Raw sockets send the rest. */
const headerText = fc
  .oneof(hostileText, fc.string({ maxLength: 40 }))
  .map((text) => text.replace(/[^\t\x20-\x7e\x80-\xff]/g, "").trim());
const headers = fc.dictionary(
  fc.constantFrom(
    "x-agent-id",
    "x-fingerprint",
    "x-participant-token",
    "authorization",
    "cookie",
    "x-idempotency-key",
    "idempotency-key",
    "x-time-zone",
    "last-event-id",
    "accept-version",
    "x-forwarded-for",
    "origin",
    "sec-fetch-site",
    "accept",
    "range",
    "if-none-match",
    "content-type",
    "x-http-method-override",
  ),
  fc.oneof(
    headerText,
    fc.constantFrom(
      "pt1.p_x.y",
      "Bearer parley_agent_x",
      "parley_p=pt1..; parley=",
      "application/json",
      "Europe/Berlin",
      "a:parley_agent_b",
    ),
  ),
  { maxKeys: 5 },
);

/**
 * Asks for this path as it is written, dots included, which `fetch` resolves before it sends them. A path such as
 * `../events` may name a stream: of what does not end, only the status is read.
 */
async function ask(url: string, method: string, path: string): Promise<{ status: number; text: string }> {
  const sent = request(url, { method, path, agent: false }).end();
  const [reply] = (await once(sent, "response")) as [IncomingMessage];
  const endless = reply.headers["content-type"]?.startsWith("text/event-stream");
  const text = endless ? "" : await textOf(reply);
  reply.destroy();
  return { status: reply.statusCode ?? 0, text };
}

/** Whether this is a time to wait as a query holds it; `%35` is five. */
function isTime(encoded: string): boolean {
  return /^\d/.test(new URLSearchParams(`wait=${encoded}`).get("wait") ?? "");
}

/** Checks that a refusal has the one shape and is not a server error. */
function assertConsidered(reply: Pick<Reply, "status" | "body" | "text">): void {
  assert.ok(reply.status < 500, `${reply.status} ${reply.text}`);
  if (reply.status < 400) return;
  const { error, ...rest } = reply.body;
  assert.deepEqual(Object.keys(rest), []);
  assert.equal(typeof error?.code, "string");
  assert.equal(typeof error?.message, "string");
}

for (const on of ONE_DATABASE) {
  describe(`hostile input on ${on}`, () => {
    const env = {
      ...ROOMY,
      ...IN_PUBLIC,
      PARLEY_LIMITS_EDGE_PER_SECOND: "100000",
      PARLEY_LIMITS_EDGE_BURST: "100000",
      PARLEY_LIMITS_NEW_PARTICIPANTS_PER_HOUR: "100000",
      PARLEY_LIMITS_ANSWERS_PER_NETWORK_PER_HOUR: "100000",
      PARLEY_ASK_A_HUMAN_LIMITS_QUESTIONS_PER_HOUR: "100000",
      PARLEY_ASK_A_HUMAN_LIMITS_OPEN_QUESTIONS: "100000",
    };
    const world = sharedWorld({ on, env });
    const someId = async () => (await world().agent(fresh("ana-bot")).ask({ min_responses: 50, options: LABELS })).id;
    const send = async (method: string, path: string, body: unknown, more: Record<string, string> = {}) => {
      const reply = await world().call(method, path, {
        body,
        headers: { "content-type": "application/json", ...more },
      });
      assertConsidered(reply);
      return reply;
    };

    it("in a body is refused or ignored, and never our bug", async () => {
      const id = await someId();
      const routes: [method: string, path: string, body: fc.Arbitrary<unknown>][] = [
        ["POST", "/agent/questions", question],
        ["POST", "/human/responses", response(id)],
        ["POST", `/human/questions/${id}/report`, fc.record({ reason: mostly("spam"), comment: hostileValue })],
        ["POST", "/human/push/subscribe", subscription],
        ["PUT", "/human/push/subscribe", subscription],
        ["POST", "/session", fc.record({ code: hostileValue })],
      ];
      const statuses = new Set<number>();
      for (const [method, path, body] of routes) {
        await fc.assert(
          fc.asyncProperty(body, async (one) => void statuses.add((await send(method, path, one)).status)),
          RUNS,
        );
      }
      // Valid requests are accepted, so the fuzz also reaches the code behind the checks.
      assert.ok(statuses.has(201) && statuses.has(400));
    });

    it("that is no JSON, or no text, is refused", async () => {
      const bytes = fc.oneof(
        fc.uint8Array({ maxLength: 300 }),
        fc.json({ maxDepth: 3 }).map((text) => Buffer.from(text)),
        fc.tuple(fc.json(), fc.nat(40)).map(([text, at]) => Buffer.from(text.slice(0, at))),
        fc.integer({ min: 1, max: 60_000 }).map((depth) => Buffer.from("[".repeat(depth) + "]".repeat(depth))),
        fc.integer({ min: 1, max: 10_000 }).map((depth) => Buffer.from('{"a":'.repeat(depth))),
      );
      await fc.assert(
        fc.asyncProperty(fc.constantFrom("/agent/questions", "/human/responses"), bytes, async (path, body) => {
          const { status } = await send("POST", path, body);
          assert.equal(status, 400);
        }),
        RUNS,
      );
    });

    it("in a path or a query finds nothing, or is refused", async () => {
      const id = await someId();
      const text = fc.oneof(hostileText, fc.stringMatching(/^[%a-z0-9_./;?&=+-]{0,30}$/));
      const encoded = fc.oneof(
        text.map((one) => encodeURIComponent(one.toWellFormed())),
        fc.stringMatching(/^[%a-zA-Z0-9_.;=+~-]{0,40}$/),
      );
      const paths = fc.constantFrom(
        "/agent/questions",
        `/agent/questions/${id}`,
        "/human/questions",
        `/human/questions/${id}`,
        "/human/leaderboard",
        "/human/stats",
      );
      const names = fc.constantFrom(
        "wait",
        "after",
        "ids",
        "status",
        "limit",
        "cursor",
        "expand",
        "audience",
        "period",
        "__proto__",
        "x",
      );
      await fc.assert(
        fc.asyncProperty(paths, fc.array(fc.tuple(names, encoded), { maxLength: 4 }), async (path, query) => {
          // Waiting is not what is tested here.
          const parts = query.filter(([name, value]) => name !== "wait" || !isTime(value));
          await send("GET", `${path}?${parts.map(([name, value]) => `${name}=${value}`).join("&")}`, undefined);
        }),
        RUNS,
      );
      await fc.assert(
        fc.asyncProperty(
          fc.constantFrom("GET", "DELETE", "POST"),
          fc.constantFrom(
            "/agent/questions/",
            "/human/questions/",
            "/human/push/subscribe/",
            "/k/",
            "/",
            "/q/",
            "/assets/",
            "/icons/",
          ),
          encoded,
          fc.constantFrom("", "/results", "/skip", "/events", "/agent/questions"),
          async (method, path, one, rest) => {
            const reply = await ask(world().url, method, `${path}${one}${rest}`);
            assert.ok(reply.status < 500, `${reply.status} ${reply.text}`);
          },
        ),
        {
          ...RUNS,
          examples: [
            ["GET", "/human/questions/", "..", "/events"],
            ["GET", "/agent/questions/", "events", ""],
          ],
        },
      );
    });

    it("in a header is refused or ignored", async () => {
      const id = await someId();
      const requests: [method: string, path: string, body?: unknown][] = [
        ["GET", `/agent/questions/${id}`],
        ["GET", "/human/questions"],
        ["GET", "/human/stats"],
        ["POST", "/agent/questions", { prompt: "Which label is clearer?", type: "text" }],
        ["POST", "/human/responses", { question_id: id, selected_option: 0 }],
        ["POST", `/human/questions/${id}/skip`],
        ["DELETE", "/human/me"],
      ];
      await fc.assert(
        fc.asyncProperty(fc.constantFrom(...requests), headers, async ([method, path, body], more) => {
          const given: Record<string, string> = body === undefined ? {} : { "content-type": "application/json" };
          assertConsidered(
            await world().call(method, path, { headers: { ...given, ...more }, ...(body !== undefined && { body }) }),
          );
        }),
        { numRuns: 400 },
      );
    });

    it("leaves the server as it was", async () => {
      const agent = world().agent(fresh("ana-bot"));
      const { id } = await agent.ask({ min_responses: 1, options: ["__proto__", "constructor"] });
      assert.equal((await world().person(fresh("bo")).answer(id, 0)).status, 201);
      assert.match((await agent.poll(id)).text, /"summary":\{"__proto__":1,"constructor":0\}/);
      const { body } = await world().person(fresh("bo")).get("/human/questions?limit=50");
      assert.ok(body.questions.length > 10);
      assert.deepEqual(Object.keys(Object.prototype), []);
    });
  });
}

describe("hostile connections", () => {
  const world = sharedWorld({ on: "sqlite", env: ROOMY });
  const head = (line: string, more = "") => `${line} HTTP/1.1\r\nHost: ${new URL(world().url).host}\r\n${more}\r\n`;
  const JSON_TYPE = "Content-Type: application/json\r\n";

  it("with any bytes at all are answered or closed", async () => {
    const line = fc.oneof(
      fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
      fc.string({ unit: "binary-ascii", maxLength: 80 }).map((text) => Buffer.from(head(`GET /${text}`))),
      fc
        .tuple(fc.string({ unit: "binary-ascii" }), fc.string({ unit: "binary-ascii" }))
        .map(([name, value]) => Buffer.from(head("GET /human/stats", `${name}: ${value}\r\n`))),
      fc
        .string({ unit: "binary-ascii" })
        .map((text) => Buffer.from(head("POST /agent/questions", `${JSON_TYPE}Transfer-Encoding: chunked\r\n`) + text)),
    );
    await fc.assert(
      fc.asyncProperty(line, async (bytes) => {
        const reply = await sendRaw(world().url, Buffer.concat([bytes, Buffer.from("\r\n\r\n")]), 25);
        assert.ok(!(reply.status >= 500), reply.text);
      }),
      { numRuns: 60 },
    );
    assert.equal((await world().call("GET", "/human/stats")).status, 200);
  });

  it("with ten megabytes are refused when the limit is passed, and the next one is served", async () => {
    const part = "x".repeat(65_536);
    const told = await sendRaw(
      world().url,
      head("POST /agent/questions", `${JSON_TYPE}Connection: close\r\nContent-Length: 10485760\r\n`) + part.repeat(160),
    );
    assert.equal(told.status, 413);
    const chunk = `10000\r\n${part}\r\n`;
    const untold = await sendRaw(
      world().url,
      head("POST /agent/questions", `${JSON_TYPE}Connection: close\r\nTransfer-Encoding: chunked\r\n`) +
        chunk.repeat(160),
    );
    assert.equal(untold.status, 413);
    assert.match(untold.text, /PAYLOAD_TOO_LARGE/);
    assert.equal((await world().agent(fresh("ana-bot")).create()).status, 201);
  });

  it("with huge or countless headers are refused", async () => {
    for (const more of [`X: ${"x".repeat(20_000)}\r\n`, "X: y\r\n".repeat(4000), `${"x".repeat(20_000)}: y\r\n`]) {
      assert.equal((await sendRaw(world().url, head("GET /human/stats", more))).status, 431);
    }
    assert.equal((await sendRaw(world().url, head(`GET /human/questions?x=${"y".repeat(20_000)}`))).status, 431);
  });

  it("cannot smuggle a second request into a first", async () => {
    for (const more of [
      "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
      "Content-Length: 5\r\nContent-Length: 6\r\n",
      "Transfer-Encoding: chunked, identity\r\n",
      "Transfer-Encoding : chunked\r\n",
      "Content-Length: +5\r\n",
      "Content-Length: 5, 5\r\n",
      " X: y\r\n",
    ]) {
      const reply = await sendRaw(
        world().url,
        head("POST /agent/questions", JSON_TYPE + more) + "0\r\n\r\nGET /human/stats HTTP/1.1\r\nHost: x\r\n\r\n",
      );
      assert.equal(reply.status, 400, more);
      assert.doesNotMatch(reply.text, /total_points/);
    }
  });
});
