import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { writeChange } from "../../src/cli/config-file.ts";
import { newFolder } from "../support/program.ts";

describe("a change to another program's file", () => {
  it("is not made where that program has written the file since it was read", async () => {
    const folder = newFolder();
    mkdirSync(folder);
    const file = join(folder, "settings.json");
    for (const isEmpty of [false, true]) {
      writeFileSync(file, '{"theme":"dark"}');
      const change = { file, before: "{}", after: '{"hooks":{}}', isEmpty };
      await assert.rejects(writeChange(change), /was left as it is: it has changed meanwhile/);
      assert.equal(readFileSync(file, "utf8"), '{"theme":"dark"}');
    }
  });
});
