import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import { describe, it } from "node:test";
import { LABELS, ROOMY, assertInvalid, assertRefused, fresh, sharedWorld } from "../../support/contract.ts";

const BAD_BODIES: [name: string, body: string | Uint8Array][] = [
  ["an empty body", ""],
  ["half a body", '{"prompt":"Which label is clearer?"'],
  ["a word", "prompt"],
  ["single quotes", "{'prompt':'Which label is clearer?'}"],
  ["a comment", '{"prompt":"Which label is clearer?","type":"text"}//'],
  ["a trailing comma", '{"prompt":"Which label is clearer?","type":"text",}'],
  ["two values", '{"prompt":"Which label is clearer?","type":"text"}{}'],
  ["NaN", '{"prompt":"Which label is clearer?","type":"text","min_responses":NaN}'],
  ["a number beyond all numbers", '{"prompt":"Which label is clearer?","type":"text","min_responses":1e400}'],
  ["a name given twice", '{"prompt":"Which label is clearer?","type":"text","prompt":"Which label is better?"}'],
  ["a name given twice, deep inside", '{"prompt":"Which label is clearer?","type":"text","x":[{"a":1,"a":2}]}'],
  ["an unpaired surrogate", '{"prompt":"Which label is clearer?\\ud800","type":"text"}'],
  ["an unpaired surrogate in a name", '{"prompt":"Which label is clearer?","type":"text","\\udc00":1}'],
  ["a raw control character", '{"prompt":"Which label\nis clearer?","type":"text"}'],
  ["bytes that are no UTF-8", Buffer.from('{"prompt":"Which label is clearer? \xff","type":"text"}', "latin1")],
  ["33 levels", `{"prompt":"Which label is clearer?","type":"text","x":${"[".repeat(32)}${"]".repeat(32)}}`],
  [
    "10,000 levels",
    `{"prompt":"Which label is clearer?","type":"text","x":${"[".repeat(10_000)}${"]".repeat(10_000)}}`,
  ],
];

