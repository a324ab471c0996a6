import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, describe, it } from "node:test";
import { parseExactJson } from "../../src/lib/json/exact-json.ts";
import { openForeignSchemas } from "../../src/lib/json/foreign-schema.ts";
import { shapeOf } from "../../src/requests/model/schema-shape.ts";

/** The schemas that each version of a generator wrote, stored unchanged. */
const GENERATED = JSON.parse(readFileSync(new URL("generated-schemas.json", import.meta.url), "utf8")) as {
  by: string;
  schema: Record<string, unknown>;
  fits: unknown[];
  misfits: unknown[];
  form: string;
}[];
const schemas = openForeignSchemas();
after(() => schemas.close());

const nested = (depth: number): object => (depth === 0 ? {} : { items: nested(depth - 1) });

describe("a schema from an agent", () => {
  it("is taken within its keywords", () => {
    for (const schema of [
      {},
      { type: "object", properties: { approved: { type: "boolean" } }, required: ["approved"] },
      { type: ["string", "null"], title: "Name", description: "d", default: 1, examples: [{ $ref: "http://x" }] },
      { $defs: { node: { properties: { next: { $ref: "#/$defs/node" } } } }, $ref: "#/$defs/node" },
      { $ref: "#" },
      { properties: { id: { type: "string" }, __proto__: { type: "number" }, "a/b~c d": true }, $comment: "x" },
      { pattern: "^(a+)+$" },
      { pattern: "^(?!a)(?=b|c)[a-z]+$" },
      { constructor: 1, discriminator: { propertyName: "kind" }, "x-own": {} },
      { anyOf: [true, { const: null }], not: false },
      nested(15),
    ]) {
      assert.equal(schemas.examine(schema), null, JSON.stringify(schema));
    }
  });

  it("is refused where it could reach out, run for long, or mean something else than it says", () => {
    const cases: [schema: unknown, path: string, message: RegExp][] = [
      [[], "", /an object/],
      [true, "", /an object/],
      [
        { properties: { a: { $ref: "https://x.example/s.json" } } },
        "/properties/a/$ref",
        /remote \$ref is not supported/,
      ],
      [{ $ref: "#/$defs/none" }, "/$ref", /names no schema/],
      [{ $ref: "#/properties" }, "/$ref", /names no schema/],
      [{ $id: "https://x.example" }, "/$id", /not supported/],
      [{ if: {}, then: {} }, "/if", /not supported/],
      [{ patternProperties: {} }, "/patternProperties", /not supported/],
      [{ pattern: "(?=a)" }, "/pattern", /pattern/],
      [{ pattern: "^(?!a)b|c" }, "/pattern", /pattern/],
      [{ pattern: "^(?!(a)b" }, "/pattern", /pattern/],
      [{ pattern: "^a(?!b)" }, "/pattern", /pattern/],
      [{ pattern: "(?<!a)b" }, "/pattern", /pattern/],
      [{ pattern: "(a)\\1" }, "/pattern", /pattern/],
      [{ pattern: "(?<n>a)\\k<n>" }, "/pattern", /pattern/],
      [{ pattern: "((a{100}){100}){100}" }, "/pattern", /pattern/],
      [{ type: "strin" }, "/type", /type of JSON/],
      [{ required: "a" }, "/required", /names/],
      [{ items: [{}] }, "/items", /a schema/],
      [{ anyOf: [] }, "/anyOf", /list of schemas/],
      [{ minLength: -1 }, "/minLength", /whole number/],
      [{ multipleOf: 0 }, "/multipleOf", /above 0/],
      [nested(16), "/items".repeat(16), /16 deep/],
      [{ anyOf: Array.from({ length: 500 }, () => ({})) }, "", /500 schemas/],
      [{ description: "x".repeat(65_536) }, "", /65536 bytes/],
    ];
    for (const [schema, path, message] of cases) {
      const problem = schemas.examine(schema);
      assert.equal(problem?.path, path, JSON.stringify(schema).slice(0, 80));
      assert.match(problem?.message ?? "", message);
    }
  });
});

