import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, describe, it } from "node:test";
import { listing, writeFormerBackup, writeReleasedStore } from "../support/backup-site.ts";
import { newFolder, parley } from "../support/program.ts";

describe("a backup of 0.2.0", () => {
  const folder = newFolder();
  const taken = join(folder, "taken.tar");
  let bytes: Buffer;
  before(() => {
    mkdirSync(folder);
    writeFormerBackup(taken);
    bytes = readFileSync(taken);
  });

  const restoreOf = (file: string, dataDir: string) => parley(["restore", file, "--data-dir", dataDir]);
  const changed = (change: (copy: Buffer) => Uint8Array): string => {
    const file = join(folder, "changed.tar");
    writeFileSync(file, change(Buffer.from(bytes)));
    return file;
  };

  it("is restored with its rows, files and settings, by either command", async () => {
    for (const command of ["restore", "import"]) {
      const dataDir = newFolder();
      const { code, out, err } = await parley([command, taken, "--data-dir", dataDir]);
      assert.equal(code, 0, out + err);
      assert.match(out, /\nEverything holds\.\nStart it with: parley serve --data-dir /);
      assert.match(err, /^Not in the (backup|export), so to be set again: slack\.bot_token\.$/m);
      const read = (name: string) => readFileSync(join(dataDir, name), "utf8");
      assert.equal(read("prompts/mine@v1.yaml"), "id: mine\n");
      assert.equal(read("artifacts/job/1/out/report.md"), "done\n");
      assert.equal(read(`artifacts/job/1/${"folder/".repeat(16)}deep.txt`), "deep\n");
      assert.equal(read("artifacts/job/1/empty"), "");
      assert.match(read("parley.yaml"), /^slack: \{\}$/m);
      assert.deepEqual(
        listing(dataDir).filter((line) => !/ (700 folder|600 [0-9a-f]{64})$/.test(line)),
        [],
      );
      const keys = await parley(["keys", "list", "--data-dir", dataDir]);
      assert.match(keys.out, /planner/);
    }
  });

  it("that is damaged anywhere is refused, and nothing is made of it", async () => {
    const at = (text: string) => bytes.indexOf(text);
    const flipped = (place: number) => (copy: Buffer) => {
      copy[place] = (copy[place] ?? 0) ^ 1;
      return copy;
    };
    const sums = bytes.lastIndexOf("SHA256SUMS");
    const damages: [string, (copy: Buffer) => Uint8Array][] = [
      ["a byte of the database", flipped(at("SQLite format 3") + 5000)],
      ["a header", flipped(at("parley.db\0"))],
      ["the key", flipped(at("installation.key\0") + 512 + 3)],
      ["a digest", flipped(sums + 512 + 3)],
      ["its description", flipped(at('"made_at"') + 15)],
      ["cut off in the database", (copy) => copy.subarray(0, at("SQLite format 3") + 9000)],
      ["cut off before its digests", (copy) => copy.subarray(0, sums)],
      [
        "something behind its digests",
        (copy) => Buffer.concat([copy.subarray(0, -1024), copy.subarray(0, 1024), copy.subarray(-1024)]),
      ],
    ];
    for (const [what, change] of damages) {
      const dataDir = newFolder();
      const { code, out, err } = await restoreOf(changed(change), dataDir);
      assert.deepEqual([code, out], [1, ""], what);
      assert.match(err, /^parley: .* is damaged \(.+\); nothing was restored from it\. Take another backup\.\n$/, what);
      assert.ok(!existsSync(dataDir), what);
    }
  });

  it("goes to PostgreSQL only by way of a folder", async () => {
    const dataDir = newFolder();
    const env = { DATABASE_URL: "postgres://parley@127.0.0.1:1/parley" };
    const { code, out, err } = await parley(["restore", taken, "--data-dir", dataDir], env);
    assert.deepEqual([code, out], [1, ""]);
    assert.match(
      err,
      /^parley: .*taken\.tar is a backup of an older Parley, .* carry that to PostgreSQL with parley move\.\n$/,
    );
    assert.ok(!existsSync(dataDir));
  });
});

describe("a backup of a store that no server has upgraded yet", () => {
  for (const version of ["0.1.0", "0.2.0"]) {
    it(`as ${version} left it is restored with this version's tables`, async () => {
      const dataDir = newFolder();
      mkdirSync(dataDir, { mode: 0o700 });
      writeReleasedStore(version, dataDir);
      const file = `${newFolder()}.jsonl`;
      const taken = await parley(["backup", file, "--data-dir", dataDir]);
      assert.equal(taken.code, 0, taken.err);
      const restored = newFolder();
      const { code, out, err } = await parley(["restore", file, "--data-dir", restored]);
      assert.equal(code, 0, out + err);
      assert.match(out, /^Everything holds\.$/m);
      const keys = await parley(["keys", "list", "--data-dir", restored]);
      assert.match(keys.out, /planner/);
    });
  }
});
