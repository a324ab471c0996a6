import assert from "node:assert/strict";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, before, describe, it } from "node:test";
import { systemClock } from "../../src/lib/clock.ts";
import { systemRandom } from "../../src/lib/random.ts";
import { openStore } from "../../src/core/store/open-store.ts";
import { messagesOf } from "../support/log-lines.ts";
import { parley } from "../support/program.ts";

const ROOT = mkdtempSync(join(tmpdir(), "parley-damage-"));
const WHOLE = join(ROOT, "whole");
after(() => rmSync(ROOT, { recursive: true }));

let folders = 0;
/** A data directory that a server has run on, and the path of its database. */
function damagedBy(damage: (database: string) => void): { dataDir: string; database: string } {
  const dataDir = join(ROOT, `data-${(folders += 1)}`);
  cpSync(WHOLE, dataDir, { recursive: true });
  chmodSync(dataDir, 0o700);
  const database = join(dataDir, "parley.db");
  damage(database);
  return { dataDir, database };
}

const COMMANDS = [
  ["serve", "--port", "0"],
  ["keys", "list"],
  ["keys", "create", "ci", "--scope", "agent"],
];

/** Each command ends with one message that names the file and the next step, and the file stays as it was. */
async function assertRefused({ dataDir, database }: ReturnType<typeof damagedBy>, why: string, next: string) {
  const before = existsSync(database) ? readFileSync(database) : null;
  const backup = ["backup", join(dataDir, "..", `backup-${folders}.jsonl`)];
  for (const command of [...COMMANDS, backup]) {
    const { code, out, err } = await parley([...command, "--data-dir", dataDir]);
    const said = messagesOf(err)
      .split("\n")
      .filter((line) => line.startsWith("parley"));
    assert.deepEqual([code, out, said.length], [1, "", 1], `${command.join(" ")}: ${err}`);
    assert.ok(said[0]?.startsWith(`parley: The database ${database} is ${why}`), said[0]);
    assert.ok(said[0]?.includes(next) && said[0].includes("parley restore BACKUP --data-dir DIR"), said[0]);
  }
  assert.ok(!existsSync(backup[1] ?? ""), "nothing is called a backup that is none");
  assert.deepEqual(existsSync(database) ? readFileSync(database) : null, before);
}

/** Overwrites the first page of a table with bytes that are not a page of a table. */
function breakTable(database: string, table: string): void {
  const db = new DatabaseSync(database);
  const { rootpage } = db.prepare("SELECT rootpage FROM sqlite_master WHERE name = ?").get(table) as {
    rootpage: number;
  };
  const { page_size: pageSize } = db.prepare("PRAGMA page_size").get() as { page_size: number };
  db.close();
  const bytes = readFileSync(database);
  bytes.fill(0xff, (rootpage - 1) * pageSize, rootpage * pageSize);
  writeFileSync(database, bytes);
}

describe("a damaged SQLite file", () => {
  before(async () => {
    const store = await openStore(
      { dataDir: WHOLE, keyFile: join(WHOLE, "installation.key") },
      {
        clock: systemClock,
        random: systemRandom,
        log: { warn: (details, message) => assert.fail(`${message} ${JSON.stringify(details)}`) },
        exclusive: true,
        onFatal: (error) => assert.fail(error),
      },
    );
    await store.close();
    const made = await parley(["keys", "create", "ci", "--scope", "agent", "--data-dir", WHOLE]);
    assert.equal(made.code, 0, made.err);
  });

  it("that is cut off", async () => {
    const half = damagedBy((database) => truncateSync(database, Math.floor(statSync(database).size / 8192) * 4096));
    await assertRefused(half, "damaged (database disk image is malformed)", "parley doctor");
    const looked = await parley(["doctor", "--data-dir", half.dataDir]);
    assert.notEqual(looked.code, 0, looked.out);
    assert.ok(`${looked.out}${looked.err}`.includes(half.database), looked.err);
  });

  it("whose beginning was overwritten", async () => {
    const other = damagedBy((database) => {
      const bytes = readFileSync(database);
      writeFileSync(database, bytes.fill("not a database; ", 0, 100));
    });
    await assertRefused(other, "damaged (it does not begin as a SQLite file does)", "parley doctor");
    const looked = await parley(["doctor", "--data-dir", other.dataDir]);
    assert.equal(looked.code, 2);
    assert.match(looked.err, /^parley doctor: could not look: The database .*parley\.db is damaged/);
  });

  it("that is empty or gone, where commits were once on disk", async () => {
    await assertRefused(
      damagedBy((database) => truncateSync(database)),
      "empty, but commit ",
      "parley serve --accept-loss",
    );
    await assertRefused(
      damagedBy((database) => rmSync(database)),
      "gone, but commit ",
      "parley serve --accept-loss",
    );
  });

  it("in which a page was overwritten, which the doctor finds although not every start meets it", async () => {
    const start = damagedBy((database) => breakTable(database, "meta"));
    await assertRefused(start, "damaged (database disk image is malformed)", "parley doctor");

    const keys = damagedBy((database) => breakTable(database, "keys"));
    const listed = await parley(["keys", "list", "--data-dir", keys.dataDir]);
    assert.deepEqual([listed.code, listed.out], [1, ""]);
    assert.ok(listed.err.startsWith(`parley: The database ${keys.database} is damaged (`), listed.err);
    const looked = await parley(["doctor", "--data-dir", keys.dataDir]);
    assert.deepEqual([looked.code, looked.err], [1, ""]);
    assert.match(looked.out, /^BROKEN {2}D4 {6}every page and every reference of the database is sound$/m);
    assert.ok(looked.out.includes(`The database ${keys.database} is damaged (`), looked.out);
  });
});
