import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { pino } from "pino";
import { startServer } from "../../src/server/server.ts";
import { sql } from "../../src/core/store/sql.ts";
import { createKey } from "../../src/access/create-key.ts";
import { eventually, run, SHELL } from "../support/assign-site.ts";
import { gitIn } from "../support/git-in.ts";
import { messagesOf } from "../support/log-lines.ts";
import { parley } from "../support/program.ts";
import { openWorld } from "../support/world.ts";

const COUNT = 6;

describe("two servers on one PostgreSQL with the same repository", () => {
  it("do each task once, never more at a time than may be, in the order of submission", async () => {
    const folder = mkdtempSync(join(tmpdir(), "parley-assign-"));
    const checkout = join(folder, "shop");
    mkdirSync(checkout);
    gitIn(checkout, "init", "-q", "-b", "main");
    gitIn(checkout, "commit", "-q", "--allow-empty", "-m", "Begin");
    const file = join(folder, "parley.yaml");
    const repos = [{ name: "shop", path: checkout, agent: "shell", parallel: 2 }];
    writeFileSync(file, JSON.stringify({ repos, agents: { shell: SHELL }, assignment: { sandbox: "off" } }));
    try {
      await using world = await openWorld({ on: "postgres", running: true, env: { PARLEY_CONFIG: file } });
      const { config, server: first } = world;
      const log = pino({ level: "fatal" });
      const beside = await parley(["serve", "--port", "0"], {
        PARLEY_CONFIG: file,
        PARLEY_DATA_DIR: config.dataDir,
        DATABASE_URL: config.databaseUrl ?? "",
      });
      assert.equal(beside.code, 1);
      assert.match(
        messagesOf(beside.err),
        /Another Parley server gives agents work in .*; set assignment\.work_dir to another folder\.$/m,
      );
      const assignment = { ...config.assignment, workDir: join(folder, "second") };
      const second = await startServer({ ...config, assignment }, { log });
      try {
        const { text: key } = await createKey(first.ctx, { name: "ana", scope: "assign" });
        const headers = { authorization: `Bearer ${key}` };
        const atWork = `mkdir ${folder}/at-$$; ls -d ${folder}/at-* | wc -l >> ${folder}/counted; sleep 0.5; rmdir ${folder}/at-$$`;
        const { db } = first.ctx;
        let count = 0;
        const submit = async (more: number): Promise<void> => {
          for (const end = count + more; count < end; count += 1) {
            const body = { id: `card-${count}`, prompt: run(`echo ${count} > ${count}.txt; ${atWork}`) };
            const reply = await world.call("POST", "/assignment", { headers, body });
            assert.equal(reply.status, 202, reply.text);
          }
          await eventually(
            async () => (await db.all(sql`SELECT id FROM tasks WHERE state = 'review'`)).length === count,
            () => "all done",
          );
        };
        await submit(COUNT);
        // Either may be the quicker one every time, so there is work until both have had some.
        const holders = async () => (await db.all(sql`SELECT DISTINCT holder FROM task_attempts`)).length;
        while ((await holders()) < 2) await submit(2);
        const attempts = await db.all<{ holder: string; n: number; place: number; resumes: number }>(
          sql`SELECT a.holder, a.n, a.resumes, t.place FROM task_attempts a JOIN tasks t ON t.repo = a.repo AND t.id = a.id
            ORDER BY a.started_at, t.place`,
        );
        assert.deepEqual(
          attempts.map(({ place, n, resumes }) => [place, n, resumes]),
          Array.from({ length: count }, (_, i) => [i + 1, 1, 0]),
        );
        const refs = gitIn(checkout, "for-each-ref", "--format=%(refname)", "refs/aa", "refs/heads/aa");
        assert.equal(refs.split("\n").length, 2 * count);

        // Whichever server takes the task, one of the two commits is in the other server's store only.
        const byHolder = new Map(attempts.map(({ holder, place }) => [holder, `card-${place - 1}`]));
        const body = { id: "joined", prompt: run("cat *.txt > all.txt"), dependencies: [...byHolder.values()] };
        assert.equal((await world.call("POST", "/assignment", { headers, body })).status, 202);
        const joined = await eventually(
          async () => {
            const [row] = await db.all<{ state: string; error: string | null; commit_sha: string }>(
              sql`SELECT state, error, commit_sha FROM tasks WHERE id = 'joined'`,
            );
            assert.equal(row?.error, null);
            return row?.state === "review" && row.commit_sha;
          },
          () => "the work of both",
        );
        const numbers = [...byHolder.values()].map((id) => id.replace("card-", ""));
        assert.deepEqual(gitIn(checkout, "show", `${joined}:all.txt`).split("\n").sort(), numbers.sort());
        const most = Math.max(...readFileSync(join(folder, "counted"), "utf8").trim().split("\n").map(Number));
        assert.ok(most <= 2, `${most} agents were at work at one time`);
      } finally {
        await second.stop();
      }
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
