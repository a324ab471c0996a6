import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { readYaml } from "../../src/lib/strict-yaml.ts";
import { listLines, NotedValue } from "../../src/lib/yaml-text.ts";

const LIMITS = { maxBytes: 1_048_576, maxAliases: 0 };
const read = (lines: readonly string[]): unknown => readYaml(lines.join("\n"), LIMITS).value;

describe("a list printed as YAML", () => {
  it("is read as the same values, whatever they and the notes above them hold", () => {
    const value = fc.jsonValue({ noUnicodeString: false });
    fc.assert(
      fc.property(fc.array(value), fc.array(fc.string({ unit: "binary" }), { minLength: 1 }), (values, notes) => {
        const noted = values.map((one) => new NotedValue([one, new NotedValue(one, notes)], notes));
        const plain: unknown = JSON.parse(JSON.stringify({ rules: values.map((one) => [one, one]) }));
        assert.deepEqual(JSON.parse(JSON.stringify(read(listLines("rules", noted)))), plain);
        assert.match(listLines("rules", values).join("\n"), /^[\n\x20-\x7e]*$/);
      }),
    );
  });

  it("has short collections of plain values on one line, and notes above their values", () => {
    const rule = { id: "a", when: { fn: ["Read", "**"], path: [new NotedValue("ä", ["of ä", "b\n\u202e"])] } };
    assert.deepEqual(listLines("rules", [new NotedValue(rule, ["1 call"])]), [
      "rules:",
      "  # 1 call",
      "  - id: a",
      "    when:",
      '      fn: [ Read, "**" ]',
      "      path:",
      "        # of ä",
      "        # b\\u000a\\u202e",
      '        - "\\u00e4"',
    ]);
    assert.equal(listLines("rules", [Array.from({ length: 40 }, () => "npm test")]).length, 41);
    assert.deepEqual(listLines("rules", []), ["rules: []"]);
  });
});
