import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { CallArguments } from "../../src/policy/model/call-arguments.ts";
import { readExpression } from "../../src/policy/model/expression.ts";

function answer(text: string, args: string): boolean | null {
  const expression = readExpression(text);
  if ("problem" in expression) return assert.fail(`${text}: ${expression.problem}`);
  return expression.judge(new CallArguments(() => args));
}

/** Expressions, arguments, and the answer: true, false, or null where it cannot be decided. */
const TABLE: readonly (readonly [text: string, args: string, expected: boolean | null])[] = [
  // A member that is missing leaves open what depends on it, whatever is made of it.
  ["args.amount > 100", "{}", null],
  ["!(args.amount > 100)", "{}", null],
  ['args.amount > 100 || args.kind == "gift"', '{"kind":"gift"}', true],
  ['args.kind == "gift" || args.amount > 100', '{"kind":"gift"}', true],
  ['args.amount > 100 || args.kind == "gift"', '{"kind":"sale"}', null],
  ['args.amount < 100 && args.kind == "gift"', '{"kind":"sale"}', false],
  ["args.dry_run ? true : args.rows < 10", '{"rows":5}', null],
  ['args.order.id == "A-1"', '{"order":null}', null],
  ['args.to[0] == "a@shop.example"', '{"to":[]}', null],
  // Null is there; a name that every object of JavaScript has is not.
  ["has(args.note)", '{"note":null}', true],
  ["has(args.note)", "{}", false],
  ["has(args.order.id)", '{"order":{}}', false],
  ["has(args.order.id)", "{}", null],
  ["has(args.constructor)", "{}", false],
  ["has(args.__proto__)", "{}", false],
  ["has(args.__proto__)", '{"__proto__":1}', true],
  ["args.note == null", '{"note":null}', true],
  ["args.note == null", "{}", null],
  ['"note" in args', '{"note":null}', true],
  ['"note" in args', "{}", false],
  // Numbers are what is written, and no text, list or truth value is one.
  ["args.amount < 1000", '{"amount":999}', true],
  ["args.amount < 1000", '{"amount":999.5}', true],
  ["args.amount <= 100", '{"amount":100.5}', false],
  ["args.amount == 18.5", '{"amount":18.50}', true],
  ["args.amount == 1000", '{"amount":1e3}', true],
  ["args.count % 2 == 0", '{"count":4}', true],
  ["args.count % 2 == 0", '{"count":4.5}', null],
  ["args.amount * 100 <= 10000", '{"amount":99.5}', null],
  ["int(args.amount) <= 100", '{"amount":100.9}', true],
  ["args.amount / args.parts > 10", '{"amount":100,"parts":0}', null],
  ["args.units <= 9007199254740992", '{"units":9007199254740993}', false],
  ["args.id == 9007199254740993", '{"id":9007199254740992}', false],
  ["args.id == 9007199254740993", '{"id":9007199254740993}', true],
  ["args.paid <= args.limit", '{"paid":9007199254740993,"limit":9007199254740992.0}', false],
  ["args.paid <= args.limit", '{"paid":10000000000000001,"limit":1e16}', false],
  ["args.paid <= 9007199254740992", '{"paid":9.007199254740992e15}', true],
  ["double(args.paid) <= 100.5", '{"paid":100}', true],
  ["double(args.paid) <= 100.5", '{"paid":9007199254740993}', null],
  ["double(args.paid) <= 100.5", '{"paid":"9007199254740993"}', null],
  ["args.paid < 100.5", '{"paid":1e300}', false],
  ["args.amount <= 100", '{"amount":100.00000000000000001}', null],
  ["args.units <= 100", '{"units":18446744073709551617}', null],
  ["args.units + 1 > 0", '{"units":9223372036854775807}', null],
  ["args.amount <= 100", '{"amount":1e400}', null],
  ["args.amount < 1000", '{"amount":"999"}', null],
  ["args.amount > 100", '{"amount":"1000"}', null],
  ["args.amount < 1000", '{"amount":null}', null],
  ["args.amount < 1000", '{"amount":[50]}', null],
  ["args.amount == 1", '{"amount":true}', false],
  ["double(args.amount) < 1000.0", '{"amount":"999"}', true],
  ["double(args.amount) < 1000.0", '{"amount":"1.000,00"}', null],
  // A condition is true or false, and nothing else.
  ["args.flag", '{"flag":"true"}', null],
  ["args.flag", '{"flag":true}', true],
  ["args.amount", '{"amount":1}', null],
  // Lists.
  ['args.role in ["viewer", "editor"]', '{"role":"viewer"}', true],
  ['args.role in ["viewer", "editor"]', '{"role":["viewer"]}', false],
  ['"admin" in args.groups', '{"groups":["vpn","admin"]}', true],
  ['"admin" in args.groups', '{"groups":"admin"}', null],
  ["50 in args.amounts", '{"amounts":[50.0]}', true],
  ['args.to.all(t, t.endsWith("@shop.example"))', '{"to":[]}', true],
  ["args.items.all(i, i.qty < 10)", '{"items":[{"qty":1},{}]}', null],
  ["args.items.all(i, i.qty < 10)", '{"items":[{},{"qty":20}]}', false],
  ["args.items.exists(i, i.qty > 10)", '{"items":[{},{"qty":20}]}', true],
  ["size(args.items.filter(i, i > 1)) == 2", '{"items":[1,2,3]}', true],
  // Characters are code points.
  ["size(args.text) <= 3", '{"text":"😀😀😀"}', true],
  ["size(args.text) == 1", '{"text":"e\\u0301"}', false],
  ['args.branch.matches("^v.$")', '{"branch":"v😀"}', true],
  ['args.branch.matches("^release/[0-9]+$")', '{"branch":"release/12\\n"}', false],
  ["args.branch.matches(args.pattern)", '{"branch":"x","pattern":"("}', null],
  // A time is one of RFC 3339 that the calendar has, and a span has a unit.
  ['timestamp(args.at) < timestamp("2026-12-01T00:00:00Z")', '{"at":"2026-11-30T23:30:00-01:00"}', false],
  ['timestamp(args.at) < timestamp("2026-12-01T00:00:00Z")', '{"at":"2026-11-30T23:59:59.999999999Z"}', true],
  ['timestamp(args.at) < timestamp("2027-12-01T00:00:00Z")', '{"at":"2026-11-30"}', null],
  ['timestamp(args.at) < timestamp("2027-12-01T00:00:00Z")', '{"at":"2026-02-30T00:00:00Z"}', null],
  ['duration(args.ttl) <= duration("1h")', '{"ttl":"60m1s"}', false],
  ['duration(args.ttl) <= duration("1h")', '{"ttl":3600}', null],
];

