import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import pg from "pg";
import { pino } from "pino";
import { loadConfig } from "../../src/config/config.ts";
import { type Clock, systemClock } from "../../src/lib/clock.ts";
import { systemRandom } from "../../src/lib/random.ts";
import { startServer } from "../../src/server/server.ts";
import { OWNED_TABLES } from "../../src/backup/store/owned-tables.ts";
import { networkFileSystem } from "../../src/core/store/data-dir.ts";
import { readHighwater } from "../../src/core/store/highwater.ts";
import { openStore, type Store, type StoreOptions, type StoreAddress } from "../../src/core/store/open-store.ts";
import { judgePostgresAddress } from "../../src/core/store/postgres/address.ts";
import { insertSecretIfNew, findSecret } from "../../src/core/store/sealed-secrets.ts";
import { sql } from "../../src/core/store/sql.ts";
import { freshDatabase } from "../support/fresh-database.ts";
import { databaseUrl } from "../support/postgres.ts";

const ROOT = mkdtempSync(join(tmpdir(), "parley-store-"));
after(() => rmSync(ROOT, { recursive: true }));

let folders = 0;
function newPlace(): StoreAddress {
  const dataDir = join(ROOT, `data-${(folders += 1)}`);
  return { dataDir, keyFile: join(dataDir, "installation.key"), databaseWaitMs: 60_000 };
}

function open(place: StoreAddress, more: Partial<StoreOptions> = {}): Promise<Store> {
  return openStore(place, {
    clock: systemClock,
    random: systemRandom,
    log: { warn: (details, message) => assert.fail(`${message} ${JSON.stringify(details)}`) },
    exclusive: true,
    onFatal: (error) => assert.fail(error),
    ...more,
  });
}

async function commit(store: Store, name: string): Promise<void> {
  await store.db.transact((tx) =>
    tx.all(sql`INSERT INTO people (person_id, name, role, created_at) VALUES (${name}, ${name}, 'member', 1)`),
  );
}

/** The clock of another boot, of which nothing is known but what the wall clock says. */
const clockBehind = (ms: number): Clock => ({ ...systemClock, boot: "another", now: () => Date.now() - ms });
const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

describe("the data directory", () => {
  it("is made for its owner alone, with everything in it", async () => {
    const place = newPlace();
    const store = await open(place);
    await commit(store, "ana");
    assert.deepEqual(store.notes, []);
    assert.equal(modeOf(place.dataDir), "700");
    const names = readdirSync(place.dataDir).sort();
    assert.deepEqual(names, [
      "highwater",
      "installation.key",
      "parley.db",
      "parley.db-shm",
      "parley.db-wal",
      "parley.lock",
    ]);
    for (const name of names) assert.equal(modeOf(join(place.dataDir, name)), "600", name);
    await store.close();

    const again = await open(place);
    assert.deepEqual(again.notes, []);
    await again.close();
  });

  it("gets its modes back, and says so", async () => {
    const place = newPlace();
    await (await open(place)).close();
    chmodSync(place.dataDir, 0o755);
    chmodSync(place.keyFile, 0o644);
    const store = await open(place);
    await store.close();
    assert.deepEqual(store.notes, [
      `${place.dataDir} had mode 755; corrected to 700.`,
      `${place.keyFile} had mode 644; corrected to 600.`,
    ]);
    assert.equal(modeOf(place.dataDir), "700");
    assert.equal(modeOf(place.keyFile), "600");
  });

  it("is refused when it holds other things, and left as it was", async () => {
    const place = newPlace();
    mkdirSync(place.dataDir, { mode: 0o755 });
    writeFileSync(join(place.dataDir, "thesis.tex"), "");
    await assert.rejects(open(place), {
      message: new RegExp(`^The data directory ${place.dataDir} cannot be used: it holds other files; `),
    });
    assert.equal(modeOf(place.dataDir), "755");
    assert.deepEqual(readdirSync(place.dataDir), ["thesis.tex"]);
  });

  it("is refused in one sentence where it cannot be", async () => {
    const file = join(ROOT, "a-file");
    writeFileSync(file, "");
    await assert.rejects(
      open({ ...newPlace(), dataDir: join(file, "data") }),
      /: (part of its path is a file|there is a file of that name); choose another with --data-dir/,
    );
    await assert.rejects(
      open({ ...newPlace(), dataDir: file }),
      /: there is a file of that name; choose another with --data-dir/,
    );
    await assert.rejects(
      open({ ...newPlace(), dataDir: "/proc/parley" }),
      /: it cannot be created; choose another with --data-dir/,
    );
  });
});

