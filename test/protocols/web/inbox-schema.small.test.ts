import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fieldOf, filledFrom, filledWith, valueOf } from "../../../web/src/inbox/arguments/schema.ts";

const kindOf = (schema: unknown) => fieldOf(schema as Record<string, unknown>).kind;
/** Returns the value that is sent if a person opens the form with this value and changes nothing. */
const through = (schema: Record<string, unknown>, value: unknown) => {
  const field = fieldOf(schema);
  return valueOf(field, filledWith(field, value));
};

describe("a form made from a JSON Schema", () => {
  it("gives back every value that was put into it", () => {
    const point = { type: "object", required: ["x"], properties: { x: { type: "number" }, y: { type: "integer" } } };
    const cases: [Record<string, unknown>, unknown][] = [
      [{ type: "boolean" }, false],
      [{ type: "string", minLength: 1 }, "a\nb"],
      [{ type: "number" }, -2.5],
      [{ type: "integer", minimum: 0 }, 0],
      [{ enum: ["a", 1, null, { b: 2 }] }, { b: 2 }],
      [{ enum: ["a", null] }, null],
      [{ type: ["string", "null"] }, null],
      [{ anyOf: [{ $ref: "#/$defs/p" }, { type: "null" }], $defs: { p: point } }, { x: 1 }],
      [{ type: "array", items: point }, [{ x: 1, y: 2 }, { x: 3 }]],
      [{ type: "array", uniqueItems: true, items: { enum: ["a", "b", "c"] } }, ["a", "c"]],
      [
        {
          oneOf: [
            { const: 1, title: "One" },
            { const: 2, title: "Two" },
          ],
        },
        2,
      ],
      [{ allOf: [{ $ref: "#/$defs/p" }], $defs: { p: point } }, { x: 9 }],
      [{ type: "object", properties: { "a/b~c": { type: "object", properties: { deep: { type: "boolean" } } } } }, {}],
      [{ type: "object", additionalProperties: { type: "number" } }, { any: 1 }],
    ];
    for (const [schema, value] of cases) {
      assert.deepEqual(through(schema, value), { value, problems: [] }, JSON.stringify(schema));
    }
  });

  it("leaves to JSON what it cannot draw", () => {
    const round = { $ref: "#/$defs/node", $defs: { node: { $ref: "#/$defs/node" } } };
    const schemas = [
      true,
      {},
      round,
      { anyOf: [{ type: "string" }, { type: "number" }] },
      { type: ["string", "number"] },
    ];
    for (const schema of [...schemas, { type: "object", properties: {}, required: ["a"] }, { not: {} }]) {
      assert.equal(kindOf(schema), "json", JSON.stringify(schema));
    }
    const tree: Record<string, unknown> = { type: "object", properties: { child: { $ref: "#" } } };
    assert.equal(kindOf(tree), "object", "a tree is drawn as deep as a form may be");
  });

  it("says where something is missing or wrong, and never guesses what 1,000 means", () => {
    const schema = {
      type: "object",
      required: ["n", "s", "b"],
      properties: {
        n: { type: "number", maximum: 9 },
        s: { type: "string", minLength: 3 },
        b: { type: "boolean" },
        "x/y": { type: "array", minItems: 2, items: { type: "integer" } },
        free: {},
      },
    };
    const field = fieldOf(schema);
    const pathsOf = (filled: Parameters<typeof valueOf>[1]) => valueOf(field, filled).problems.map(({ path }) => path);
    assert.deepEqual(pathsOf({}), ["/n", "/s", "/b"]);
    assert.deepEqual(pathsOf({ n: "10", s: "ab", b: true, "x/y": ["1"], free: "{" }), ["/n", "/s", "/x~1y", "/free"]);
    const number = fieldOf({ type: "number" });
    for (const [typed, value] of [
      ["2,5", 2.5],
      ["-1.25", -1.25],
      [" 7 ", 7],
    ] as const) {
      assert.deepEqual(valueOf(number, typed), { value, problems: [] });
    }
    for (const typed of ["1,000", "1.000,5", "seven", "", "1e999"]) {
      assert.equal(valueOf(number, typed).problems.length, 1, typed);
    }
    assert.equal(valueOf(fieldOf({ type: "integer" }), "1.000").problems.length, 1);
  });

  it("sends no number with other digits than were typed", () => {
    const [number, json] = [fieldOf({ type: "number" }), fieldOf(true)];
    for (const typed of ["12345678901234567890", "9007199254740993", "0.12345678901234567891", "-1e-400"]) {
      assert.equal(valueOf(number, typed).problems.length, 1, typed);
      assert.equal(valueOf(json, `{"a": [${typed}]}`).problems.length, 1, typed);
    }
    for (const typed of ["9007199254740991", "100000000000000000000", "-0.10", "1e21", "2.50", "0", "5e-324"]) {
      assert.deepEqual(valueOf(number, typed), { value: Number(typed), problems: [] });
      assert.deepEqual(valueOf(json, `[${typed}, "\\" 9007199254740993"]`).problems, [], typed);
    }
  });

  it("holds what was written as JSON, and the null of a default", () => {
    const owner = { type: ["string", "null"], default: "me" };
    const field = fieldOf({ type: "object", properties: { owner, n: { type: "integer" } } });
    assert.deepEqual(filledFrom(field, '{"owner": "you", "n": 3}'), { owner: "you", n: "3" });
    for (const words of ['{"owner": ', '{"n": 9007199254740993}']) assert.equal(filledFrom(field, words), undefined);
    assert.deepEqual(filledWith(field, { owner: null }), { owner: "", n: "" });
  });

  it("shows in a label what could hide in it", () => {
    const field = fieldOf({ title: "a\u202eb", enum: ["x\u200b", "y"] });
    assert.equal(field.title, "a\\u202eb");
    assert.ok(field.kind === "choice" && field.options[0]?.label === "x\\u200b");
    assert.deepEqual(valueOf(field, 0).value, "x\u200b");
  });
});