describe("bad requests", () => {
  const world = sharedWorld({ on: "sqlite", env: ROOMY });
  const ask = JSON.stringify({ prompt: "Which label is clearer?", type: "text" });
  const post = (body: string | Uint8Array | undefined, headers: Record<string, string>) =>
    world().call("POST", "/agent/questions", { ...(body !== undefined && { body }), headers });
  const UNSUPPORTED = {
    code: "UNSUPPORTED_MEDIA_TYPE",
    message: "The body must be JSON, and not compressed.",
    details: { accepted: ["application/json"] },
  };
  const TOO_LARGE = { code: "PAYLOAD_TOO_LARGE", message: "The body is too large.", details: { max_bytes: 131_072 } };

  it("may call JSON by any of its names", async () => {
    for (const type of [
      "application/json",
      "application/json; charset=utf-8",
      "application/json;charset=UTF-8",
      'application/json; charset="utf-8"',
      "Application/JSON",
      "application/vnd.ask+json",
      "application/json; charset=utf8",
      "application/json;charset=UTF8",
      'application/json ; Charset="utf8" ',
      "application/json; charset=unicode-1-1-utf-8",
      "application/json; charset=x-unicode20utf8",
      "application/json;",
      "application/json; odata.metadata=minimal; charset=utf-8",
    ]) {
      assert.equal((await post(ask, { "content-type": type })).status, 201, type);
    }
  });

  it("are refused with a body of any other type, or a compressed one", async () => {
    const form = "application/x-www-form-urlencoded";
    for (const type of [
      form,
      "text/plain",
      "text/json",
      "application/jsonx",
      "multipart/form-data",
      "application/json, text/plain",
      "json",
    ]) {
      assertRefused(await post(ask, { "content-type": type }), 415, UNSUPPORTED);
    }
    for (const charset of ["latin1", "utf-16", "utf-16le", "us-ascii", "utf7", "utf-8x"]) {
      const message = `The body must be JSON in UTF-8; its Content-Type says charset=${charset}.`;
      const reply = await post(ask, { "content-type": `application/json; charset=${charset}` });
      assertRefused(reply, 415, { ...UNSUPPORTED, message });
    }
    for (const encoding of ["gzip", "br", "deflate", "x"]) {
      const compressed = { "content-type": "application/json", "content-encoding": encoding };
      assertRefused(await post(gzipSync(ask), compressed), 415, UNSUPPORTED);
    }
    const text = { body: '{"question_id":"q","answer":"x"}', headers: { "content-type": "text/plain" } };
    assertRefused(await world().call("POST", "/human/responses", text), 415, UNSUPPORTED);
  });

  it("are refused with a body over 128 KiB, whether or not its length is told", async () => {
    const padded = (bytes: number) => ask.padEnd(bytes, " ");
    assert.equal((await post(padded(131_072), { "content-type": "application/json" })).status, 201);
    for (const bytes of [131_073, 200_000]) {
      assertRefused(await post(padded(bytes), { "content-type": "application/json" }), 413, TOO_LARGE);
      const stream = new Blob([padded(bytes)]).stream();
      const init = { method: "POST", body: stream, duplex: "half", headers: { "content-type": "application/json" } };
      const reply = await fetch(`${world().url}/agent/questions`, init as RequestInit);
      assert.deepEqual([reply.status, await reply.json()], [413, { error: TOO_LARGE }]);
    }
  });

  it("may hold the longest answer there is, every character escaped", async () => {
    const { id } = await world().agent(fresh("ana-bot")).ask();
    const body = `{"question_id":"${id}","answer":"${"\\ud83d\\ude00".repeat(5000)}"}`;
    const { headers } = world().person(fresh("bo"));
    assert.equal((await world().call("POST", "/human/responses", { body, headers })).status, 201);
  });

  it("are refused with a name in X-Agent-Id or X-Fingerprint that is too long or cannot be seen", async () => {
    const agentId = (name: string) => post(ask, { "content-type": "application/json", "x-agent-id": name });
    for (const name of ["a".repeat(129), "two words", "nam\u00e9", "a\tb"]) {
      assertInvalid(await agentId(name), null, { field: "X-Agent-Id", constraint: "format" });
    }
    for (const name of ["a".repeat(128), "!~:", ""]) assert.equal((await agentId(name)).status, 201, name);

    const { id } = await world().agent(fresh("ana-bot")).ask({ min_responses: 50, options: LABELS });
    const fingerprint = (value: string) =>
      world().call("POST", "/human/responses", {
        headers: { "x-fingerprint": value },
        body: { question_id: id, selected_option: 0 },
      });
    for (const value of ["f".repeat(513), "two words", "\u00e9"]) {
      assertInvalid(await fingerprint(value), null, { field: "X-Fingerprint", constraint: "format" });
    }
    for (const value of ["f".repeat(512), "~", ""]) assert.equal((await fingerprint(value)).status, 201, value);
  });
});

describe("bodies", () => {
  const world = sharedWorld({ on: "sqlite", env: ROOMY });
  const send = (path: string, body: string | Uint8Array) =>
    world().call("POST", path, { body, headers: { "content-type": "application/json" } });

  it("are refused where they are no JSON that every parser reads alike", async () => {
    for (const [name, body] of BAD_BODIES) {
      for (const path of ["/agent/questions", "/human/responses", "/human/push/subscribe"]) {
        const reply = await send(path, body);
        const error = {
          code: "VALIDATION_ERROR",
          message: "The body is not valid JSON",
          details: { constraint: "json" },
        };
        assert.deepEqual([name, reply.status, reply.body], [name, 400, { error }]);
      }
    }
  });

  it("are refused where they are no object", async () => {
    for (const body of ["[]", '"x"', "5", "null", "true", '[{"prompt":"Which label is clearer?","type":"text"}]']) {
      for (const path of ["/agent/questions", "/human/responses"]) {
        const reply = await send(path, body);
        assertInvalid(reply, "The body must be a JSON object", { constraint: "type" });
      }
    }
  });

  it("may be 32 levels deep in what is ignored", async () => {
    const body = `{"prompt":"Which label is clearer?","type":"text","x":${"[".repeat(31)}${"]".repeat(31)}}`;
    assert.equal((await send("/agent/questions", body)).status, 201);
  });
});
