import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { csvLine } from "../../src/cli/store/record-csv.ts";
import { newFolder, parley } from "../support/program.ts";

/** Reads CSV as RFC 4180 says it is written. */
function cellsOf(text: string): string[][] {
  return text
    .split("\r\n")
    .filter((line) => line !== "")
    .map((line) =>
      [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,"]*))/g)].map(([, quoted, plain]) =>
        quoted === undefined ? (plain ?? "") : quoted.replaceAll('""', '"'),
      ),
    );
}

describe("parley record --csv", () => {
  const store = { PARLEY_DATA_DIR: newFolder() };
  const run = (...words: string[]) => parley(words, store);

  it("prints the whole record as a table, the same entries as --json", async () => {
    const ana = (await run("people", "add", "Ana Ruiz", "--email", "ana@people.example")).out.trim();
    await run("people", "remove", ana);
    const { code, out, err } = await run("record", "--csv");
    assert.equal(code, 0, err);
    const [columns = [], ...rows] = cellsOf(out);
    const entries = (await run("record", "--json")).out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    assert.ok(entries.length >= 3, `${entries.length} entries`);
    const told = rows.map((row) => Object.fromEntries(columns.map((column, i) => [column, row[i]])));
    assert.deepEqual(
      told.map(({ seq, at, action, actor_id: id, data, hash }) => [
        Number(seq),
        at,
        action,
        id,
        JSON.parse(data ?? ""),
        hash,
      ]),
      entries.map(({ seq, at, action, actor, data, hash }) => [
        seq,
        at,
        action,
        (actor as { id: string }).id,
        data,
        hash,
      ]),
    );
    assert.ok(told.some(({ action }) => action === "human.deleted"));
  });

  it("prints what happened between two days", async () => {
    const lines = async (...words: string[]) => (await run("record", "--csv", ...words)).out.split("\n").length;
    const all = await lines();
    assert.equal(await lines("--since", "2020-01-01"), all);
    assert.equal(await lines("--since", "2020-01-01", "--until", "9999-01-01T00:00:00Z"), all);
    const none = await run("record", "--csv", "--until", "2020-01-01");
    assert.deepEqual([none.code, none.out], [1, ""]);
    const wrong = await run("record", "--csv", "--since", "yesterday");
    assert.equal(wrong.code, 2);
    assert.match(wrong.err, /--since must be a day or a time/);
  });

  it("wants to know of what, unless it prints the whole record in a form for programs", async () => {
    for (const words of [[], ["--csv", "--json"], ["--csv", "--address", "ana@people.example"]]) {
      assert.equal((await run("record", ...words)).code, 2, words.join(" "));
    }
  });

  it("quotes what would end a cell, and makes no formula of what somebody wrote", () => {
    assert.equal(csvLine(["a,b", 'say "x"', "two\nlines", ""]), '"a,b","say ""x""","two\nlines",\r');
    for (const formula of ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1"]) assert.equal(csvLine([formula]), `'${formula}\r`);
  });
});
