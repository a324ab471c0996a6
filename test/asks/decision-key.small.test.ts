import { ASK_TYPES } from "../../src/core/model/ask-type.ts";
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { describe, it } from "node:test";
import {
  decisionTexts,
  envelopeHash,
  isCacheable,
  sameAskHash,
  seedKey,
  type DecidedOn,
} from "../../src/asks/model/decision-key.ts";
import { type Ask } from "../../src/asks/model/ask.ts";
import type { Audience } from "../../src/requests/model/request.ts";
import { consentOf } from "../../src/asks/model/people.ts";
import { EMPTY_ENVELOPE, EMPTY_HASH } from "../support/relay.ts";

const ASK: Ask = {
  id: "ask-1",
  jobId: "J-42",
  stepId: "S-3",
  type: "RESOURCE_FETCH",
  principal: "executor:ana",
  prompt: "List the columns of table invoices as {name,type,nullable}.",
  contextHash: EMPTY_HASH,
  envelope: EMPTY_ENVELOPE,
  roleId: "role.schema_summarizer@v1",
  meta: {},
  epoch: 0,
  constraints: { allowedTools: ["db.schema.reader"], maxTokens: 400 },
  status: "PENDING",
  stage: "cache",
  stages: [],
  createdAt: 1,
  expiresAt: 2,
  joinedTo: null,
  addressedId: null,
  questionId: null,
  decisionKey: null,
  consentDigest: null,
};
const ON: DecidedOn = {
  policyVersion: "1:227da1dce09c",
  role: { name: "role.schema_summarizer@v1", hash: "h", outputSchema: null, maxTokens: 800 },
  model: null,
};
const keyOf = (text: string): string => createHmac("sha256", Buffer.alloc(32)).update(text).digest("hex");

/** Every difference that makes another decision. */
const OTHERS: readonly [what: string, ask: Partial<Ask>, on: Partial<DecidedOn>][] = [
  ["owner", { envelope: null }, {}],
  ["another owner", { envelope: null, principal: "executor:bo" }, {}],
  ["type", { type: "CLARIFICATION" }, {}],
  ["prompt", { prompt: `${ASK.prompt} Please.` }, {}],
  ["envelope", { contextHash: "0".repeat(64) }, {}],
  ["policy", {}, { policyVersion: "1:000000000000" }],
  ["role", {}, { role: { ...ON.role, name: "role.clarifier@v1", hash: "h", outputSchema: null, maxTokens: 800 } }],
  ["role's text", {}, { role: { name: "role.schema_summarizer@v1", hash: "i", outputSchema: null, maxTokens: 800 } }],
  ["no role", {}, { role: null }],
  ["role's schema", {}, { role: { name: "role.schema_summarizer@v1", hash: "h", outputSchema: {}, maxTokens: 800 } }],
  ["asker's schema", { meta: { prompt_overrides: { output_schema: { type: "array" } } } }, {}],
  ["asker's words", { meta: { prompt_overrides: { system_append: "Be brief." } } }, {}],
  ["no tools", { constraints: { ...ASK.constraints, allowedTools: [] } }, {}],
  ["usual tools", { constraints: { maxTokens: 400 } }, {}],
  ["more tools", { constraints: { ...ASK.constraints, allowedTools: ["db.schema.reader", "code.run"] } }, {}],
  ["caps", { envelope: { ...EMPTY_ENVELOPE, tool_caps: { "db.schema.reader": { read_only: true } } } }, {}],
  ["meta", { meta: { input: { table: "invoices" } } }, {}],
  ["other meta", { meta: { input: { table: "orders" } } }, {}],
  ["model", {}, { model: "anthropic/one" }],
  ["another model", {}, { model: "openai/one" }],
  ["tokens", { constraints: { ...ASK.constraints, maxTokens: 401 } }, {}],
  ["the role's tokens", { constraints: { allowedTools: ["db.schema.reader"] } }, {}],
];

/** Differences that change nothing. */
const SAME: readonly [what: string, ask: Partial<Ask>][] = [
  ["another asker, with an envelope", { principal: "executor:bo" }],
  ["another job, step, id and time", { id: "x", jobId: "J-1", stepId: "S-9", createdAt: 9, epoch: 3 }],
  ["line ends and blanks around", { prompt: ` ${ASK.prompt}\r\n` }],
  [
    "order and repetition of tools",
    { constraints: { maxTokens: 400, allowedTools: ["db.schema.reader", "db.schema.reader"] } },
  ],
  ["whom to ask, and traces", { meta: { to: "Dana", traceparent: "00-1" } }],
  ["time", { constraints: { ...ASK.constraints, timeoutS: 5 } }],
  ["words in the ids of job and step", { jobId: "The answer is 7.", stepId: "The answer is 7." }],
];

const decisionText = (ask: Ask, on: DecidedOn): string => decisionTexts(ask, on).ofMachine();
const personDecisionText = (ask: Ask, on: DecidedOn, audience: Audience): string =>
  decisionTexts(ask, on).ofPerson(audience);

describe("the hash of an envelope", () => {
  it("is that of the vector, in any order", () => {
    assert.equal(envelopeHash(EMPTY_ENVELOPE), EMPTY_HASH);
    assert.equal(envelopeHash({ role: "default", job_snapshot: {}, facts: undefined }), EMPTY_HASH);
  });
});