describe("a network file system", () => {
  it("is known by its number", () => {
    assert.deepEqual([0x6969, 0xff534d42, 0xfe534d42].map(networkFileSystem), ["NFS", "CIFS", "SMB"]);
    const [ext4, xfs, tmpfs, overlay] = [0xef53, 0x58465342, 0x01021994, 0x794c7630].map(networkFileSystem);
    assert.deepEqual([ext4, xfs, tmpfs, overlay], [null, null, null, null]);
  });
});

describe("the installation key", () => {
  it("is made once and stays", async () => {
    const place = newPlace();
    const store = await open(place);
    await store.db.transact((tx) => insertSecretIfNew(tx, store.keyring, "canary", "wings"));
    await store.close();
    assert.equal(Buffer.from(readFileSync(place.keyFile, "utf8").trim(), "base64url").length, 32);

    const again = await open(place);
    assert.equal(await findSecret(again.db, again.keyring, "canary"), "wings");
    assert.ok(!JSON.stringify(await again.db.all(sql`SELECT * FROM sealed_secrets`)).includes("wings"));
    await again.close();
  });

  it("of another database, or a damaged one, is refused", async () => {
    const place = newPlace();
    const store = await open(place);
    await store.db.transact((tx) => insertSecretIfNew(tx, store.keyring, "canary", "wings"));
    await store.close();
    const kept = readFileSync(place.keyFile);

    writeFileSync(place.keyFile, `${randomBytes(32).toString("base64url")}\n`);
    await assert.rejects(open(place), /is not the installation key of this database/);
    writeFileSync(place.keyFile, "short\n");
    await assert.rejects(open(place), /holds no installation key/);
    writeFileSync(place.keyFile, kept);
    await (await open(place)).close();
  });

  it("may stand elsewhere", async () => {
    const place = { ...newPlace(), keyFile: join(ROOT, "keys", "parley.key") };
    await (await open(place)).close();
    assert.equal(modeOf(place.keyFile), "600");
    assert.ok(!existsSync(join(place.dataDir, "installation.key")));
  });
});

describe("a second server on one SQLite file", () => {
  it("does not start, while commands work beside the first", async () => {
    const place = newPlace();
    const server = await open(place);
    await assert.rejects(open(place), {
      message: `Another Parley server is using ${place.dataDir}; stop it, or choose another folder with --data-dir.`,
    });
    const command = await open(place, { exclusive: false });
    await Promise.all([commit(command, "bo"), commit(server, "ana")]);
    await command.close();
    assert.equal((await server.db.all(sql`SELECT * FROM people`)).length, 2);
    await server.close();
    await (await open(place)).close();
  });

  it("starts at once after the first was killed", async () => {
    const place = newPlace();
    await (await open(place)).close();
    const holder = spawn(process.execPath, [
      "--input-type=module",
      "--eval",
      `import { lockForServer } from ${JSON.stringify(new URL("../../src/core/store/server-lock.ts", import.meta.url).href)};
       lockForServer(${JSON.stringify(join(place.dataDir, "parley.lock"))});
       console.log("held"); setInterval(() => {}, 1000);`,
    ]);
    await once(holder.stdout, "data");
    await assert.rejects(open(place), /Another Parley server is using/);
    holder.kill("SIGKILL");
    await once(holder, "exit");
    await (await open(place)).close();
  });
});

