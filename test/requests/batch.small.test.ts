import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { canonicalExact } from "../../src/lib/json/exact-json.ts";
import { compareCalls } from "../../src/requests/model/batch.ts";
import type { BatchMark } from "../../src/requests/model/batch-marks.ts";
import type { Risk } from "../../src/requests/model/risk.ts";
import { Dice } from "../support/secret-corpus.ts";

type Args = Record<string, unknown>;
const compare = (calls: readonly Args[], risk: (at: number) => Risk = () => "normal") =>
  compareCalls(calls.map((args, at) => ({ kwargs: canonicalExact(args), risk: risk(at) })));
const marksOf = async (calls: readonly Args[], at: number): Promise<string[]> =>
  ((await compare(calls)).marks[at] ?? []).map(({ argument, kind }) => `${argument} ${kind}`);
const many = (call: (at: number) => Args, count = 10): Args[] => Array.from({ length: count }, (_, at) => call(at));
const standsOut = (marks: readonly BatchMark[] = []) => marks.some(({ kind }) => kind !== "highest");

describe("calls of one agent and function beside one another", () => {
  it("have what is the same apart from what differs, the weightiest first", async () => {
    const calls = many((at) => ({ note: `n${at}`, amount: 10 + at, to: "ana@shop.example", dry_run: false }));
    assert.deepEqual((await compare(calls)).same, ["to", "dry_run"]);
    assert.deepEqual((await compare(calls)).differing, ["amount", "note"]);
    assert.deepEqual((await compare([{ a: 1 }, { a: 1, b: null }])).differing, ["b"]);
    assert.deepEqual(
      (
        await compare([
          { a: 1.0, b: "12345678901234567890" },
          { a: 1, b: "12345678901234567890" },
        ])
      ).same,
      ["a", "b"],
    );
    assert.deepEqual(await compare([]), { same: [], differing: [], marks: [] });
  });

  it("have no marks where nothing is usual", async () => {
    assert.deepEqual((await compare([{ to: "a@x.example" }, { to: "b@y.example" }])).marks, [[], []]);
    assert.ok(
      !(await compare(many((at) => ({ to: `c${at}@h${at}.example`, note: "x".repeat(at) })))).marks.some(standsOut),
    );
  });

  const ROWS: readonly (readonly [what: string, usual: (at: number) => Args, odd: Args, marks: string[]])[] = [
    ["a value that one call alone has", () => ({ env: "staging" }), { env: "prod" }, ["env unlike"]],
    ["a switch", () => ({ force: false }), { force: true }, ["force unlike"]],
    ["a list in place of a number", (at) => ({ amount: 20 + at }), { amount: [9000] }, ["amount unlike"]],
    ["a part that is added", (at) => ({ pay: { amount: 20 + at } }), { pay: { amount: 21, cc: 1 } }, ["pay unlike"]],
    ["a part that is missing", (at) => ({ pay: { limit: at, to: "x" } }), { pay: { to: "x" } }, ["pay unlike"]],
    ["an argument that is missing", (at) => ({ a: at, limit: 5 }), { a: 3 }, ["limit missing"]],
    ["an argument that is added", () => ({ a: 1 }), { a: 1, force: true }, ["force added"]],
    ["an amount ten times the others", (at) => ({ amount: 20 + at }), { amount: 240 }, ["amount amount"]],
    [
      "an amount in words with its currency",
      (at) => ({ sum: `${20 + at}.00 EUR` }),
      { sum: "2,400.00 EUR" },
      ["sum amount"],
    ],
    ["an amount of another sign", (at) => ({ amount: 20 + at }), { amount: -25 }, ["amount amount"]],
    ["the highest amount, near the others", (at) => ({ amount: 20 + at }), { amount: 31 }, ["amount highest"]],
    ["a number among amounts that is none", (at) => ({ amount: 20 + at }), { amount: "all" }, ["amount unlike"]],
    ["a look-alike of one host", (at) => ({ to: `c${at}@acme.example` }), { to: "c3@acrne.example" }, ["to receiver"]],
    [
      "a look-alike of one of many hosts",
      (at) => ({ to: `c@shop-${at % 5}.example` }),
      { to: "c@sh0p-3.example" },
      ["to receiver"],
    ],
    ["a host with another ending", (at) => ({ to: `c@name${at % 5}.example` }), { to: "c@name3.com" }, ["to receiver"]],
    [
      "the name of a host alone",
      (at) => ({ domain: `h${at % 3}.example` }),
      { domain: "h1.exarnple" },
      ["domain receiver"],
    ],
    [
      "a host with letters of another script",
      (at) => ({ to: `c@h${at}.example` }),
      { to: "c@h\u0430cme.example" },
      ["to receiver"],
    ],
    [
      "a host within another one",
      (at) => ({ url: `https://h${at}.io/x` }),
      { url: "https://h3.io.evil.example/x" },
      ["url receiver"],
    ],
    ["another receiver", () => ({ to: "ana@acme.example" }), { to: "ben@acme.example" }, ["to receiver"]],
    ["a host below a known one", (at) => ({ url: `https://acme.io/${at}` }), { url: "https://eu.acme.io/3" }, []],
    [
      "more receivers",
      (at) => ({ to: [`c${at}@acme.example`] }),
      { to: ["c1@acme.example", "c2@acme.example"] },
      ["to unlike"],
    ],
    ["a path that climbs", (at) => ({ path: `src/f${at}.ts` }), { path: "src/../../x.ts" }, ["path place"]],
    ["a path from the root", (at) => ({ path: `src/f${at}.ts` }), { path: "/etc/hosts" }, ["path place"]],
    [
      "a path in another folder",
      (at) => ({ path: `/w/shop/src/f${at}.ts` }),
      { path: "/w/other/f.ts" },
      ["path place"],
    ],
    [
      "another command",
      (at) => ({ command: `npm test -- f${at}` }),
      { command: "npm publish -- f3" },
      ["command unlike"],
    ],
    [
      "a sign of the shell",
      (at) => ({ command: `npm test f${at}` }),
      { command: "npm test f3; id" },
      ["command unlike"],
    ],
    ["another form of a name", (at) => ({ order: `A-10${at}` }), { order: "10-A" }, ["order unlike"]],
    [
      "a value deep inside",
      (at) => ({ to: { id: at, role: "member" } }),
      { to: { id: 3, role: "owner" } },
      ["to unlike"],
    ],
    ["a text much longer", (at) => ({ body: `Hello ${at}` }), { body: `Hello ${"x".repeat(900)}` }, ["body unlike"]],
    ["the agent's own words", (at) => ({ id: at, reason: "late" }), { id: 3, reason: "because!" }, []],
  ];
  for (const [what, usual, odd, marks] of ROWS) {
    it(`mark ${what}`, async () => {
      const calls = [...many(usual), odd];
      assert.deepEqual(await marksOf(calls, 10), marks);
      assert.deepEqual((await compare(calls)).marks.slice(0, 10).filter(standsOut), []);
    });
  }

  it("mark a call that is not compared whole", async () => {
    const list = Array.from({ length: 250 }, () => 1);
    const { marks } = await compare(many((at) => ({ p: { list, z: at } })));
    assert.ok(marks.every(standsOut));
  });

  it("mark a risk above that of most", async () => {
    const { marks } = await compare(
      many((at) => ({ at })),
      (at) => (at === 4 ? "high" : "normal"),
    );
    assert.deepEqual(
      marks.flatMap((some, at) => some.map(({ kind }) => [at, kind])),
      [[4, "risk"]],
    );
    assert.ok(
      (
        await compare(
          many((at) => ({ at })),
          () => "high",
        )
      ).marks.every((some) => some.length === 0),
    );
  });

  it("let others be served while long lists are compared, by time in proportion to their length", async () => {
    const lists = (item: (at: number, i: number) => unknown) =>
      many((at) => ({ list: Array.from({ length: 50 }, (_, i) => item(at, i)) }), 200);
    for (const item of [
      (at: number, i: number) => (at * 7919 + i * 31) % 10_007,
      (at: number, i: number) => `u@h${i}-shop${at}.example`,
    ]) {
      let turns = 0;
      let isOver = false;
      const count = (): void => {
        turns += 1;
        if (!isOver) setImmediate(count);
      };
      count();
      await compare(lists(item));
      isOver = true;
      assert.ok(turns > 20, `${turns} turns`);
    }
  });

  it("name what the others have", async () => {
    const says = async (usual: (at: number) => Args, odd: Args) =>
      (await compare([...many(usual), odd])).marks[10]?.[0]?.says;
    assert.equal(await says(() => ({ env: "staging" }), { env: "prod" }), "staging");
    assert.equal(await says((at) => ({ to: `c${at}@acme.example` }), { to: "c@acrne.example" }), "acme.example");
    assert.equal(await says((at) => ({ path: `src/f${at}.ts` }), { path: "docs/x.md" }), "src/");
  });
});