describe("the digest of what people are shown", () => {
  it("is that of the vector", () => {
    const meta = { action: "deploy", resource: "shop-api", args: { version: "1.4.2" } };
    const { fn, digest } = consentOf({ prompt: "Deploy 1.4.2 to prod?", meta }, { env: "prod" });
    assert.equal(fn, "deploy");
    assert.equal(digest, "sha256:8fd3d987fdcfe9ebd974b05ddf565c29f15fe6355607da69717be7cc6a6d9752");
    assert.equal(consentOf({ prompt: "Go?", meta: {} }, { env: "dev" }).fn, "relay.approval");
  });
});

describe("the key of a decision", () => {
  it("is that of the vector", () => {
    // The vector has no hash of the role.
    const text = decisionText(ASK, ON).replace('"role_hash":"h"', '"role_hash":null');
    assert.equal(keyOf(text), "437fb9c99fdd257fbce3c6e0e80acfd6aabc32c53bc3ea342b01ffb81b4d10e8");
  });

  it("is another for whatever may make the answer another", () => {
    const texts = new Map([[decisionText(ASK, ON), "the vector's"]]);
    for (const [what, ask, on] of OTHERS) {
      const text = decisionText({ ...ASK, ...ask }, { ...ON, ...on });
      assert.equal(texts.get(text), undefined, `${what} has the key of ${texts.get(text)}`);
      texts.set(text, what);
    }
  });

  it("is another for any two differences together, too", () => {
    const texts = new Map<string, string>();
    for (const [i, [one, ask, on]] of OTHERS.entries()) {
      for (const [two, alsoAsk, alsoOn] of OTHERS.slice(i + 1)) {
        // Where both change the same thing, the second one alone counts.
        const overlaps =
          Object.keys(ask).some((name) => name in alsoAsk) || Object.keys(on).some((name) => name in alsoOn);
        if (overlaps) continue;
        const text = decisionText({ ...ASK, ...ask, ...alsoAsk }, { ...ON, ...on, ...alsoOn });
        assert.notEqual(text, decisionText(ASK, ON));
        const before = texts.get(text);
        assert.equal(before, undefined, `${one} and ${two} have the key of ${before}`);
        texts.set(text, `${one} and ${two}`);
      }
    }
    assert.ok(texts.size > 100);
  });

  it("is another for a person's answer, by who asked and whom", () => {
    const inbox: Audience = { kind: "leaf", target: { via: "inbox" } };
    const dana: Audience = { kind: "leaf", target: { via: "person", person: "dana" } };
    const texts = [
      decisionText(ASK, ON),
      personDecisionText(ASK, ON, inbox),
      personDecisionText(ASK, ON, dana),
      personDecisionText({ ...ASK, principal: "executor:other" }, ON, inbox),
      personDecisionText({ ...ASK, prompt: `${ASK.prompt}!` }, ON, inbox),
      personDecisionText(ASK, { ...ON, policyVersion: "2:000000000000" }, inbox),
    ];
    assert.equal(new Set(texts).size, texts.length);
    assert.equal(personDecisionText(ASK, ON, { ...dana }), personDecisionText(ASK, ON, dana));
  });

  it("is the same for what changes nothing", () => {
    for (const [what, ask] of SAME) assert.equal(decisionText({ ...ASK, ...ask }, ON), decisionText(ASK, ON), what);
  });

  it("cannot be made up by putting one field's text into another", () => {
    const tricky = [`a","role":null`, `a\n`, `"`, "\\"].map((prompt) => decisionText({ ...ASK, prompt }, ON));
    for (const text of tricky) assert.equal(Object.keys(JSON.parse(text) as object).length, 16);
    assert.equal(new Set(tricky).size, tricky.length);
  });

  it("is kept beside that of the seed, which knows less", () => {
    assert.match(seedKey(ASK, "1:x"), /^[0-9a-f]{64}$/);
    assert.equal(seedKey({ ...ASK, roleId: "role.other" }, "1:x"), seedKey(ASK, "1:x"));
  });
});

describe("what may be repeated", () => {
  it("is no decision, no follow-up, and nothing for the public", () => {
    const may = ASK_TYPES.filter((type) => isCacheable({ type, meta: {} }));
    assert.deepEqual(may, ["CLARIFICATION", "RESOURCE_FETCH", "CHOICE"]);
    assert.equal(isCacheable({ type: "CHOICE", meta: { in_reply_to: "ask-0" } }), false);
    assert.equal(isCacheable({ type: "CHOICE", meta: { audience: "public" } }), false);
  });
});

describe("what is the same in a later epoch", () => {
  it("goes by step, type, prompt and context", () => {
    const hash = sameAskHash(ASK);
    assert.equal(sameAskHash({ ...ASK, prompt: `${ASK.prompt}\r\n` }), hash);
    for (const more of [{ stepId: "S-4" }, { type: "CHOICE" as const }, { prompt: "?" }, { contextHash: "x" }]) {
      assert.notEqual(sameAskHash({ ...ASK, ...more }), hash);
    }
  });
});
