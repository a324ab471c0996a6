import assert from "node:assert/strict";
import { copyFileSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Writable } from "node:stream";
import { after, describe, it } from "node:test";
import { pino } from "pino";
import { systemClock, type Clock } from "../../src/lib/clock.ts";
import { systemRandom } from "../../src/lib/random.ts";
import { Refusal } from "../../src/refusals.ts";
import { openStore, storeSentence, type Store } from "../../src/core/store/open-store.ts";
import { raw, sql } from "../../src/core/store/sql.ts";
import { createKey } from "../../src/access/create-key.ts";
import { until } from "../support/contract.ts";
import { heldClock } from "../support/held-clock.ts";
import { openWorld } from "../support/world.ts";

const ROOT = mkdtempSync(join(tmpdir(), "parley-lost-"));
after(() => rmSync(ROOT, { recursive: true }));

function open(dataDir: string, onFatal: (error: Error) => void, clock: Clock = systemClock): Promise<Store> {
  return openStore(
    { dataDir, keyFile: join(dataDir, "installation.key") },
    { clock, random: systemRandom, log: { warn() {} }, exclusive: true, onFatal },
  );
}

const write = (store: Store) =>
  store.db.transact((tx) =>
    tx.all(sql`INSERT INTO people (person_id, name, role, created_at) VALUES ('ana', 'ana', 'member', 1)`),
  );

describe("a database under a running server", () => {
  it("lets no second server in when the lock file is deleted", async () => {
    const dataDir = join(ROOT, "lock");
    const first = await open(dataDir, assert.fail);
    rmSync(join(dataDir, "parley.lock"));
    await assert.rejects(open(dataDir, assert.fail), /^Error: Another program has .*parley\.db open, such as a Parley/);
    await write(first);
    await first.close();
    await (await open(dataDir, assert.fail)).close();
  });

  for (const [what, lose] of [
    ["deleted", (path: string) => rmSync(path)],
    ["replaced", (path: string) => [copyFileSync(path, `${path}.copy`), renameSync(`${path}.copy`, path)]],
    ["without its log", (path: string) => rmSync(`${path}-wal`)],
  ] as const) {
    it(`that is ${what} is never written again, and the server ends with a sentence`, async () => {
      const dataDir = join(ROOT, what.replaceAll(" ", "-"));
      const fatal: string[] = [];
      const store = await open(dataDir, ({ message }) => fatal.push(message));
      lose(join(dataDir, "parley.db"));
      await assert.rejects(write(store), { code: "store_unavailable" });
      assert.match(fatal[0] ?? "", /^The database .*parley\.db was replaced or deleted .*; put the right one/);
      await store.close();
    });
  }

  it("is missed within a second, also when nobody writes", async () => {
    const dataDir = join(ROOT, "idle");
    const clock = heldClock();
    const fatal: string[] = [];
    const store = await open(dataDir, ({ message }) => fatal.push(message), clock);
    rmSync(join(dataDir, "parley.db"));
    clock.advance(1000);
    await until(() => Promise.resolve(fatal.length > 0));
    await store.close();
  });
});

describe("a disk that is full", () => {
  it("makes a server unready, is said at every door and twice in the log, and is over by itself", async () => {
    const lines: string[] = [];
    const log = pino({ level: "info" }, new Writable({ write: (line, _, done) => (lines.push(String(line)), done()) }));
    await using world = await openWorld({ on: "sqlite", log });
    const { db } = world.server.ctx;
    const ready = async () => (await world.call("GET", "/readyz")).text;
    assert.equal(await ready(), "ready");
    const { text: key } = await createKey(world.server.ctx, { name: "planner", scope: "assign" });
    const { id } = await world.agent("ana-bot").ask();

    // The engine reports that there is no room, as it does when the disk is full.
    const [most] = await db.all<{ page_count: number }>(raw("PRAGMA page_count"));
    await db.all(raw(`PRAGMA max_page_count = ${most?.page_count ?? 0}`));
    const full = /The disk of this server is full/;
    const long = "x".repeat(1900);
    for (const [path, body, headers] of [
      ["/agent/questions", { prompt: long, type: "text" }, { "x-agent-id": "ana-bot" }],
      ["/humanlayer/v1/function_calls", { run_id: "r", call_id: "c", spec: { fn: "f", kwargs: { long } } }, {}],
      ["/jobs", { kind: "k", spec: { long } }, { authorization: `Bearer ${key}` }],
    ] as const) {
      const replies = [];
      // The free space inside the file is used up first.
      for (let i = 0; i < 40 && replies.at(-1)?.status !== 503; i += 1)
        replies.push(
          await world.call("POST", path, {
            body: { ...body, ...("call_id" in body && { call_id: `c${i}` }) },
            headers,
          }),
        );
      assert.equal(replies.at(-1)?.status, 503, replies.at(-1)?.text);
      assert.match(replies.at(-1)?.text ?? "", full);
      assert.ok(Number(replies.at(-1)?.headers.get("retry-after")) > 0);
    }
    const becomes = (word: string) =>
      until(async () => {
        await world.advance(5000);
        return (await ready()) === word;
      });
    await becomes("full");
    assert.equal((await world.call("GET", "/readyz")).status, 503);
    assert.equal((await world.agent("ana-bot").poll(id)).status, 200);

    await db.all(raw("PRAGMA max_page_count = 1073741823"));
    await becomes("ready");
    const said = lines
      .map((line) => (JSON.parse(line) as { msg: string }).msg)
      .filter((msg) => /disk|writes/.test(msg));
    assert.deepEqual(said, [
      "the disk is full: nothing is written until there is room, reads go on",
      "the store takes writes again",
    ]);
  });

  it("keeps a server from starting with the sentence that is true", () => {
    const place = { dataDir: "/data" };
    const sentence = "The disk of /data is full; make room there and start again.";
    assert.equal((storeSentence(new Refusal("store_full"), place) as Error).message, sentence);
    const noRoom = Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" });
    assert.equal((storeSentence(noRoom, place) as Error).message, sentence);
  });
});
