import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { listWireErrors } from "../../src/protocols/http/errors.ts";

const page = readFileSync(new URL("../../docs/reference/errors.md", import.meta.url), "utf8");

/** The rows of the table under a heading, cell by cell, without their code marks. */
function rowsUnder(heading: string): string[][] {
  const section = page.split(`## ${heading}\n`)[1]?.split("\n## ")[0] ?? assert.fail(`no section ${heading}`);
  const lines = section.split("\n").filter((line) => line.startsWith("|"));
  return lines.slice(2).map((line) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim().replaceAll("`", "")),
  );
}

describe("the page of errors", () => {
  it("lists every refusal as the server tells it, and no other", () => {
    const told = listWireErrors().map(({ refusal, status, code, says }) => [refusal, String(status), code, says]);
    assert.deepEqual(rowsUnder("Every refusal"), [
      ...told,
      ["(anything else)", "500", "SERVER_ERROR", "Internal error."],
    ]);
  });

  it("says what details hold of codes that there are", () => {
    const codes = new Set([...listWireErrors().map(({ code }) => code), "SERVER_ERROR"]);
    const described = rowsUnder("The members of `details`").flatMap(([cell = ""]) =>
      /^[A-Z_]+$/.test(cell) ? [cell] : [],
    );
    assert.ok(described.length > 5);
    assert.deepEqual(
      described.filter((code) => !codes.has(code)),
      [],
    );
  });
});