describe("a schema as a generator writes it", () => {
  for (const { by, schema, fits, misfits, form } of GENERATED) {
    it(`is taken, shown and judged by: ${by}`, async () => {
      assert.equal(schemas.examine(schema), null);
      assert.equal(shapeOf(schema).kind, form);
      for (const value of fits) assert.deepEqual(await schemas.validate(schema, value), [], JSON.stringify(value));
      for (const value of misfits)
        assert.notDeepEqual(await schemas.validate(schema, value), [], JSON.stringify(value));
    });
  }
});

describe("a value", () => {
  const fits = async (schema: Record<string, unknown>, value: unknown) =>
    (await schemas.validate(schema, value)).map(({ path, message }) => `${path} ${message}`);

  it("fits, or is told where it does not", async () => {
    const refund = {
      type: "object",
      properties: { amount: { type: "number" }, to: { type: "string", pattern: "^[A-Z]{2}$", description: "country" } },
      required: ["amount"],
      additionalProperties: false,
    };
    assert.deepEqual(await fits(refund, { amount: 4.5, to: "DE" }), []);
    assert.deepEqual(await fits(refund, { amount: "forty" }), ["/amount must be a number"]);
    assert.deepEqual(await fits(refund, { to: "de", more: 1 }), [
      "/amount is required",
      "/to must match the pattern",
      "/more is not allowed",
    ]);
    assert.deepEqual(await fits({ enum: ["a", "b"] }, "c"), [" must be one of the values that are allowed"]);
    assert.deepEqual(await fits({ anyOf: [{ type: "integer" }, { const: "none" }] }, "x"), [
      " does not fit what is allowed",
    ]);
    assert.deepEqual(await fits({ type: ["integer", "null"] }, "x"), [" must be an integer or null"]);
    assert.deepEqual(await fits({ properties: { "a b": { type: "null" } } }, { "a b": 1 }), ["/a b must be null"]);
  });

  it("is judged through references that lead back to themselves", async () => {
    const list = {
      $defs: { "no de": { properties: { next: { $ref: "#/$defs/no%20de" }, n: { type: "integer" } } } },
      $ref: "#/$defs/no%20de",
    };
    assert.deepEqual(await fits(list, { n: 1, next: { n: 2, next: {} } }), []);
    assert.deepEqual(await fits(list, { next: { next: { n: "x" } } }), ["/next/next/n must be an integer"]);
    assert.notDeepEqual(await fits({ $ref: "#" }, 1), [], "a schema that says only itself never ends");
  });

  it("keeps integers of any size apart from texts", async () => {
    const value = parseExactJson(Buffer.from('{"user":1152921504606846977}'), { maxDepth: 8 });
    assert.deepEqual(await fits({ properties: { user: { type: "integer" } } }, value), []);
    assert.deepEqual(await fits({ properties: { user: { type: "string" } } }, value), ["/user must be a string"]);
  });

  it("does not fit when finding out takes too long, and the next one is judged all the same", async () => {
    const every = { uniqueItems: true, items: { anyOf: [{ type: "number" }, { type: "string" }] } };
    assert.deepEqual(
      await fits(
        every,
        Array.from({ length: 100_000 }, (_, i) => i),
      ),
      [" took too long to compare with the schema"],
    );
    assert.deepEqual(await fits({ type: "string" }, "x"), []);
    const both = await Promise.all([
      fits(
        every,
        Array.from({ length: 100_000 }, (_, i) => i),
      ),
      fits(every, [1, 1]),
    ]);
    assert.deepEqual(both[0], [" took too long to compare with the schema"]);
    assert.equal(both[1].length, 1);
  });

  it("meets patterns in linear time", async () => {
    const problems = await fits({ pattern: "^(a+)+$" }, `${"a".repeat(50_000)}!`);
    assert.deepEqual(problems, [" must match the pattern"]);
  });
});
