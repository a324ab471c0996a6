import assert from "node:assert/strict";
import { mkdirSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, describe, it } from "node:test";
import { CALLS, listing, modeOf, openSite, QUESTION, ROOMY, type Site } from "../support/backup-site.ts";
import { dropDatabase, freshDatabase } from "../support/fresh-database.ts";
import { newFolder, parley, post, serve, start, stop, until } from "../support/program.ts";
import { DATABASES } from "../support/world.ts";

const textOf = (number: number) => `version ${number} ${"x".repeat(number % 5000)}`;

/** The writes that a server has acknowledged. */
interface Acknowledged {
  questions: string[];
  calls: string[];
  /** The number of the newest version, by path. */
  files: Map<string, number>;
}

/** Writes all the time, until the server is gone. */
function writeAllTheTime({ server, agent, put }: Site): { acknowledged: Acknowledged; over: Promise<unknown> } {
  const acknowledged: Acknowledged = { questions: [], calls: [], files: new Map() };
  let count = 0;
  const goneIs = async (writes: () => Promise<void>) => {
    for (;;) {
      try {
        await writes();
      } catch (error) {
        if (error instanceof TypeError) return;
        throw error;
      }
    }
  };
  const ask = async () => {
    const reply = await post(server.url, "/agent/questions", QUESTION, agent);
    assert.equal(reply.status, 201);
    acknowledged.questions.push(((await reply.json()) as { question_id: string }).question_id);
  };
  const call = async () => {
    const id = `call-${(count += 1)}`;
    const spec = { fn: "deploy", kwargs: { id } };
    const reply = await post(server.url, CALLS, { run_id: "r", call_id: id, spec }, agent);
    assert.equal(reply.status, 200);
    await reply.text();
    acknowledged.calls.push(id);
  };
  const replace = (path: string) => async () => {
    const number = (count += 1);
    const reply = await put(path, textOf(number));
    assert.equal(reply.status, 201);
    await reply.text();
    acknowledged.files.set(path, number);
  };
  const writes = [ask, call, replace("hot.txt"), replace("out/report.md")];
  return { acknowledged, over: Promise.all(writes.map(goneIs)) };
}

const copyOf = ({ questions, calls, files }: Acknowledged): Acknowledged => ({
  questions: [...questions],
  calls: [...calls],
  files: new Map(files),
});

async function assertThere(site: Site, url: string, { questions, calls, files }: Acknowledged): Promise<void> {
  for (const id of questions) {
    assert.equal((await fetch(`${url}/agent/questions/${id}`, { headers: site.agent })).status, 200, id);
  }
  for (const id of calls) {
    assert.equal((await fetch(`${url}${CALLS}/${id}`, { headers: site.agent })).status, 200, id);
  }
  for (const [path, number] of files) {
    const reply = await site.read(url, path);
    const text = await reply.text();
    assert.equal(reply.status, 200, `${path} ${text}`);
    const kept = Number(/^version (\d+) /.exec(text)?.[1]);
    assert.ok(kept >= number, `${path} is version ${kept}, and ${number} was acknowledged before`);
    assert.equal(text, textOf(kept));
  }
}

for (const on of DATABASES) {
  describe(`a backup taken while a server writes, on ${on}`, () => {
    const databases: string[] = [];
    after(async () => {
      for (const url of databases) await dropDatabase(url);
    });
    /** The settings of a new database. */
    const newPlace = async (): Promise<Record<string, string>> => {
      if (on === "sqlite") return {};
      databases.push(await freshDatabase());
      return { DATABASE_URL: databases.at(-1) ?? "" };
    };

    it("holds everything that was acknowledged before it began, and starts in another folder", async () => {
      const from = await newPlace();
      const site = await openSite(from);
      const { acknowledged, over } = writeAllTheTime(site);
      await until(() => acknowledged.calls.length > 20 && acknowledged.files.size === 2, "writes before the backup");
      const file = join(newFolder(), "monday.jsonl");
      mkdirSync(dirname(file));

      const due = copyOf(acknowledged);
      const taken = await start(["backup", file, "--data-dir", site.dataDir], from).ended;
      const later = acknowledged.calls.length;
      assert.equal(taken.code, 0, taken.err);
      assert.match(
        taken.out,
        /monday\.jsonl {2}\d+\.\d MiB, the database up to commit \d+, \d+ tables, 2 files of jobs\n/,
      );
      await until(() => acknowledged.calls.length > later, "writes after the backup");
      site.server.child.kill("SIGKILL");
      await over;
      assert.equal(modeOf(file), "600");
      assert.deepEqual(readdirSync(dirname(file)), ["monday.jsonl"]);

      const dataDir = newFolder();
      const to = await newPlace();
      const restored = await start(["restore", file, "--data-dir", dataDir, "--keep-access"], to).ended;
      assert.equal(restored.code, 0, `${restored.out}${restored.err}`);
      assert.match(
        restored.out,
        /\nEverything holds\.\nStart it with: parley serve --data-dir \S+(, with DATABASE_URL .*)?\n$/,
      );
      assert.ok(!restored.out.includes("BROKEN"));
      assert.deepEqual(
        listing(dataDir).filter((line) => !/ (700 folder|600 [0-9a-f]{64})$/.test(line)),
        [],
      );

      const server = await serve(dataDir, { ...ROOMY, ...to });
      await assertThere(site, server.url, due);
      const more = await post(server.url, "/agent/questions", QUESTION, site.agent);
      assert.equal(more.status, 201);
      assert.equal(await stop(server), 0);
      const doctor = await parley(["doctor", "--data-dir", dataDir], to);
      assert.ok(doctor.out.endsWith("Everything holds.\n"), doctor.out);
    });
  });
}
