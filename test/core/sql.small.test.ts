import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { empty, join, oncePerText, raw, sql, type Sql } from "../../src/core/store/sql.ts";

describe("a statement", () => {
  const inner = (of: Sql) => sql`(SELECT ${1} WHERE ${of})`;

  it("has places for its values in the form of each database", () => {
    const statement = sql`SELECT ${"a"}, ${sql`(${"b"} || ${raw("now()")})`} ${empty} IN (${join(["c", sql`d = ${"e"}`])})`;
    assert.equal(statement.sql, "SELECT ?, (? || now())  IN (?,d = ?)");
    assert.equal(statement.text, "SELECT $1, ($2 || now())  IN ($3,d = $4)");
    assert.deepEqual(statement.values, ["a", "b", "c", "e"]);
  });

  it("keeps lists as values", () => {
    assert.deepEqual(sql`${[1, 2]} ${empty}`.values, [[1, 2]]);
  });

  it("is found again by what it is made of, and by that alone", () => {
    const made = oncePerText(
      (statement) => statement.sql,
      (text) => ({ text }),
    );
    const of = (value: unknown, other: unknown) => made(sql`x ${value} y ${other}`);
    assert.equal(of(1, 2), of(3, 4));
    assert.equal(of(1, 2).text, "x ? y ?");
    assert.equal(of(inner(sql`a`), 2).text, "x (SELECT ? WHERE a) y ?");
    assert.equal(of(2, inner(sql`a`)).text, "x ? y (SELECT ? WHERE a)");
    assert.equal(of(inner(sql`b`), 2).text, "x (SELECT ? WHERE b) y ?");
    assert.equal(of(inner(sql`c = ${1}`), 2).text, "x (SELECT ? WHERE c = ?) y ?");
    assert.equal(of(join([1, 2]), join([1, 2, 3], " + ")).text, "x ?,? y ? + ? + ?");
  });

  it("has no form for an empty list", () => {
    assert.throws(() => join([]), TypeError);
  });
});
