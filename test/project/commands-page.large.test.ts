import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { describe, it } from "node:test";
import { COMMANDS } from "../../src/cli/commands.ts";
import { ROOT_FOLDER, textOf } from "../support/documents.ts";

describe("the pages of commands", () => {
  it("tell every command and flag as the commands do", () => {
    const { status, stderr } = spawnSync(process.execPath, ["scripts/commands-page.mjs", "--check"], {
      cwd: ROOT_FOLDER,
      encoding: "utf8",
    });
    assert.equal(status, 0, stderr);
    const page = textOf("docs/reference/commands.md");
    for (const name of COMMANDS.keys()) assert.ok(page.includes(`\n### parley ${name}\n`), name);
  });

  it("name every command in the table of the command line, and no other", () => {
    const rows = textOf("docs/reference/command-line.md")
      .split("\n")
      .filter((line) => line.startsWith("| `parley "));
    // In a row a word without `parley` stands beside the first of a group: `parley task list`, `show ID`.
    const named = rows.flatMap((row) => {
      let group = "";
      return [...(row.split("|")[1] ?? "").matchAll(/`([^`]+)`/g)].flatMap(([, said = ""]) => {
        const words = said.split(" ").filter((word) => /^[a-z]+(-[a-z]+)*$/.test(word));
        const own = words[0] === "parley" ? words.slice(1) : words;
        const within = words[0] === "parley" ? [] : [`${group} ${own[0] ?? ""}`];
        const names = [...within, own.slice(0, 2).join(" "), own[0] ?? ""];
        const found = names.find((name) => COMMANDS.has(name));
        if (words[0] === "parley") group = own[0] ?? "";
        return found === undefined && said.startsWith("-") ? [] : (found ?? `no command: ${said}`);
      });
    });
    assert.deepEqual([...new Set(named)].toSorted(), [...COMMANDS.keys()].toSorted());
  });
});