/** Ordinary calls of one kind, and the same call with one value altered. */
interface Kind {
  call: (dice: Dice, at: number) => Args;
  alter: (dice: Dice, args: Args) => Args;
}
const HOSTS = ["acme.example", "shop.example", "north-wind.example", "blue.example"];
const KINDS: Readonly<Record<string, Kind>> = {
  "an amount ten times its own": {
    call: (dice, at) => ({ order: `A-${1000 + at}`, amount: 20 + dice.below(160), currency: "EUR" }),
    alter: (_, args) => ({ ...args, amount: Number(args["amount"]) * 10 }),
  },
  "a receiver at a look-alike host": {
    call: (dice, at) => ({ to: `c${at}@${dice.one(HOSTS)}`, template: "invoice", order: `A-${1000 + at}` }),
    alter: (dice, args) => {
      const to = String(args["to"]);
      const other = dice.one([to.replace(".example", "-example.com"), `${to}.mail.example`, to.replace("e", "\u0435")]);
      return { ...args, to: other };
    },
  },
  "a path above the folder": {
    call: (dice, at) => ({ file_path: `src/${dice.one(["api", "orders", "mail"])}/f${at}.ts`, content: "x" }),
    alter: (dice, args) => ({ ...args, file_path: dice.one(["../", "src/../../", "src/api/../../../"]) + "f.ts" }),
  },
};

describe("one altered call among 40", () => {
  for (const [what, { call, alter }] of Object.entries(KINDS)) {
    it(`stands out: ${what}, in 50 of 50 sets, and no other call does`, async () => {
      const missed: number[] = [];
      let others = 0;
      for (let seed = 1; seed <= 50; seed += 1) {
        const dice = new Dice(seed);
        const calls = many((at) => call(dice, at), 40);
        const planted = dice.below(40);
        calls[planted] = alter(dice, calls[planted] ?? {});
        const { marks } = await compare(calls);
        if (!standsOut(marks[planted])) missed.push(seed);
        others += marks.filter((some, at) => at !== planted && standsOut(some)).length;
      }
      assert.deepEqual({ missed, others }, { missed: [], others: 0 });
    });
  }
});
