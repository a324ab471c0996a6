import assert from "node:assert/strict";
import { it } from "node:test";
import { readSql, type SqlStatement } from "../../src/requests/facts/sql.ts";

function told(sql: string): string | null {
  const tell = ({ verb, kind, tables, hasWhere, loses, opens }: SqlStatement) =>
    [verb, kind, tables.join("+"), hasWhere && "where", loses && "loses", ...opens].filter(Boolean).join(" ");
  return readSql(sql)?.map(tell).join("; ") ?? null;
}

const READ: [sql: string, says: string][] = [
  ["select name from teas where id = 7", "select reads teas where"],
  ["Select t.name From shop.teas t Join cups c On c.id = t.cup", "select reads shop.teas+cups"],
  ["update teas set price = 1", "update writes teas loses"],
  ["update teas set price = 1 where id = 7", "update writes teas where"],
  ["delete from [teas] where [where] = 1", "delete writes teas where"],
  ["truncate teas, cups cascade", "truncate writes teas+cups loses"],
  ["insert into teas (name) values ('delete from cups') on conflict do nothing", "insert writes teas"],
  ["begin; delete from cups where id = 2; commit", "begin session; delete writes cups where; commit session"],
  ["explain delete from cups", "explain reads cups"],
  ["explain analyze delete from cups", "delete writes cups loses"],
  ["drop table if exists teas", "drop table defines teas loses"],
  ["alter table teas add column origin text", "alter table defines teas"],
  ["alter table teas drop column origin", "alter table defines teas loses"],
  ["create table pots (cup int references cups on delete cascade)", "create table defines pots"],
  ["grant all on teas to mallory", "grant grants teas all"],
  ["alter role mallory superuser", "alter role defines mallory superuser"],
];

it("reads what each statement does, to which tables, and whether a condition chooses the rows", () => {
  for (const [sql, says] of READ) assert.equal(told(sql), says, sql);
});

it("counts a condition that always holds as none", () => {
  for (const condition of ["1 = 1", "true", "id = 3 or true", "(id = 3 or 'x' = 'x')", "1"]) {
    assert.equal(told(`delete from teas where ${condition}`), "delete writes teas loses", condition);
  }
});

it("finds the statement behind another one, behind a comment and within a query", () => {
  for (const sql of [
    "select 1; -- all is well\ndelete from teas",
    "select 1 /* ; */ ; delete from teas",
    "with gone as (delete from teas returning id) select 1",
  ]) {
    assert.match(told(sql) ?? "", /delete writes teas loses/, sql);
  }
});

it("does not judge a text that is not certain", () => {
  const texts = [
    "",
    "wipe the teas",
    "{{ drop('teas') }}",
    "select '{{ x }}' from teas",
    "select 1 delete from teas",
    "select 'a\\' ; delete from teas --'",
    "select 1 /*! ; delete from teas */",
    "select 1 /* /* */ ; delete from teas -- */ */",
    "select 1 # ; \n; delete from teas",
    "select $$ ' $$ ; delete from teas; --'",
    "select 'unfinished",
    "select (1",
    "select wipe(1)",
    "call wipe()",
    "set role owner",
    "copy teas to program 'sh'",
    `select ${"1,".repeat(20_000)}1`,
  ];
  for (const sql of texts) assert.equal(told(sql), null, sql.slice(0, 80));
});

it("takes little time for a long text that is made to take much", () => {
  const texts = ["select " + "(".repeat(9000), "/*".repeat(4900), "delete from a where " + "a or ".repeat(1900) + "b"];
  for (const sql of [...texts, "with " + "(delete from a ".repeat(600) + ")".repeat(600)]) {
    const before = performance.now();
    readSql(sql);
    assert.ok(performance.now() - before < 500, sql.slice(0, 20));
  }
});