describe("an expression over the arguments of a call", () => {
  for (const [text, args, expected] of TABLE) {
    it(`${text} of ${args} is ${expected === null ? "not to be decided" : String(expected)}`, () => {
      assert.equal(answer(text, args), expected);
    });
  }

  it("is not decided without arguments that are known", () => {
    const expression = readExpression("true");
    assert.ok("judge" in expression);
    assert.equal(expression.judge(undefined), null);
  });

  for (const [text, expected] of [
    ["amount > 100", "has no variable amount; it knows args"],
    ["args.amount > 100 && other", "has no variable other; it knows args"],
    ["args.to.all(t, t == u)", "has no variable u; it knows args"],
    ["args.amount > 100 &&", /^is no expression: 1:19/],
    ["", /^is no expression/],
    ["lower(args.a) == 'x'", "has no function lower"],
    ['args.a.matches("(")', 'has the pattern "(", which RE2 does not know'],
    ['args.a.matches("(a)\\\\1")', 'has the pattern "(a)\\\\1", which RE2 does not know'],
    ["{'a': 1} == args", "must make no block"],
    [`args.a == "${"x".repeat(2000)}"`, "must have at most 2000 characters"],
    [`args.a == ${"1 + ".repeat(300)}1`, "has more than 300 parts"],
  ] as const) {
    it(`refuses ${text.slice(0, 40)}`, () => {
      const expression = readExpression(text);
      assert.ok("problem" in expression, text);
      if (typeof expected === "string") assert.equal(expression.problem, expected);
      else assert.match(expression.problem, expected);
    });
  }

  it("leaves what would take long open, before it begins", () => {
    const items = JSON.stringify({ items: Array.from({ length: 1000 }, (_, i) => i) });
    assert.equal(answer("args.items.all(a, a >= 0)", items), true);
    assert.equal(answer("args.items.all(a, args.items.all(b, a + b >= 0))", items), null);
    const few = JSON.stringify({ items: Array.from({ length: 30 }, (_, i) => i) });
    assert.equal(answer("args.items.all(a, args.items.all(b, a + b >= 0))", few), true);
  });

  it("leaves open what has too large values for its loops", () => {
    const list = Array.from({ length: 5000 }, (_, i) => i);
    const text = "a".repeat(100_000);
    const large = JSON.stringify({ list, other: list, text });
    for (const each of ["a in args.other", "args.list == args.other", "size(args.text) > 0", 'args.text.contains("a")'])
      assert.equal(answer(`args.list.all(a, ${each})`, large), null, each);
    assert.equal(answer("args.list.all(a, a in [-1] || a >= 0)", large), true);
    assert.equal(answer("4999 in args.list && size(args.text) == 100000", large), true);
  });

  it("takes a text for a whole number only as JSON writes it", () => {
    for (const amount of ["", " 5", "0x5"])
      assert.equal(answer("int(args.amount) <= 9", JSON.stringify({ amount })), null);
    assert.equal(answer("int(args.amount) <= 9", '{"amount":"5"}'), true);
  });

  it("leaves open what has too many characters for its patterns, counted over the whole evaluation", () => {
    const text = (length: number) => JSON.stringify({ text: "a".repeat(length) });
    assert.equal(answer('args.text.matches("b")', text(10_000)), false);
    assert.equal(answer('args.text.matches("b")', text(10_001)), null);
    assert.equal(answer('args.text.matches("b") || args.text.matches("c")', text(6000)), null);
  });
});