describe("history that has shrunk", () => {
  const FILES = ["parley.db", "parley.db-wal", "parley.db-shm"];

  it("is refused, and accepted only in so many words", async () => {
    const place = newPlace();
    const store = await open(place);
    await store.close();
    const old = readFileSync(join(place.dataDir, "parley.db"));
    const later = await open(place);
    await commit(later, "ana");
    await later.close();

    for (const name of FILES) rmSync(join(place.dataDir, name), { force: true });
    writeFileSync(join(place.dataDir, "parley.db"), old, { mode: 0o600 });
    const refusal = /ends at commit \d+, but commit \d+ was once on disk; .* parley serve --accept-loss$/;
    await assert.rejects(open(place), refusal);
    await assert.rejects(open(place), refusal);
    await (await open(place, { acceptLoss: true })).close();
    await (await open(place)).close();
  });

  it("is noticed when the database is gone altogether", async () => {
    const place = newPlace();
    await (await open(place)).close();
    for (const name of FILES) rmSync(join(place.dataDir, name), { force: true });
    await assert.rejects(
      open(place),
      /parley\.db is gone, but commit \d+ was once on disk; .* parley serve --accept-loss$/,
    );
  });

  it("cannot be told from a damaged highwater file", async () => {
    const place = newPlace();
    await (await open(place)).close();
    writeFileSync(join(place.dataDir, "highwater"), "00000000000000000009 00000000\n");
    await assert.rejects(open(place), /is damaged, so whether the database is whole cannot be told/);
  });

  it("would be seen from the number of the last commit, written at the latest on closing", async () => {
    const place = newPlace();
    const store = await open(place);
    for (const name of ["ana", "bo", "cy"]) await commit(store, name);
    const [{ commit_no } = { commit_no: -1 }] = await store.db.all<{ commit_no: number }>(
      sql`SELECT commit_no FROM meta`,
    );
    const written = readHighwater(join(place.dataDir, "highwater"));
    assert.ok(written !== null && written <= commit_no);
    await store.close();
    assert.equal(readHighwater(join(place.dataDir, "highwater")), commit_no);
  });
});

describe("a clock behind the last commit", () => {
  it("is refused from an hour on", async () => {
    const place = newPlace();
    const store = await open(place);
    await commit(store, "ana");
    await store.close();
    await assert.rejects(
      open(place, { clock: clockBehind(3_660_000) }),
      /^Error: The clock says .*, but the last commit was at .*; set the clock/,
    );
    await (await open(place, { clock: clockBehind(3_500_000) })).close();
  });
});

