import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import pg from "pg";
import { listPoints } from "../proof/kill-process.ts";
import { openSite, QUESTION } from "../support/backup-site.ts";
import { dropDatabase, freshDatabase } from "../support/fresh-database.ts";
import { killedAt } from "../support/killed-at.ts";
import { newFolder, parley, post, stop } from "../support/program.ts";

/** The point and its hit at which a command is killed, by command and target database. */
const KILLS: readonly [command: "import" | "move", to: "sqlite" | "postgres", point: string, hit: number][] = [
  ["import", "sqlite", "import-before-rows", 1],
  ["import", "sqlite", "import-before-rows", 9],
  ["import", "sqlite", "restore-before-unmarked", 1],
  ["import", "postgres", "import-before-rows", 9],
  ["import", "postgres", "import-before-commit", 1],
  ["import", "postgres", "restore-before-epoch", 1],
  ["import", "postgres", "restore-before-unmarked", 1],
  ["move", "sqlite", "import-before-rows", 1],
  ["move", "sqlite", "import-before-rows", 9],
  ["move", "sqlite", "restore-before-unmarked", 1],
  ["move", "postgres", "import-before-rows", 9],
  ["move", "postgres", "import-before-commit", 1],
];

async function tablesOf(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query("SELECT 1 FROM pg_tables WHERE schemaname = 'public'");
    return rows.length;
  } finally {
    await client.end();
  }
}

const rowsLine = (out: string) => /^rows .*$/m.exec(out)?.[0] ?? assert.fail(out);

describe("a store that is carried elsewhere by a command that is killed", () => {
  let source: string;
  let rows: string;
  const file = `${newFolder()}.jsonl`;
  const databases: string[] = [];

  before(async () => {
    const site = await openSite();
    source = site.dataDir;
    assert.equal((await site.put("out/report.md", "done")).status, 201);
    for (let i = 0; i < 5; i += 1) await post(site.server.url, "/agent/questions", QUESTION, site.agent);
    assert.equal(await stop(site.server), 0);
    const { code, out, err } = await parley(["export", file, "--data-dir", source]);
    assert.equal(code, 0, err);
    rows = rowsLine(out);
  });
  after(async () => {
    for (const url of databases) await dropDatabase(url);
  });

  it("is killed below at every point of these commands", () => {
    const points = listPoints().filter((point) => /^import-/.test(point));
    assert.deepEqual(
      points.filter((point) => !KILLS.some(([, , at]) => at === point)),
      [],
    );
    assert.equal(points.length, 2);
  });

  for (const [command, to, point, hit] of KILLS) {
    it(`as ${command} to ${to} at ${point} (${hit}) leaves source and target as they were, and is done again`, async () => {
      const folder = newFolder();
      const url = to === "postgres" ? await freshDatabase() : "";
      if (url) databases.push(url);
      const args =
        command === "import"
          ? ["import", file, "--data-dir", folder]
          : ["move", "--data-dir", source, "--to", url || folder];
      const env: Record<string, string> = command === "import" && url ? { DATABASE_URL: url } : {};
      await killedAt(point, hit, args, env);

      // The rows of one transaction; what is killed after it has but its folder to finish.
      if (url) assert.equal((await tablesOf(url)) > 0, point === "restore-before-unmarked");
      if (command === "import" || !url) {
        const refused = await parley(["keys", "list", "--data-dir", folder]);
        assert.match(refused.err, /is not finished/);
      }
      const untouched = await parley(["export", `${newFolder()}.jsonl`, "--data-dir", source]);
      assert.equal(rowsLine(untouched.out), rows, untouched.err);
      const again = await parley(args, env);
      assert.equal(again.code, 0, `${again.out}${again.err}`);
      assert.equal(rowsLine(again.out), rows);
      assert.ok(!existsSync(join(folder, "restore-unfinished")));
    });
  }
});
