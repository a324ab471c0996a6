import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { canonicalExact } from "../../src/lib/json/exact-json.ts";
import { draw } from "../../src/protocols/web/drawing/draw.ts";
import { wordsMarkup } from "../../src/protocols/web/links/words.ts";
import { sentenceOf } from "../../src/requests/model/sentence.ts";
import { riskReasonsOf } from "../../src/requests/model/risk.ts";
import { viewInMessage } from "../../src/requests/model/message-view.ts";
import type { WireArgumentRow } from "../../src/wire/inbox.ts";
import { askOf, OUR_URL } from "../support/unseen-renderers.ts";

/** Fills about so many characters. Each is costly to draw in a way of its own. */
const TEXTS: Readonly<Record<string, (characters: number) => string>> = {
  "blanks before a letter": (characters) => `${" ".repeat(characters)}x\n`,
  "blanks in many lines": (characters) => `${" ".repeat(99)}x\n`.repeat(characters / 100),
  tabs: (characters) => `${"\t".repeat(characters)}x\n`,
  "one long word": (characters) => "a".repeat(characters),
  "pushes of a command": (characters) => "push ".repeat(characters / 5),
  slashes: (characters) => "/".repeat(characters),
  "open comments": (characters) => "<!--".repeat(characters / 4),
  backticks: (characters) => "`".repeat(characters),
  "a fence and blanks": (characters) => `\`\`\`${" ".repeat(characters)}x`,
  fences: (characters) => "```\n".repeat(characters / 4),
  addresses: (characters) => "https://a.example ".repeat(characters / 18),
  "a diff of short lines": (characters) => `--- a/x\n+++ b/x\n@@ @@\n${"+x\n".repeat(characters / 3)}`,
  "combining marks": (characters) => "e\u0301".repeat(characters / 2),
  "what cannot be seen": (characters) => `${"\u200b".repeat(characters)}\n`,
  "joined emoji": (characters) => "\u{1f468}\u200d\u{1f469}".repeat(characters / 5),
};
const VALUES: Readonly<Record<string, (characters: number) => Record<string, unknown>>> = {
  ...Object.fromEntries(
    Object.entries(TEXTS).map(([name, fill]) => [name, (n: number) => ({ command: fill(n), text: fill(n) })]),
  ),
  "amounts of money": (characters) => members(characters / 20, (i) => i + 0.5),
  "days and moments": (characters) => members(characters / 20, () => "2026-11-28T10:00:00Z"),
  "many members": (characters) => members(characters / 20, () => "vvvvvvv"),
  "a table": (characters) => ({ table: Array.from({ length: characters / 12 }, (_, i) => ({ [`c${i % 12}`]: "v" })) }),
  "a deep value": (characters) => ({ list: Array.from({ length: characters / 400 }, () => nested(60)) }),
};

function members(count: number, value: (i: number) => unknown): Record<string, unknown> {
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [`amount_cents_${i}`, value(i)]));
}

function nested(depth: number): unknown {
  return depth === 0 ? 1 : { a: nested(depth - 1) };
}

/** Each way to look at a call, with all that it reads. */
function look(kwargs: Record<string, unknown>, words: string): void {
  const ask = askOf("report", { ...kwargs, currency: "EUR" }, { words });
  const { form } = ask;
  if (form.kind === "approval") draw({ kind: "editor", kwargs: form.kwargs });
  draw({ kind: "ask", request: ask });
  viewInMessage(ask, OUR_URL);
  sentenceOf(ask);
  riskReasonsOf(ask);
  wordsMarkup(words, true);
}

/** The processor time of this thread, so that a busy machine changes nothing; the least of three tries. */
function costMs(kwargs: Record<string, unknown>, words: string): number {
  const tries = Array.from({ length: 3 }, () => {
    const before = process.threadCpuUsage();
    look(kwargs, words);
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1000;
  });
  return Math.min(...tries);
}

const SMALL = 6000;
/** A cost by the square would grow 256 times. */
const [TIMES, MOST_GROWTH] = [16, 80];
/** Less than this is measured badly. */
const LEAST_MS = 2;

describe("the cost of a view", () => {
  for (const [name, fill] of Object.entries(VALUES)) {
    it(`grows as its call does: ${name}`, () => {
      const words = (n: number) => TEXTS[name]?.(Math.min(n, 40_000)) ?? "";
      look(fill(SMALL), words(SMALL));
      const small = Math.max(LEAST_MS, costMs(fill(SMALL), words(SMALL)));
      const large = costMs(fill(SMALL * TIMES), words(SMALL * TIMES));
      assert.ok(large < small * MOST_GROWTH, `${large.toFixed(1)} ms, and ${small.toFixed(1)} ms for a ${TIMES}th`);
    });
  }

  it("is bounded: beyond the first lines and arguments a call is drawn as its JSON alone", () => {
    const kwargs = canonicalExact(members(6000, () => "2026-11-28"));
    const { bytes } = draw({ kind: "rows", request: { wire: {} }, kwargs });
    const rows = JSON.parse(new TextDecoder().decode(bytes)) as WireArgumentRow[];
    assert.equal(rows.length, 6000);
    assert.equal(rows.filter(({ typed }) => typed !== null).length, 5000);
    assert.ok(rows.every(({ text }) => text === '"2026-11-28"'));
  });
});
