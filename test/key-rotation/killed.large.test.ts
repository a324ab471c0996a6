import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import pg from "pg";
import { openStore } from "../../src/core/store/open-store.ts";
import { systemRandom } from "../../src/lib/random.ts";
import { listPoints } from "../proof/kill-process.ts";
import { until } from "../support/contract.ts";
import { dropDatabase, freshDatabase } from "../support/fresh-database.ts";
import { heldClock } from "../support/held-clock.ts";
import { killedAt } from "../support/killed-at.ts";
import { newFolder, parley, serve, start, stop } from "../support/program.ts";
import { DATABASES } from "../support/world.ts";

const ROTATE = ["keys", "rotate-installation"] as const;
const POINTS = ["rotate-key-written", "rotate-before-commit", "rotate-committed"] as const;

interface Place {
  dataDir: string;
  keyFile: string;
  env: Record<string, string>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** A store on which a server was once. */
async function openPlace(on: (typeof DATABASES)[number]): Promise<Place> {
  const dataDir = newFolder();
  const url = on === "postgres" ? await freshDatabase() : undefined;
  const env: Record<string, string> = url === undefined ? {} : { DATABASE_URL: url };
  assert.equal(await stop(await serve(dataDir, env)), 0);
  const dispose = async () => (url === undefined ? undefined : dropDatabase(url));
  return { dataDir, keyFile: join(dataDir, "installation.key"), env, [Symbol.asyncDispose]: dispose };
}

const rotate = ({ dataDir, env }: Place, ...more: string[]) => parley([...ROTATE, "--data-dir", dataDir, ...more], env);
const read = (path: string) => readFileSync(path, "utf8");

describe("a change of the installation key", () => {
  it("is killed below at every point of it", () => {
    assert.deepEqual(
      listPoints()
        .filter((point) => point.startsWith("rotate-"))
        .sort(),
      [...POINTS].sort(),
    );
  });

  for (const on of DATABASES) {
    for (const point of POINTS) {
      it(`that is killed at ${point} leaves one key in force on ${on}`, async () => {
        await using place = await openPlace(on);
        const { dataDir, env, keyFile } = place;
        const isChanged = point === "rotate-committed";
        // The next command finds the store under the key that is in force, and finishes the rotation.
        for (const next of isChanged ? ["serve", "export", "people list", "rotate"] : ["export", "rotate"]) {
          const old = read(keyFile);
          await killedAt(point, 1, [...ROTATE, "--data-dir", dataDir], env);
          assert.equal(read(keyFile), old);
          const fresh = read(`${keyFile}.next`);
          if (next === "serve") assert.equal(await stop(await serve(dataDir, env)), 0);
          else {
            const args = { export: ["export", `${newFolder()}.jsonl`], rotate: [...ROTATE] }[next] ?? next.split(" ");
            // PostgreSQL takes a moment to notice that the killed process has let go of its lock.
            const { code, err } = await until(async () => {
              const ended = await parley([...args, "--data-dir", dataDir], env);
              return ended.err.includes("is at work on this database") ? null : ended;
            });
            assert.equal(code, 0, err);
          }
          if (next !== "rotate") assert.equal(read(keyFile), isChanged ? fresh : old, next);
          // Before the commit what lies beside the key is nobody's; the next change takes it away.
          assert.equal(existsSync(`${keyFile}.next`), next !== "rotate" && !isChanged, next);
        }
        const doctor = await parley(["doctor", "--data-dir", dataDir], env);
        assert.equal(doctor.code, 0, doctor.out);
      });
    }

    it(`says on ${on} what would end, and changes nothing, with --dry-run beside a server`, async () => {
      await using place = await openPlace(on);
      const server = await serve(place.dataDir, place.env);
      const old = read(place.keyFile);
      const { code, out, err } = await rotate(place, "--dry-run");
      assert.equal(code, 0, err);
      assert.match(out, /^Nothing is changed yet/);
      assert.match(err, /What ends with the old key:\n.*links, codes and reply addresses/);
      assert.match(err, /Stop every server of this store first/);
      const refused = await rotate(place);
      assert.deepEqual([refused.code, read(place.keyFile), existsSync(`${place.keyFile}.next`)], [1, old, false]);
      assert.match(refused.err, /; stop /);
      assert.equal(await stop(server), 0);
    });

    it(`leaves the key file on ${on} as it is with --into, and a server that has the old one says so`, async () => {
      await using place = await openPlace(on);
      const { dataDir, env, keyFile } = place;
      const old = read(keyFile);
      const folder = newFolder();
      mkdirSync(folder);
      const into = join(folder, "new.key");
      writeFileSync(into, "mine\n");
      const refused = await rotate(place, "--into", into);
      assert.match(refused.err, /There is a file .*new\.key already; name a new one/);
      assert.equal(read(into), "mine\n");
      const fresh = join(folder, "newer.key");
      const done = await rotate(place, "--into", fresh);
      assert.equal(done.code, 0, done.err);
      assert.match(done.err, /Name .*newer\.key with PARLEY_KEY_FILE from now on/);
      assert.equal(read(keyFile), old);
      const { code, err } = await start(["serve", "--port", "0", "--data-dir", dataDir], env).ended;
      assert.equal(code, 1);
      assert.match(err, /is not the installation key of this database; .*rotate-installation has changed it/);
      assert.equal(await stop(await serve(dataDir, { ...env, PARLEY_KEY_FILE: fresh })), 0);
    });
  }

  it("ends a server that was cut off from its database meanwhile, before it writes under the old key", async () => {
    await using place = await openPlace("postgres");
    const databaseUrl = place.env["DATABASE_URL"] ?? "";
    const fatal: string[] = [];
    const options = { clock: heldClock(Date.now()), random: systemRandom, log: { warn: () => {} }, exclusive: true };
    const store = await openStore(
      { dataDir: place.dataDir, keyFile: place.keyFile, databaseUrl },
      { ...options, onFatal: ({ message }) => void fatal.push(message) },
    );
    const client = new pg.Client({ connectionString: databaseUrl });
    await client.connect();
    try {
      // The server's clock stands still, and with it what would connect it again.
      const others = "FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()";
      for (let left = 1; left > 0;) {
        await client.query(`SELECT pg_terminate_backend(pid) ${others}`);
        left = Number((await client.query(`SELECT count(*) AS left ${others}`)).rows[0].left);
      }
      const done = await rotate(place);
      assert.equal(done.code, 0, done.err);
      await assert.rejects(store.probe(), { code: "store_unavailable" });
      assert.match(fatal[0] ?? "", /^The installation key was changed while this server was cut off/);
    } finally {
      await client.end();
      await store.close();
    }
  });
});
