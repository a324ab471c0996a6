import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { canonicalExact } from "../../src/lib/json/exact-json.ts";
import { typedArgument } from "../../src/requests/model/typed-argument.ts";

const typed = (value: unknown, name = "x", all: Record<string, unknown> = {}) =>
  typedArgument(name, canonicalExact(value), all);
const isOf = (value: unknown, name?: string, all?: Record<string, unknown>) => typed(value, name, all)?.kind;

const DIFF = "--- a/shop.ts\n+++ b/shop.ts\n@@ -1,3 +1,3 @@ shop\n keep\n--- old\n+++ new\n \n";

describe("an argument drawn as what it is", () => {
  it("is a text with its lines, in which a tab and blanks at the end of a line can be seen", () => {
    assert.deepEqual(typed("Dear Ana,\n\n\tit came  \nBo"), {
      kind: "text",
      lines: ["Dear Ana,", "", "⇥ it came\\u0020\\u0020", "Bo"],
    });
    assert.deepEqual(typed("a\r\nb\u202ec"), { kind: "text", lines: ["a\\u000d", "b\\u202ec"] });
  });

  it("is a diff where every hunk holds as many lines as it says, told from its headers by their place", () => {
    const drawn = typed(DIFF);
    assert.equal(drawn?.kind === "diff" && drawn.lines.map(({ sign }) => sign).join(""), "@@@ -+ @");
    assert.deepEqual(drawn?.kind === "diff" && drawn.lines[4], { sign: "-", text: "--- old" });
  });

  it("is a diff as agents write them: with wrong counts or none, without a last line break, or of apply_patch", () => {
    const codex =
      "*** Begin Patch\n*** Update File: a.ts\n@@ class A\n keep\n--- old\n+new\n*** Add File: b.ts\n+one\n";
    for (const [written, signs] of [
      [DIFF.replace("1,3", "1,4"), "@@@ -+  "],
      [DIFF.replace("@@ -1,3 +1,3 @@ shop", "@@ ... @@"), "@@@ -+  "],
      [DIFF.replace("keep\n", "keep\nunsigned\n\n"), "@@@   -+  "],
      [DIFF.trimEnd(), "@@@ -+"],
      [`${DIFF}and more`, "@@@ -+  "],
      [DIFF.slice(DIFF.indexOf("@@")).replace("1,3", "9,9"), "@ -+  "],
      [`${DIFF.replace("1,3", "7,7").trim()}\n--- a/b.ts\n+++ b/b.ts\n@@ -1 +1 @@\n-1\n+2`, "@@@ -+@@@-+"],
      [`diff --git a/x b/x\nindex 1..2\n${DIFF.replace("1,3", "1,4")}`, "@@@@@ -+  "],
      [`${codex}*** End Patch`, "@@@ -+@+@"],
      [`${codex}*** End of File\n*** End Patch\n`, "@@@ -+@+@@ "],
      [codex.replace("*** Begin Patch\n", ""), "@@ -+@+ "],
    ] as const) {
      const drawn = typed(written);
      assert.equal(drawn?.kind, "diff", written);
      assert.equal(drawn.lines.map(({ sign }) => sign).join(""), signs, written);
      const back = drawn.lines.map(({ text }) => text.replaceAll("\\u0020", " ").replace("↵", ""));
      assert.equal(back.join("\n"), written, "every character is shown");
    }
  });

  it("is no diff where a text only looks like a part of one", () => {
    for (const other of [
      `note\n${DIFF}`,
      "+ one\n- two",
      "- [ ] buy\n- [x] sell\n+ keep",
      "---\nname: shop\nsteps:\n- run: test\n- run: ship\n---\n",
      "--- a/x\n+++ b/x\nno hunk follows",
      "--- \n+++ \n@@ x\n",
      "@@ home\n- milk\n+ eggs",
      "*** Begin Patch\nof the day\n- one\n",
      "diff --git a/x b/x\nwas run, and it said nothing",
      "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\nand here\nbegins a letter\nof several lines",
      "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n only context",
    ]) {
      assert.equal(isOf(other), "text", other);
    }
  });

  it("is a diff in which an empty line and a blank one differ", () => {
    const ends = ["\n", "\n ", "\n\n", "\n \n", " \n"];
    const looks = ends.map((end) => {
      const drawn = typed(`--- a\n+++ b\n@@\n+x${end}`);
      return drawn?.kind === "diff" && drawn.lines.map(({ text }) => (text === "" ? " " : text)).join("\n");
    });
    assert.equal(new Set(looks).size, ends.length);
  });

  it("is a list, a table or fields where nothing is nested deeper", () => {
    assert.deepEqual(typed(["a", 1, "1", "", null]), { kind: "list", items: ["a", "1", '"1"', '""', "null"] });
    assert.deepEqual(typed([{ a: 1 }, { a: "x", toString: true }]), {
      kind: "table",
      columns: ["a", "toString"],
      rows: [
        ["1", ""],
        ["x", "true"],
      ],
    });
    assert.deepEqual(typed({ city: "Ulm", zip: "89073" }), {
      kind: "fields",
      rows: [
        ["city", "Ulm"],
        ["zip", '"89073"'],
      ],
    });
    for (const nested of [[], {}, [[1]], { a: { b: 1 } }, [{ a: [1] }], [1, { a: 1 }]])
      assert.equal(typed(nested), null);
  });

  it("is a link only as a whole, over http or https, and names the host that a browser goes to", () => {
    const hostOf = (text: string) => {
      const drawn = typed(text);
      return drawn?.kind === "link" ? drawn.host : undefined;
    };
    assert.equal(hostOf("https://shop.example/a?b=c"), "shop.example");
    assert.equal(hostOf("https://bank.example@evil.example/"), "evil.example");
    assert.equal(hostOf("https://b\u0430nk.example/"), "xn--bnk-6cd.example");
    for (const other of [
      "javascript:alert(1)",
      "see https://a.example",
      "https://",
      "ftp://a.example/",
      "//a.example",
    ]) {
      assert.equal(isOf(other), "text", other);
    }
  });

  it("is a date where day and zone are said and exist", () => {
    assert.deepEqual(typed("2026-11-23T18:00:00+02:00"), {
      kind: "date",
      text: "2026-11-23T18:00:00+02:00",
      at: "2026-11-23T16:00:00.000Z",
    });
    assert.equal(isOf("2026-11-23"), "date");
    for (const other of ["2026-02-30", "2026-11-23T18:00:00", "2026-11-23T25:00:00Z", "23.11.2026"]) {
      assert.equal(isOf(other), "text", other);
    }
  });

  it("is money where name and value leave no doubt about the unit, with every digit", () => {
    const moneyIn = (...of: Parameters<typeof typed>) => {
      const drawn = typed(...of);
      return drawn?.kind === "money" ? `${drawn.amount} ${drawn.currency}` : null;
    };
    assert.equal(moneyIn(49.9, "amount", { currency: "eur" }), "49.9 EUR");
    assert.equal(moneyIn(4990, "amountCents", { currency: "EUR" }), "49.90 EUR");
    assert.equal(moneyIn(-5, "amount_cents", { currency: "USD" }), "-0.05 USD");
    assert.equal(moneyIn(500, "price_usd"), "500 USD");
    assert.equal(moneyIn(4990, "amount", { currency: "EUR" }), "4990 EUR");
    assert.equal(moneyIn(4990, "amount_cents", { currency: "JPY" }), "4990 JPY");
    assert.equal(moneyIn(49.9, "weight", { currency: "EUR" }), null);
    assert.equal(moneyIn(49.9, "amount", { currency: "XYZ" }), null);
    assert.equal(moneyIn("49.9", "amount", { currency: "EUR" }), null, "a text is shown as it is");
  });

  it("looks like no other argument", () => {
    const part = fc.constantFrom(
      ...'a 1\\u{}[]"\n\t\r⇥↵-+@,:',
      ..."\u202e\u00a0\ufe0f\ud800",
      "\\u202e",
      "\\n",
      "@@ -1 +1 @@",
      "--- a\n+++ b\n@@\n",
      "true",
      "null",
    );
    const words = fc.array(part, { maxLength: 5 }).map((parts) => parts.join(""));
    const scalar = fc.oneof(words, fc.integer({ min: -2, max: 2 }), fc.constantFrom(true, false, null));
    const value = fc.oneof(
      { weight: 3, arbitrary: words },
      scalar,
      fc.array(scalar, { maxLength: 2 }),
      fc.dictionary(words, scalar, { maxKeys: 2 }),
      fc.array(fc.dictionary(words, scalar, { maxKeys: 2 }), { maxLength: 2 }),
    );
    const seen = new Map<string, string>();
    fc.assert(
      fc.property(value, (given) => {
        const drawn = typed(given);
        if (drawn === null) return;
        // Signs are colours, which nobody has to see.
        const shown = drawn.kind === "diff" ? { ...drawn, lines: drawn.lines.map(({ text }) => text) } : drawn;
        const [looks, canonical] = [JSON.stringify(shown), canonicalExact(given)];
        assert.equal(seen.get(looks) ?? canonical, canonical);
        seen.set(looks, canonical);
      }),
      { numRuns: 20_000 },
    );
    assert.ok(seen.size > 1000);
  });
});
