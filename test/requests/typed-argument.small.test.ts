import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { canonicalExact } from "../../src/lib/json/exact-json.ts";
import { typedArgument } from "../../src/requests/model/typed-argument.ts";

const typed = (value: unknown, name = "x", all: Record<string, unknown> = {}) =>
  typedArgument(name, canonicalExact(value), canonicalExact(all));
const isOf = (value: unknown, name?: string, all?: Record<string, unknown>) => typed(value, name, all)?.is;

const DIFF = "--- a/shop.ts\n+++ b/shop.ts\n@@ -1,3 +1,3 @@ shop\n keep\n--- old\n+++ new\n \n";

describe("an argument drawn as what it is", () => {
  it("is a text with its lines, in which a tab and blanks at the end of a line can be seen", () => {
    assert.deepEqual(typed("Dear Ana,\n\n\tit came  \nBo"), {
      is: "text",
      lines: ["Dear Ana,", "", "⇥ it came\\u0020\\u0020", "Bo"],
    });
    assert.deepEqual(typed("a\r\nb\u202ec"), { is: "text", lines: ["a\\u000d", "b\\u202ec"] });
  });

  it("is a diff where every hunk holds as many lines as it says, told from its headers by their place", () => {
    const drawn = typed(DIFF);
    assert.equal(drawn?.is === "diff" && drawn.lines.map(({ sign }) => sign).join(""), "@@@ -+ @");
    assert.deepEqual(drawn?.is === "diff" && drawn.lines[4], { sign: "-", text: "--- old" });
    for (const broken of [DIFF.replace("1,3", "1,4"), `${DIFF}and more`, `note\n${DIFF}`, "+ one\n- two"]) {
      assert.equal(isOf(broken), "text", broken);
    }
  });

  it("is a list, a table or fields where nothing is nested deeper", () => {
    assert.deepEqual(typed(["a", 1, "1", "", null]), { is: "list", items: ["a", "1", '"1"', '""', "null"] });
    assert.deepEqual(typed([{ a: 1 }, { a: "x", toString: true }]), {
      is: "table",
      columns: ["a", "toString"],
      rows: [
        ["1", ""],
        ["x", "true"],
      ],
    });
    assert.deepEqual(typed({ city: "Ulm", zip: "89073" }), {
      is: "fields",
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
      return drawn?.is === "link" ? drawn.host : undefined;
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
      is: "date",
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
      return drawn?.is === "money" ? `${drawn.amount} ${drawn.currency}` : null;
    };
    assert.equal(moneyIn(49.9, "amount", { currency: "eur" }), "49.9 EUR");
    assert.equal(moneyIn(4990, "amountCents", { currency: "EUR" }), "49.90 EUR");
    assert.equal(moneyIn(-5, "amount_cents", { currency: "USD" }), "-0.05 USD");
    assert.equal(moneyIn(500, "price_usd"), "500 USD");
    assert.equal(moneyIn(4990, "amount", { currency: "EUR" }), null, "many programs mean cents by it");
    assert.equal(moneyIn(4990, "amount_cents", { currency: "JPY" }), null, "yen have no cents");
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
        const [looks, canonical] = [JSON.stringify(drawn), canonicalExact(given)];
        assert.equal(seen.get(looks) ?? canonical, canonical);
        seen.set(looks, canonical);
      }),
      { numRuns: 20_000 },
    );
    assert.ok(seen.size > 1000);
  });
});
