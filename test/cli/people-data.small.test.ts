import assert from "node:assert/strict";
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { newFolder, parley } from "../support/program.ts";

describe("parley people export and erase", () => {
  const store = { PARLEY_DATA_DIR: newFolder() };
  const people = (...words: string[]) => parley(["people", ...words], store);
  const add = async (...words: string[]) => (await people("add", ...words)).out.trim();

  it("write what is stored into a file of their own, and erase only when that is meant", async () => {
    const ana = await add("Ana Ruiz", "--email", "ana@people.example");
    const folder = newFolder();
    mkdirSync(folder);
    const file = join(folder, "ana.json");
    const written = await people("export", "Ana Ruiz", file);
    assert.equal(written.code, 0, written.err);
    assert.match(written.out, /ana\.json {2}\d+ rows about Ana Ruiz \(\d+\)/);
    assert.equal(statSync(file).mode & 0o777, 0o600);
    const { person, addresses } = JSON.parse(readFileSync(file, "utf8")) as { person: string; addresses: string[] };
    assert.deepEqual([person, addresses], [ana, ["ana@people.example"]]);
    assert.match((await people("export", "Ana Ruiz", file)).err, /is there already/);

    const tried = await people("erase", "Ana Ruiz", "--dry-run");
    assert.match(
      tried.out,
      new RegExp(`^Nothing is erased yet\\. Ana Ruiz \\(${ana}\\) would become "Erased person ${ana}"`),
    );
    assert.match((await people("list")).out, /Ana Ruiz/);
    const erased = await people("erase", "Ana Ruiz");
    assert.equal(erased.code, 0, erased.err);
    assert.match(erased.out, new RegExp(`^Person ${ana} is now called "Erased person ${ana}"; .* 1 address`));
    assert.match(erased.err, /Backups, exports and logs from before hold the name still\./);
    assert.doesNotMatch((await people("list")).out, /Ana/);
    const again = await people("erase", "Ana Ruiz");
    assert.deepEqual([again.code, again.err], [1, "parley: No person has this number.\n"]);
    // The address is free for its next owner.
    assert.match(await add("Ann", "--email", "ana@people.example"), /^\d+$/);
  });

  it("say which of several people is meant, and what the settings still say", async () => {
    const [one, other] = [await add("Bo Lind"), await add("Bo Lind")];
    const asked = await people("erase", "Bo Lind");
    assert.deepEqual([asked.code, asked.err.includes(`say which by number: ${one}, ${other}.`)], [1, true]);
    const folder = newFolder();
    mkdirSync(folder);
    const config = join(folder, "parley.yaml");
    writeFileSync(config, `people: { groups: { sales: [${one}, 1] } }\n`);
    const { out, err } = await people("erase", one, "--json", "--config", config);
    assert.notEqual(out, "", err);
    const { id, erased, name_shared: isShared, named_in: places } = JSON.parse(out) as Record<string, unknown>;
    assert.deepEqual([id, erased, isShared, places], [one, true, true, ["people.groups.sales"]]);
    assert.equal((await people("erase")).code, 2);
    assert.equal((await people("export", "Bo Lind")).code, 2);
  });
});
