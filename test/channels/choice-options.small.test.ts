import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { choiceOptionsOf, chosenAt, chosenBy, readOptions } from "../../src/asks/model/choice-options.ts";

const labels = (prompt: string, meta: Record<string, unknown> = {}): string[] =>
  choiceOptionsOf({ prompt, meta }).map(({ label }) => label);

const LISTS: readonly [prompt: string, labels: readonly string[]][] = [
  ["Which one?\n1. EUR\n2. USD", ["EUR", "USD"]],
  ["Which one?\r\n  a) Rebase it\r\n  b) Merge it  ", ["Rebase it", "Merge it"]],
  ["- one\n- two\n- three", ["one", "two", "three"]],
  ["1. EUR\n   - the shop's own\n   - no fees\n2. USD", ["EUR", "USD"]],
  ["- EUR\n  - no fees\n- USD", ["EUR", "USD"]],
  ["Options below; price decides.\n- price\n- speed\na) this\nb) that", ["this", "that"]],
  ["Any currency?", []],
  ["1. only one", []],
  ["1. yes\n2. yes", []],
  ["1.no space\n2.no space", []],
  ["2026. was a year\n2027. will be", []],
  ["e.g. a)b and -c", []],
  [Array.from({ length: 21 }, (_, i) => `- option ${i}`).join("\n"), []],
];

describe("options of a CHOICE", () => {
  for (const [prompt, expected] of LISTS) {
    it(`finds ${expected.length} in ${JSON.stringify(prompt.slice(0, 40))}`, () =>
      assert.deepEqual(labels(prompt), expected));
  }

  it("takes those of meta before those of the prompt, as strings or with ids", () => {
    assert.deepEqual(labels("1. a\n2. b", { options: ["x", " y "] }), ["x", "y"]);
    assert.deepEqual(choiceOptionsOf({ prompt: "?", meta: { options: [{ id: "e", label: "EUR" }, "USD"] } }), [
      { id: "e", label: "EUR" },
      { label: "USD" },
    ]);
  });

  for (const bad of [
    undefined,
    "a,b",
    [],
    ["a"],
    ["a", "a"],
    ["a", 1],
    ["a", ""],
    ["a", { id: 1, label: "b" }],
    ["a", { id: "b" }],
    [
      { id: "a", label: "A" },
      { id: "a", label: "B" },
    ],
    [
      { id: "a", label: "A" },
      { id: "b", label: "A" },
    ],
    Array.from({ length: 21 }, (_, i) => `${i}`),
  ]) {
    it(`does not take ${JSON.stringify(bad)?.slice(0, 40)} for options`, () => assert.equal(readOptions(bad), null));
  }

  const options = [{ id: "eur", label: "Euro" }, { label: "US dollar" }, { id: "euro", label: "Gold" }];
  for (const [words, index] of [
    ["eur", 0],
    ["Euro", 0],
    ["euro", 2],
    [" us  DOLLAR ", 1],
    ["2. US dollar", 1],
    ["b) us dollar", 1],
    ["- Gold", 2],
  ] as const) {
    it(`takes ${JSON.stringify(words)} for option ${index}`, () =>
      assert.deepEqual(chosenBy(options, words), chosenAt(options, index)));
  }

  for (const words of ["", "pound", "EURO", "US", "1", "Euro or Gold"]) {
    it(`takes ${JSON.stringify(words)} for none`, () => assert.equal(chosenBy(options, words), null));
  }

  it("says the label, and the id or label with its place counted from 0", () => {
    assert.deepEqual(chosenAt(options, 0), { text: "Euro", json: { choice: "eur", index: 0 } });
    assert.deepEqual(chosenAt(options, 1), { text: "US dollar", json: { choice: "US dollar", index: 1 } });
    for (const nowhere of [-1, 3, 0.5, Number.NaN]) assert.equal(chosenAt(options, nowhere), null);
  });

  it("never chooses what is not listed, whatever is said", () => {
    fc.assert(
      fc.property(fc.array(fc.string()), fc.string(), (given, words) => {
        const read = readOptions(given) ?? [];
        const chosen = chosenBy(read, words);
        assert.ok(chosen === null || read[chosen.json.index]?.label === chosen.text);
        for (const [i, { label }] of read.entries()) assert.equal(chosenBy(read, label)?.json.index, i);
      }),
    );
  });
});
