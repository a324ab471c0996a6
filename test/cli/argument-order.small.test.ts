import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { canonicalExact } from "../../src/lib/json/exact-json.ts";
import { argumentsOf, riskiestMembers } from "../../src/requests/model/argument-order.ts";
import { viewOf } from "../../src/requests/model/view.ts";
import { newCallRequest } from "../support/addressed.ts";

const riskiestFirst = (canonical: string): string => argumentsOf(riskiestMembers(canonical));
const order = (given: Record<string, unknown>): string[] =>
  Object.keys(JSON.parse(riskiestFirst(canonicalExact(given))) as object);

describe("the order in which arguments are shown", () => {
  it("begins with what runs, whom it touches and how much, and ends with what the agent says of it", () => {
    const cases: [given: Record<string, unknown>, wanted: string][] = [
      [
        { amount: 5, currency: "EUR", note: "urgent", order: "A-1", to: "ana@example.com" },
        "to amount currency order note",
      ],
      [{ command: "rm -rf /", description: "Clean up", timeout: 5 }, "command timeout description"],
      [{ body: "Hi", recipientEmails: ["a@example.com"], subject: "Hello" }, "recipientEmails body subject"],
      [{ a: 1, file_path: "/etc/passwd", content: "x", z: 2 }, "file_path a content z"],
      [{ branch: "main", dry: false, force: true, message: "ship" }, "branch force dry message"],
      [{ "max-count": 3, q: "https://example.com/x", why: "I must" }, "q max-count why"],
      [{ sqlQuery: "DROP TABLE x", table: "x" }, "sqlQuery table"],
      [{ beschreibung: "egal", ziel: "/srv" }, "ziel beschreibung"],
      [{ b: 1, a: 2 }, "a b"],
      [{}, ""],
    ];
    for (const [given, wanted] of cases) assert.equal(order(given).join(" "), wanted);
  });

  it("puts nothing forward that does nothing", () => {
    assert.deepEqual(order({ a: 1, force: false, recursive: null, url: "" }), ["a", "force", "recursive", "url"]);
  });

  it("changes nothing but the order", () => {
    const exact = '{"a":{"to":[1,{"x":"},\\"{"}]},"amount":1152921504606846977,"q\\",{":"\\\\","to":"b,c"}';
    const shown = riskiestFirst(exact);
    assert.equal(shown, '{"to":"b,c","amount":1152921504606846977,"a":{"to":[1,{"x":"},\\"{"}]},"q\\",{":"\\\\"}');
    fc.assert(
      fc.property(
        fc.dictionary(fc.oneof(fc.string(), fc.constantFrom("to", "amount", "note")), fc.jsonValue()),
        (given) => {
          const canonical = canonicalExact(given);
          const ordered = riskiestFirst(canonical);
          assert.equal(canonicalExact(JSON.parse(ordered)), canonicalExact(JSON.parse(canonical)));
          assert.equal(ordered.length, canonical.length);
          assert.equal(riskiestFirst(ordered), ordered, "a second time it changes nothing");
        },
      ),
    );
  });

  it("is the order of every view, and of no byte that is approved", () => {
    const input = newCallRequest({ kwargs: { amount: 49.9, note: "soon", to: "bo" } });
    const ask = { ...input, id: "ask_1", createdAt: 0, expiresAt: 1, state: "open", outcome: null } as never;
    const view = viewOf(ask);
    assert.equal(view.argumentsText, '{\n  "to": "bo",\n  "amount": 49.9,\n  "note": "soon"\n}');
    assert.deepEqual(view.argumentNames, ["to", "amount", "note"]);
    assert.equal(view.exact?.kwargs, '{"amount":49.9,"note":"soon","to":"bo"}');
  });
});
