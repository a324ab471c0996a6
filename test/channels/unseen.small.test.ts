import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { printable, printableExactly, printableJson } from "../../src/lib/printable.ts";
import { firstUnseen, UNSEEN_POINTS } from "../support/unseen-points.ts";
import { askOf, RENDERERS } from "../support/unseen-renderers.ts";

const LAST = 0x10ffff;
const isSurrogate = (point: number): boolean => point >= 0xd800 && point <= 0xdfff;
const escapeOf = (point: number): string =>
  point > 0xffff ? `\\u{${point.toString(16)}}` : `\\u${point.toString(16).padStart(4, "0")}`;

describe("what nobody can see", () => {
  it("is shown as an escape in what is approved, and nothing else of Unicode is", () => {
    const unseen = new Set(UNSEEN_POINTS);
    for (let point = 0; point <= LAST; point += 1) {
      if (isSurrogate(point)) continue;
      const character = String.fromCodePoint(point);
      const wanted = unseen.has(point) ? escapeOf(point) : character;
      if (printableExactly(character) !== wanted) assert.equal(printableExactly(character), wanted);
    }
  });

  it("is shown by nothing that shows a call, in its name, its arguments and their names", async () => {
    for (let from = 0; from < UNSEEN_POINTS.length; from += 50) {
      const points = UNSEEN_POINTS.slice(from, from + 50);
      const all = points.map((point) => `${String.fromCodePoint(point)}.`).join("");
      const ask = askOf(`wipe${all}`, { [`disk${all}`]: { deep: all }, plain: "a❤\ufe0f" });
      for (const [name, render] of Object.entries(RENDERERS)) {
        const shown = await render(ask);
        assert.equal(firstUnseen(shown), undefined, name);
        const escapes = shown.matchAll(/\\u\{?([0-9a-f]+)/g);
        const escaped = new Set(Array.from(escapes, ([, hex = ""]) => parseInt(hex, 16)));
        // JSON has letters for some controls, and writes what is beyond U+FFFF in two units.
        const missing = points.filter((point) => point > 0x1f && !escaped.has(point));
        if (name !== "--json") assert.deepEqual(missing, [], name);
      }
    }
  });

  it("makes no two calls look alike", async () => {
    for (const [name, render] of Object.entries(RENDERERS)) {
      const seen = new Map<string, number>();
      for (const point of [-1, ...UNSEEN_POINTS.filter((_, i) => i % 16 === 0)]) {
        const hidden = point < 0 ? "" : String.fromCodePoint(point);
        const shown = await render(askOf("pay", { to: `Ana${hidden}` }, { digest: null }));
        const twin = seen.get(shown);
        assert.equal(twin, undefined, `${name}: ${String(twin)} and ${point}`);
        seen.set(shown, point);
      }
    }
  });

  it("is left in words where it makes an emoji or is a space, and nowhere else", () => {
    for (const words of ["❤️ 👨‍👩‍👧 🏴󠁧󠁢󠁥󠁮󠁧󠁿 1️⃣ 🇩🇪 👍🏽", "Grüße\u00a0!", "質問　です"]) assert.equal(printable(words), words);
    assert.equal(printable("a\ufe0f ❤\ufe0e x\u200dy \u{2800}\u3164"), "a\\ufe0f ❤\\ufe0e x\\u200dy \\u2800\\u3164");
    assert.equal(printable("🏴\u{e0067}\u{e0078}\u{e007f}"), "🏴\\u{e0067}\\u{e0078}\\u{e007f}");
  });

  it("is left in exactly those emoji that Unicode recommends, whatever stands beside them", () => {
    const wanted = new RegExp(
      String.raw`\p{RGI_Emoji}|[${UNSEEN_POINTS.map((point) => `\\u{${point.toString(16)}}`).join("")}]`,
      "gv",
    );
    const isUnseen = new Set(UNSEEN_POINTS);
    const parts = [..."a1#*©❤♂⚕↔🗨👁🏳🏴🏽🏻👩👨👧🧑💋🚀😀🇩🇪🔥⬛"].concat([
      "\u200d",
      "\ufe0f",
      "\ufe0e",
      "\u20e3",
      "\u2800",
      " ",
    ]);
    const tags = [
      "\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
      "\u{e0001}",
      "👨\u200d👩\u200d👧",
      "🏳\ufe0f\u200d⚧\ufe0f",
    ];
    const part = fc.oneof(fc.constantFrom(...parts, ...tags), fc.constantFrom("\u200d", "\ufe0f"));
    const property = fc.property(fc.array(part, { maxLength: 12 }), (list) => {
      const text = [...list.join("")].slice(0, 20).join("");
      const shown = text.replace(wanted, (found) => {
        const point = found.codePointAt(0) ?? 0;
        return isUnseen.has(point) ? escapeOf(point) : found;
      });
      assert.equal(printable(text), shown);
    });
    fc.assert(property, { numRuns: 5000 });
    const chain = "😀\u200d".repeat(30);
    assert.equal(firstUnseen(printable(chain)), undefined);
  });

  it("is an escape of JSON in JSON, which says the same", () => {
    const value = { [`a\u{e0041}\u034f`]: UNSEEN_POINTS.map((point) => String.fromCodePoint(point)).join("") };
    const json = printableJson(JSON.stringify(value, null, 2));
    assert.equal(firstUnseen(json), undefined);
    assert.deepEqual(JSON.parse(json), value);
  });
});
