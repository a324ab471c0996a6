import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { leadOf, partsOf } from "../../../web/src/parts/code-blocks.ts";

const shown = (words: string) =>
  partsOf(words).map(({ text, language }) => (language === null ? text : `[${language}|${text}]`));

describe("the words of an agent", () => {
  it("are prose and blocks of code, whose characters stay as they are", () => {
    for (const [words, parts] of [
      ["One\n\ntwo", ["One\n\ntwo"]],
      [
        "Run this:\n\n```sql\nDROP  TABLE x;\n\n\tok \n```\n\nIt is old.",
        ["Run this:", "[sql|DROP  TABLE x;\n\n\tok ]", "It is old."],
      ],
      ["```\na\n```\n```c++\nb\n```", ["[|a]", "[c++|b]"]],
      ["~~~\n```\na\n```\n~~~\nb", ["[|```\na\n```]", "b"]],
      ["````md\n```\na\n```\n````", ["[md|```\na\n```]"]],
      ["One\n```\nnever closed\n\n", ["One", "[|never closed\n]"]],
      ["```\n```", ["[|]"]],
      ["", []],
    ] as const) {
      assert.deepEqual(shown(words), parts);
    }
  });

  it("are prose where a fence holds more than a language, stands within a line, or is all there is", () => {
    for (const words of ["```rm it all\na\n```x", "a ```b``` c", "```a```\nb", "    ```\n    a", "```"]) {
      assert.deepEqual(shown(words), [words]);
    }
  });

  it("begin with a sentence that stands for them in a list, without code", () => {
    for (const [words, lead] of [
      ["Is this fine? It is new.", "Is this fine? It is new."],
      ["Look at this function first. Is it fine?", "Look at this function first."],
      ["```js\na = 1\n```\nIs this\nfine to merge?\n\nIt is new.", "Is this fine to merge?"],
      ["```js\na = 1\nb\n```", "a = 1"],
      ["", ""],
    ] as const) {
      assert.equal(leadOf(words), lead);
    }
  });
});
