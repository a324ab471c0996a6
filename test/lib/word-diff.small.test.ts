import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { type WordPart, wordDiff } from "../../src/lib/word-diff.ts";

const MARKS = { same: "", before: "-", now: "+" } as const;
/** Writes what differs as `[-earlier-]` and `[+present+]`. */
const marked = (before: string, now: string): string =>
  wordDiff(before, now)
    .map(({ kind, text }) => (kind === "same" ? text : `[${MARKS[kind]}${text}${MARKS[kind]}]`))
    .join("");
const sideOf = (parts: readonly WordPart[], side: "before" | "now"): string =>
  parts
    .filter(({ kind }) => kind === "same" || kind === side)
    .map(({ text }) => text)
    .join("");

const word = fc.constantFrom("a", "bo", "cy ", " ", "\n", ".", "日本語", "مرحبا", "1.8.0", "x@y.example");
const words = fc.array(word, { maxLength: 40 }).map((all) => all.join(""));

describe("two texts word by word", () => {
  it("mark the words that differ, and several in a row as one", () => {
    assert.equal(marked("Refund 240 EUR to Bo", "Refund 250 EUR to Bo"), "Refund [-240-][+250+] EUR to Bo");
    assert.equal(marked("Dear Bo Lind, thanks", "Dear Cy Moss, thanks"), "Dear [-Bo Lind-][+Cy Moss+], thanks");
    assert.equal(marked("now", "now and later"), "now[+ and later+]");
    assert.equal(marked("see shop.example", "see sh0p.example"), "see [-shop.example-][+sh0p.example+]");
    assert.equal(marked("", "all"), "[+all+]");
    assert.equal(marked("same", "same"), "same");
  });

  it("find words where no space is between them, and in any script", () => {
    assert.equal(marked("今日は東京に行く", "今日は大阪に行く"), "今日は[-東京-][+大阪+]に行く");
    assert.equal(marked("ادفع لأحمد اليوم", "ادفع لخالد اليوم"), "ادفع [-لأحمد-][+لخالد+] اليوم");
  });

  it("are each whole, and never have two parts of one kind beside one another", () => {
    fc.assert(
      fc.property(words, words, (before, now) => {
        const parts = wordDiff(before, now);
        assert.equal(sideOf(parts, "before"), before);
        assert.equal(sideOf(parts, "now"), now);
        for (const [at, { kind, text }] of parts.entries()) {
          assert.notEqual(text, "");
          assert.notEqual(kind, parts[at + 1]?.kind);
        }
      }),
    );
  });

  it("stand one after the other where too many words differ", () => {
    const [before, now] = ["a", "b"].map((one) => Array.from({ length: 400 }, (_, at) => `${one}${at}`).join(" "));
    assert.deepEqual(wordDiff(before ?? "", now ?? ""), [
      { kind: "before", text: before },
      { kind: "now", text: now },
    ]);
  });
});
