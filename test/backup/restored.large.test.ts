import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { openSite, type Site, QUESTION, ROOMY, writeFormerBackup } from "../support/backup-site.ts";
import { itAtTerminal, sitDown } from "../support/at-terminal.ts";
import { dropDatabase, freshDatabase } from "../support/fresh-database.ts";
import { newFolder, parley, post, serve, stop } from "../support/program.ts";
import { DATABASES } from "../support/world.ts";

describe("a store that is made of a backup", () => {
  const file = `${newFolder()}.jsonl`;
  const databases: string[] = [];
  let site: Site;
  before(async () => {
    site = await openSite();
    const { code, err } = await parley(["backup", file, "--data-dir", site.dataDir]);
    assert.equal(code, 0, err);
    assert.equal(await stop(site.server), 0);
  });
  after(async () => {
    for (const url of databases) await dropDatabase(url);
  });

  const placeOn = async (on: string): Promise<Record<string, string>> => {
    if (on === "sqlite") return {};
    databases.push(await freshDatabase());
    return { DATABASE_URL: databases.at(-1) ?? "" };
  };
  const asked = async (dataDir: string, env: Record<string, string>) => {
    const server = await serve(dataDir, { ...ROOMY, ...env });
    const { status } = await post(server.url, "/agent/questions", QUESTION, site.agent);
    assert.equal(await stop(server), 0);
    return status;
  };

  for (const on of DATABASES) {
    for (const command of ["restore", "import"]) {
      it(`by ${command} on ${on} takes no key until the operator puts it back, and says which`, async () => {
        const [dataDir, env] = [newFolder(), await placeOn(on)];
        const made = await parley([command, file, "--data-dir", dataDir], env);
        assert.equal(made.code, 0, made.out + made.err);
        assert.match(made.err, /Every session, sign-in link, .* has ended/);
        assert.match(made.err, /Out of force, because somebody may have revoked them since:\n {2}\d+ keys\n/);
        assert.match(made.err, /^ {4}key_\w+ agent support$/m);
        assert.match(made.err, /parley restored --keep-access --data-dir /);
        assert.equal(await asked(dataDir, env), 401);
        const held = await parley(["restored", "--data-dir", dataDir], env);
        assert.match(held.out, /^ {4}key_\w+ agent support$/m);
        const put = await parley(["restored", "--keep-access", "--data-dir", dataDir], env);
        assert.match(put.out, /^put back: \d+ keys$/m);
        assert.equal(await asked(dataDir, env), 201);
        const again = await parley(["restored", "--data-dir", dataDir], env);
        assert.match(again.err, /No restore holds anything here/);
      });
    }

    it(`on ${on} takes every key with --keep-access`, async () => {
      const [dataDir, env] = [newFolder(), await placeOn(on)];
      const made = await parley(["restore", file, "--data-dir", dataDir, "--keep-access"], env);
      assert.equal(made.code, 0, made.out + made.err);
      assert.doesNotMatch(made.err, /Out of force/);
      assert.equal(await asked(dataDir, env), 201);
    });
  }

  it("of 0.2.0 takes no key either", async () => {
    const [former, dataDir] = [`${newFolder()}.tar`, newFolder()];
    writeFormerBackup(former);
    const made = await parley(["restore", former, "--data-dir", dataDir]);
    assert.equal(made.code, 0, made.out + made.err);
    assert.match(made.err, /Out of force, because .*:\n {2}\d+ keys\n/);
    const { out } = await parley(["keys", "list", "--data-dir", dataDir]);
    assert.doesNotMatch(out, / good$/m);
    const kept = newFolder();
    await parley(["restore", former, "--data-dir", kept, "--keep-access"]);
    assert.match((await parley(["keys", "list", "--data-dir", kept])).out, / good$/m);
  });

  it("by a move is the same store, in which nothing has ended", async () => {
    const dataDir = newFolder();
    const moved = await parley(["move", "--to", dataDir, "--data-dir", site.dataDir]);
    assert.equal(moved.code, 0, moved.out + moved.err);
    assert.doesNotMatch(moved.err, /has ended/);
    assert.equal(await asked(dataDir, {}), 201);
  });

  itAtTerminal("asks once at a terminal, and takes the keys again after a yes", async () => {
    for (const [answer, status] of [
      ["n", 401],
      ["y", 201],
    ] as const) {
      const dataDir = newFolder();
      const sitting = sitDown(["restore", file, "--data-dir", dataDir]);
      await sitting.sees("Put all of these in force again? [y/N]");
      sitting.types(`${answer}\r`);
      assert.equal(await sitting.ended, 0, sitting.shown());
      assert.equal(await asked(dataDir, {}), status);
    }
  });
});
