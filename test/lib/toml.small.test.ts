import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { NotToml, readToml } from "../../src/lib/toml.ts";

const plain = (text: string): unknown => JSON.parse(JSON.stringify(readToml(text)));

describe("a TOML text", () => {
  it("has tables, lists of tables, and values that span lines", () => {
    const text = `
title = "a \\"b\\" \\u00e4" # c
'odd name'.x = 'C:\\d'
[server]
ports = [ 1, 2_000, # two
  -3.5, ]
[server.deep]
is = { on = true, "a.b" = [] }
[[rule]]
name = "one"
[rule.more]
x = 1
[[rule]]
name = """
two \\
   lines"""
at = 1979-05-27
`;
    assert.deepEqual(plain(text), {
      title: 'a "b" ä',
      "odd name": { x: "C:\\d" },
      server: { ports: [1, 2000, -3.5], deep: { is: { on: true, "a.b": [] } } },
      rule: [
        { name: "one", more: { x: 1 } },
        { name: "two lines", at: "1979-05-27" },
      ],
    });
    assert.deepEqual(Object.keys(readToml("__proto__ = 1")), ["__proto__"]);
  });

  it("with a mistake is refused with its line", () => {
    const bad = [
      "a = 1\na = 2",
      "a",
      "a = ",
      "a = [1",
      "a = {b = 1",
      "[a\nb = 1",
      'a = "x',
      "a = 1 b = 2",
      "[a]\n[a]",
      "a = x",
      'a = "\\q"',
      "a = [1]\n[[a]]",
      "a = 1\n[a.b]",
    ];
    for (const text of bad) assert.throws(() => readToml(text), NotToml, text);
    assert.throws(() => readToml("a = 1\n\nb = ?"), /line 3/);
  });
});
