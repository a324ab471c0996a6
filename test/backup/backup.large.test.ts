import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { before, describe, it } from "node:test";
import { CALLS, listing, modeOf, openSite, QUESTION, ROOMY, type Site } from "../support/backup-site.ts";
import { newFolder, parley, post, serve, stop } from "../support/program.ts";

describe("a backup", () => {
  let site: Site;
  let folder: string;
  let taken: string;
  let text: string;

  before(async () => {
    folder = newFolder();
    mkdirSync(folder);
    const keyFile = join(folder, "elsewhere.key");
    site = await openSite({ PARLEY_KEY_FILE: keyFile });
    const deep = Array.from({ length: 18 }, (_, i) => `folder-${i}`).join("/");
    assert.equal((await site.put(`${deep}/a.txt`, "deep")).status, 201);
    assert.equal((await site.put("empty", "")).status, 201);
    await post(site.server.url, "/agent/questions", QUESTION, site.agent);
    assert.equal(await stop(site.server), 0);
    mkdirSync(join(site.dataDir, "prompts"));
    writeFileSync(join(site.dataDir, "prompts", "mine@v1.yaml"), "id: mine\n");
    writeFileSync(
      join(site.dataDir, "parley.yaml"),
      `key_file: ${keyFile}\nslack: { bot_token: xoxb-secret } # xoxb-former\npolicy: { grant_days: 5 }\n`,
    );
    taken = join(folder, "taken.jsonl");
    const { code, err } = await parley(["backup", taken, "--data-dir", site.dataDir]);
    assert.equal(code, 0, err);
    text = readFileSync(taken, "utf8");
  });

  const restoreOf = (file: string, dataDir = newFolder()) =>
    parley(["restore", file, "--data-dir", dataDir, "--keep-access"]);
  let names = 0;
  /** A copy of the backup in which something is different. */
  const changed = (copy: string): string => {
    assert.notEqual(copy, text);
    const file = join(folder, `changed-${(names += 1)}.jsonl`);
    writeFileSync(file, copy);
    return file;
  };

  it("is one file of its owner's alone: a first line, and a line for each part of a file and each row, counted at its end", () => {
    assert.equal(modeOf(taken), "600");
    const lines = text.trimEnd().split("\n");
    const [first, ...more] = lines.map((line) => JSON.parse(line) as Record<string, never>);
    assert.equal((first as unknown as { kind: string }).kind, "parley-export");
    const rows = more.filter((line) => "row" in line).length;
    const { end } = more.at(-1) as unknown as { end: { tables: Record<string, number>; rows: number; sha256: string } };
    assert.equal(end.rows, rows);
    assert.equal(
      Object.values(end.tables).reduce((sum, count) => sum + count, 0),
      rows,
    );
    const digest = execFileSync("sh", ["-c", `grep '^{"table":' "$1" | sha256sum`, "sh", taken], { encoding: "utf8" });
    assert.equal(digest.split(" ")[0], end.sha256);
  });

  it("holds the settings without secrets and places of this machine, and the restore says what to set again", async () => {
    const dataDir = newFolder();
    const restored = await restoreOf(taken, dataDir);
    assert.equal(restored.code, 0, restored.err);
    assert.match(restored.err, /^Not in the backup, so to be set again: slack\.bot_token\.$/m);
    assert.equal(readFileSync(join(dataDir, "parley.yaml"), "utf8"), "slack: {}\npolicy:\n  grant_days: 5\n");
    assert.ok(!text.includes("xoxb-"));
    assert.equal(readFileSync(join(dataDir, "prompts", "mine@v1.yaml"), "utf8"), "id: mine\n");
    const server = await serve(dataDir, ROOMY);
    assert.equal(await (await site.read(server.url, "empty")).text(), "");
    assert.equal(await stop(server), 0);
  });

  it("never takes the place of a file, and leaves nothing beside it", async () => {
    const before = listing(folder);
    const { code, err } = await parley(["backup", taken, "--data-dir", site.dataDir]);
    assert.equal(code, 1);
    assert.match(err, /^parley: .*taken\.jsonl is there already; name a file that is not\.\n$/);
    const nowhere = await parley(["backup", join(folder, "no", "b.jsonl"), "--data-dir", site.dataDir]);
    assert.deepEqual([nowhere.code, nowhere.err], [1, `parley: There is no folder ${join(folder, "no")}.\n`]);
    assert.deepEqual(listing(folder), before);
  });

  it("is not taken where there is no store, nor with another key than the store's", async () => {
    const empty = newFolder();
    const nothing = await parley(["backup", join(folder, "x.jsonl"), "--data-dir", empty]);
    assert.deepEqual([nothing.code, nothing.err], [1, `parley: There is no Parley database in ${empty}.\n`]);
    assert.ok(!existsSync(empty));
    for (const [key, says] of [
      [join(folder, "none.key"), /There is no installation key at .*none\.key; name the one of this database/],
      [join(folder, "other.key"), /other\.key is not the installation key of this database/],
    ] as const) {
      if (key.endsWith("other.key")) writeFileSync(key, `${Buffer.alloc(32, 7).toString("base64url")}\n`);
      const run = await parley(["backup", join(folder, "x.jsonl"), "--data-dir", site.dataDir], {
        PARLEY_KEY_FILE: key,
      });
      assert.equal(run.code, 1);
      assert.match(run.err, says);
    }
    assert.ok(!existsSync(join(folder, "x.jsonl")));
  });

  it("says of a file that the data directory has lost that the backup lacks it, too", async () => {
    const kept = join(site.dataDir, "artifacts", site.job, "1", "empty");
    renameSync(kept, join(folder, "aside"));
    const file = join(folder, "lacking.jsonl");
    const { code, err } = await parley(["backup", file, "--data-dir", site.dataDir]);
    renameSync(join(folder, "aside"), kept);
    assert.equal(code, 0, err);
    assert.match(err, new RegExp(`^empty of the job ${site.job} is missing in the data directory, or is not`, "m"));
    assert.equal((await restoreOf(file)).code, 0);
  });

  it("that is damaged anywhere is refused, and nothing is made of it", async () => {
    const damages: [string, string][] = [
      ["a row", text.replace('"table":"people","row":{', '"table":"people","row": {')],
      ["a row that the database would refuse", text.replace(/("table":"keys".*"hash":)"[^"]+"/, "$1null")],
      ["a row that is no JSON", text.replace('"table":"people","row":{', '"table":"people","row":[')],
      ["a row that is missing", text.replace(/\{"table":"keys".*\n/, "")],
      ["a file", text.replace(/("name":"installation\.key","at":0,"base64":")./, "$1_")],
      ["the key", text.replace(/\{"part":\{"name":"installation\.key".*\n/, "")],
      ["the digest of the key", text.replace(/\{"file":\{"name":"installation\.key".*\n/, "")],
      ["a part of a file", text.replace(/("name":"artifacts.*"at":)0/, "$17")],
      ["a file behind rows", text.replace('{"end"', '{"part":{"name":"policy.yaml","at":0,"base64":""}}\n{"end"')],
      ["a digest", text.replace(/("rows":\d+,"sha256":")./, "$1x")],
      ["a count", text.replace(/("end":.*"people":)/, "$11")],
      ["cut off in its files", text.slice(0, text.indexOf('{"file"'))],
      ["cut off in a row", text.slice(0, text.indexOf('"table":"people"') + 40)],
      ["cut off before its end", text.slice(0, text.lastIndexOf('{"end"'))],
      ["something behind its end", `${text}{"table":"people","row":{}}\n`],
    ];
    for (const [what, copy] of damages) {
      const dataDir = newFolder();
      const { code, out, err } = await restoreOf(changed(copy), dataDir);
      assert.deepEqual([code, out], [1, ""], what);
      assert.match(err, /^parley: .* is damaged \(.+\); nothing was restored from it\. Take another backup\.\n$/, what);
      assert.ok(!existsSync(dataDir), what);
    }
  });

  it("is told from any other file", async () => {
    const notes = join(folder, "notes.txt");
    writeFileSync(notes, "not a backup\n".repeat(100));
    const other = join(folder, "other.tar");
    execFileSync("tar", ["-cf", other, "-C", folder, "notes.txt"]);
    const empty = join(folder, "empty.jsonl");
    writeFileSync(empty, "");
    for (const file of [notes, other, empty, folder, join(site.dataDir, "parley.db")]) {
      const dataDir = newFolder();
      const { code, err } = await restoreOf(file, dataDir);
      assert.deepEqual([code, err], [1, `parley: ${file} is not a backup that parley backup has made.\n`]);
      assert.ok(!existsSync(dataDir));
    }
    const none = await restoreOf(join(folder, "none.jsonl"));
    assert.deepEqual([none.code, none.err], [1, `parley: There is no file ${join(folder, "none.jsonl")}.\n`]);
  });

  it("of a newer program is refused by name", async () => {
    for (const [was, is] of [
      [/"format":\d+/, '"format":99'],
      [/"schema":/, '"schema":9'],
    ] as const) {
      const dataDir = newFolder();
      const { code, err } = await restoreOf(changed(text.replace(was, is)), dataDir);
      assert.equal(code, 1);
      assert.match(
        err,
        /^parley: The backup was made by a newer Parley \(.*\) than this one \(.*\); restore it with that/,
      );
      assert.ok(!existsSync(dataDir));
    }
  });

  it("goes into no folder that holds anything", async () => {
    for (const name of ["notes.txt", ".hidden", "parley.db"]) {
      const dataDir = newFolder();
      mkdirSync(dataDir);
      writeFileSync(join(dataDir, name), "mine");
      const before = listing(dataDir);
      const { code, err } = await restoreOf(taken, dataDir);
      assert.equal(code, 1);
      assert.match(err, /is not empty; name a folder that is, or that is not there yet, with --data-dir\.\n$/);
      assert.deepEqual(listing(dataDir), before);
    }
    const empty = newFolder();
    mkdirSync(empty, { mode: 0o755 });
    assert.equal((await restoreOf(taken, empty)).code, 0);
    assert.equal(modeOf(empty), "700");
  });
});

describe("a backup that is restored later", () => {
  it("is sound although deadlines have passed, and starts after 90 days with the clock accepted", async () => {
    const site = await openSite();
    const asked = await post(
      site.server.url,
      CALLS,
      { run_id: "r", call_id: "c", spec: { fn: "deploy", kwargs: {} } },
      site.agent,
    );
    assert.equal(asked.status, 200);
    assert.equal(await stop(site.server), 0);
    // The whole backup looks as if it had been made a hundred days ago, on another machine.
    const ago = 100 * 86_400_000;
    const database = new DatabaseSync(join(site.dataDir, "parley.db"));
    database.exec("UPDATE meta SET clock_boot = NULL");
    moveBack(database, ago);
    database.close();
    const file = `${newFolder()}.jsonl`;
    assert.equal((await parley(["backup", file, "--data-dir", site.dataDir])).code, 0);

    const dataDir = newFolder();
    const restored = await parley(["restore", file, "--data-dir", dataDir, "--keep-access"]);
    assert.equal(restored.code, 0, restored.out);
    assert.match(restored.err, /but the last commit was at .*--accept-clock\n$/);
    assert.match(restored.out, /Everything holds\.\nStart it with: parley serve --data-dir \S+ --accept-clock\n$/);
    const today = await parley(["doctor", "--data-dir", dataDir]);
    assert.match(today.out, /^BROKEN {2}T1 /m, "no deadline has passed meanwhile");
    const server = await serve(dataDir, ROOMY, "--accept-clock");
    const more = await post(server.url, "/agent/questions", QUESTION, site.agent);
    assert.equal(more.status, 201);
    assert.equal(await stop(server), 0);
  });
});

/** Every time that a row remembers is earlier. */
function moveBack(database: DatabaseSync, byMs: number): void {
  database.exec("PRAGMA foreign_keys = OFF");
  const year = Date.UTC(2020, 0);
  const tables = database
    .prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    .all() as { name: string }[];
  for (const { name } of tables) {
    const columns = database.prepare("SELECT name, type FROM pragma_table_info(?)").all(name) as {
      name: string;
      type: string;
    }[];
    for (const column of columns.filter(({ type }) => type === "INTEGER")) {
      database.exec(
        `UPDATE "${name}" SET "${column.name}" = "${column.name}" - ${byMs} WHERE "${column.name}" > ${year}`,
      );
    }
  }
}