describe("a store on PostgreSQL", () => {
  const freshPlace = async (): Promise<StoreAddress> => ({ ...newPlace(), databaseUrl: await freshDatabase() });

  it("is shared by servers with one key, and carries wake-ups between them", async () => {
    const place = await freshPlace();
    const [one, other] = await Promise.all([open(place), open(place)]);
    await one.db.transact((tx) => insertSecretIfNew(tx, one.keyring, "canary", "wings"));
    assert.equal(await findSecret(other.db, other.keyring, "canary"), "wings");
    const woken = new Promise<void>((resolve) => void other.wake.subscribe("ask:q_1", resolve));
    one.wake.publish(["ask:q_1"]);
    await woken;
    await Promise.all([one.close(), other.close()]);

    const stranger = { ...newPlace(), databaseUrl: place.databaseUrl };
    await assert.rejects(open(stranger), /is not the installation key of this database/);
    const elsewhere = { ...newPlace(), databaseUrl: place.databaseUrl };
    const command = await open(elsewhere, { exclusive: false });
    await commit(command, "ana");
    await command.close();
    assert.ok(!existsSync(elsewhere.keyFile));
  });

  it("first started by two servers with different keys takes one, and tells the other which key it needs", async () => {
    for (let i = 0; i < 2; i += 1) {
      const databaseUrl = await freshDatabase();
      const starts = await Promise.allSettled(
        [1, 2].map(() => {
          const PARLEY_DATA_DIR = newPlace().dataDir;
          const env = { HOME: PARLEY_DATA_DIR, PARLEY_DATA_DIR, PARLEY_PORT: "0", DATABASE_URL: databaseUrl };
          return startServer(loadConfig({ env: { ...env, PARLEY_DATABASE_WAIT_MS: "60000" } }), {
            log: pino({ level: "silent" }),
          });
        }),
      );
      await Promise.all(starts.map((start) => start.status === "fulfilled" && start.value.stop()));
      const said = starts.flatMap((start) => (start.status === "rejected" ? [String(start.reason)] : []));
      assert.equal(said.length, 1, said.join("\n"));
      assert.match(said[0] ?? "", /^Error: .* is not the installation key of this database; put that one/);
    }
  });

  it("is refused by a clock more than an hour behind its last event", async () => {
    const place = await freshPlace();
    const store = await open(place);
    const event = (at: number) =>
      store.db.transact((tx) =>
        tx.all(
          sql`INSERT INTO events (stream, seq, kind, ask_id, version, at) VALUES ('s', ${at}, 'k', 'q', 1, ${at})`,
        ),
      );
    await event(Date.now() + 3_500_000);
    await (await open(place)).close();
    await event(Date.now() + 3_700_000);
    await assert.rejects(open(place), /The clock says/);
    const accepted = await open(place, { acceptClock: OWNED_TABLES });
    assert.match(accepted.notes.join(), /The clock was accepted: the store's went back from/);
    await accepted.close();
    await (await open(place)).close();
    await store.close();
  });

  it("that cannot be reached is one sentence without the password", async () => {
    const url = new URL(await databaseUrl());
    url.pathname = "/no_such_database";
    await assert.rejects(open({ ...newPlace(), databaseUrl: url.href }), (error: Error) => {
      assert.match(error.message, /^PostgreSQL at 127\.0\.0\.1:\d+\/no_such_database cannot be used: /);
      assert.ok(!error.message.includes(url.password));
      return true;
    });
    await assert.rejects(
      open({ ...newPlace(), databaseUrl: "postgres://ana:canary@127.0.0.1:1/x" }),
      /^Error: PostgreSQL at 127\.0\.0\.1:1\/x cannot be used: .*ECONNREFUSED/,
    );
  });

  it("that is not in UTF-8 is refused by its encoding", async () => {
    const admin = new pg.Client({ connectionString: await databaseUrl() });
    await admin.connect();
    const name = `latin_${randomBytes(8).toString("hex")}`;
    try {
      await admin.query(`CREATE DATABASE ${name} ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0`);
      const url = Object.assign(new URL(await databaseUrl()), { pathname: `/${name}` }).href;
      await assert.rejects(open({ ...newPlace(), databaseUrl: url }), /has the encoding LATIN1.*ENCODING 'UTF8'/);
    } finally {
      await admin.query(`DROP DATABASE IF EXISTS ${name}`);
      await admin.end();
    }
  });

  it("is not reached over the internet without verified TLS", async () => {
    const judge = (address: string) => judgePostgresAddress(`postgres://ana@${address}`);
    await assert.rejects(
      judge("93.184.216.34/x"),
      /is on the internet and would be reached unprotected; add \?sslmode=verify-full\.$/,
    );
    await assert.rejects(judge("93.184.216.34/x?sslmode=no-verify"), /would be reached unprotected/);
    await assert.rejects(judge("[2606:2800:220:1::1]/x"), /would be reached unprotected/);
    await assert.rejects(judge("127.0.0.1,93.184.216.34/x"), /93.* would be reached unprotected/);
    assert.equal(await judge("93.184.216.34/x?sslmode=verify-full"), null);
    assert.equal(await judge("127.0.0.1/x"), null);
    await assert.rejects(
      judge("127.0.0.1/x?sslrootcert=/nowhere.pem"),
      /^Error: database_url cannot be used: ENOENT: .*nowhere\.pem/,
    );
    assert.match((await judge("10.1.2.3/x")) ?? "", /without verified TLS/);
    await assert.rejects(
      judge("127.0.0.1/x?target_session_attrs=standby"),
      /its target_session_attrs must be one of read-write, primary, any\.$/,
    );
  });
});
