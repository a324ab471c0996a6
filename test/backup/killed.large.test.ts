import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { before, describe, it } from "node:test";
import { listPoints } from "../proof/kill-process.ts";
import { writeFormerBackup } from "../support/backup-site.ts";
import { killedAt } from "../support/killed-at.ts";
import { newFolder, parley, post, serve, start, stop } from "../support/program.ts";

/** The hits at which a process may be killed, by point. A former backup is restored member after member. */
const HITS: Readonly<Record<string, readonly number[]>> = {
  "backup-before-placed": [1],
  "backup-before-rows": [1],
  "restore-before-epoch": [1],
  "restore-before-member": [1, 2, 4],
  "restore-before-unmarked": [1],
};

describe("a command that is killed", () => {
  const dataDir = newFolder();
  const folder = newFolder();
  const taken = join(folder, "taken.jsonl");
  const former = join(folder, "former.tar");

  before(async () => {
    const server = await serve(dataDir);
    const reply = await post(server.url, "/agent/questions", { prompt: "Which label is clearer?", type: "text" });
    assert.equal(reply.status, 201);
    assert.equal(await stop(server), 0);
    mkdirSync(folder);
    writeFormerBackup(former);
    assert.equal((await parley(["backup", taken, "--data-dir", dataDir])).code, 0);
  });

  const pointsOf = (command: string) => Object.entries(HITS).filter(([point]) => point.startsWith(`${command}-`));

  it("is killed below at every point of these commands", () => {
    const points = listPoints().filter((point) => /^(backup|restore)-/.test(point));
    assert.deepEqual(points, Object.keys(HITS));
  });

  for (const [point] of pointsOf("backup")) {
    it(`as a backup at ${point} has made no file, and the next one leaves nothing of it`, async () => {
      const file = join(newFolder(), "monday.jsonl");
      mkdirSync(dirname(file));
      await killedAt(point, 1, ["backup", file, "--data-dir", dataDir]);
      assert.ok(!existsSync(file));
      assert.notDeepEqual(readdirSync(dirname(file)), [], "nothing was under way");
      const again = await parley(["backup", file, "--data-dir", dataDir]);
      assert.equal(again.code, 0, again.err);
      assert.deepEqual(readdirSync(dirname(file)), [basename(file)]);
      const doctor = await parley(["doctor", "--data-dir", dataDir]);
      assert.ok(doctor.out.endsWith("Everything holds.\n"), doctor.out);
    });
  }

  for (const [point, hits] of pointsOf("restore")) {
    for (const hit of hits) {
      it(`as a restore at ${point} (${hit}) leaves a folder that nothing takes for a whole one, and is done again`, async () => {
        const to = newFolder();
        const file = point === "restore-before-member" ? former : taken;
        await killedAt(point, hit, ["restore", file, "--data-dir", to]);
        for (const command of [
          ["serve", "--port", "0"],
          ["keys", "list"],
          ["backup", `${to}.jsonl`],
        ]) {
          const { code, err } = await start([...command, "--data-dir", to]).ended;
          assert.equal(code, 1, err);
          assert.match(
            err,
            /What parley restore, import or move writes into .* is not finished: wait for it, or, if it was ended, run the same/,
          );
        }
        const doctor = await parley(["doctor", "--data-dir", to]);
        assert.equal(doctor.code, 2);
        assert.match(doctor.err, /is not finished/);

        const again = await parley(["restore", file, "--data-dir", to]);
        assert.equal(again.code, 0, again.err);
        assert.match(again.out, /\nEverything holds\.\n/);
      });
    }
  }

  it("as a restore, and has something of somebody else's beside it since, is not done again over that", async () => {
    const to = newFolder();
    await killedAt("restore-before-unmarked", 1, ["restore", taken, "--data-dir", to]);
    writeFileSync(join(to, "notes.txt"), "mine");
    const again = await parley(["restore", taken, "--data-dir", to]);
    assert.equal(again.code, 1);
    assert.match(again.err, /is not empty; name a folder that is/);
    assert.ok(existsSync(join(to, "notes.txt")));
  });
});
