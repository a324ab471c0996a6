import assert from "node:assert/strict";
import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { writeChange } from "../../src/cli/config-file.ts";
import { replaceFile, writeWhole } from "../../src/lib/files/durable-files.ts";
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

  it("leaves its permissions, and one for its owner alone never has others", async () => {
    const folder = newFolder();
    mkdirSync(folder);
    const file = join(folder, "settings.json");
    writeFileSync(file, "{}");
    chmodSync(file, 0o666);
    await replaceFile(file, "{ }");
    assert.equal(statSync(file).mode & 0o777, 0o666);
    // A process with this number was killed while it wrote.
    writeFileSync(`${file}.${process.pid}.new`, "", { mode: 0o644 });
    chmodSync(file, 0o600);
    await replaceFile(file, "{}");
    await writeWhole(join(folder, "keys.json"), "{}");
    for (const name of ["settings.json", "keys.json"]) assert.equal(statSync(join(folder, name)).mode & 0o777, 0o600);
  });
});
