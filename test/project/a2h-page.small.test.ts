import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { textOf } from "../support/documents.ts";

/** Returns each status with each code that the door can print, as its source says them. */
function printed(): Set<string> {
  const source = textOf("src/protocols/a2h/errors.ts");
  const whole = [...source.matchAll(/\bas\(\s*(\d{3}),\s*"([a-z_]+)"|status: (\d{3}),\s*code: "([a-z_]+)"/g)];
  const resolved = [...source.matchAll(/\bresolved\("([a-z_]+)"/g)];
  return new Set([
    ...whole.map(([, status, code, other, another]) => `${status ?? other} ${code ?? another}`),
    ...resolved.map(([, code]) => `409 ${code}`),
  ]);
}

/** Returns the same as the page has it: a row of one status has several codes, and else each status has its own. */
function told(): Set<string> {
  const [, table = ""] = textOf("docs/reference/a2h.md").split("\n## Errors\n");
  const rows = table.split("\n").filter((line) => /^\| \d{3}/.test(line));
  return new Set(
    rows.flatMap((row) => {
      const [, first = "", says = ""] = row.split("|");
      const statuses = first.trim().split(", ");
      const codes = [...says.matchAll(/`([a-z_]+)`/g)].map(([, code = ""]) => code);
      return codes.map((code, i) => `${statuses.length === 1 ? statuses[0] : statuses[i]} ${code}`);
    }),
  );
}

describe("the page of A2H", () => {
  it("lists every error with its status, and no other", () => {
    assert.ok(printed().size > 25);
    assert.deepEqual([...told()].toSorted(), [...printed()].toSorted());
  });
});
