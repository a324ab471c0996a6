import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs, { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, describe, it } from "node:test";
import { systemClock } from "../../src/lib/clock.ts";
import { openContainedFiles } from "../../src/lib/files/contained-files.ts";
import { systemRandom } from "../../src/lib/random.ts";
import { makeFolder, replaceFile, writeWhole } from "../../src/lib/files/durable-files.ts";
import { changeFile } from "../../src/cli/config-file.ts";
import type { Io } from "../../src/cli/command.ts";
import { openParticipantSession } from "../../src/cli/ask/participant.ts";
import { openStore } from "../../src/core/store/open-store.ts";
import { resolveBase } from "../../src/workshop/git/base.ts";
import { publish } from "../../src/workshop/git/publish.ts";
import { openGitWorld } from "../support/workshop-git.ts";
import { openWorld } from "../support/world.ts";

const ROOT = realpathSync(mkdtempSync(join(tmpdir(), "parley-durable-")));
after(() => rmSync(ROOT, { recursive: true }));

/**
 * The files and folders that were synced, by inode. A name is durable once its folder was synced after the name was
 * made.
 */
const synced = new Set<string>();
const identify = ({ dev, ino }: { dev: number; ino: number }) => `${dev}:${ino}`;
const { fsyncSync } = fs;
fs.fsyncSync = (descriptor) => {
  fsyncSync(descriptor);
  synced.add(identify(fs.fstatSync(descriptor)));
};
syncBuiltinESMExports();
const handle = await open(ROOT, "r");
const prototype = Object.getPrototypeOf(handle) as FileHandle;
await handle.close();

const { sync } = prototype;
prototype.sync = async function (this: FileHandle) {
  await sync.call(this);
  synced.add(identify(await this.stat()));
};

const isSynced = (path: string) => synced.has(identify(fs.statSync(path)));

/** Returns every file and folder below a folder. */
const namesIn = (folder: string): string[] =>
  fs.readdirSync(folder, { recursive: true }).map((name) => join(folder, String(name)));

/** Has git say how many files it syncs to disk; returns a function that adds them up. */
function joinFlushes(folder: string): { (): number; restore(): void } {
  const told = join(folder, "trace2.json");
  const { PATH = "" } = process.env;
  const git = execFileSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).trim();
  const bin = join(folder, "bin");
  fs.mkdirSync(bin);
  writeFileSync(join(bin, "git"), `#!/bin/sh\nGIT_TRACE2_EVENT=${told} exec ${git} "$@"\n`, { mode: 0o755 });
  process.env["PATH"] = `${bin}:${PATH}`;
  const flushes = () =>
    Array.from(fs.readFileSync(told, "utf8").matchAll(/"key":"fsync\/hardware-flush","value":"(\d+)"/g), ([, value]) =>
      Number(value),
    ).reduce((sum, value) => sum + value, 0);
  return Object.assign(flushes, { restore: () => void (process.env["PATH"] = PATH) });
}

describe("what is written for good survives a loss of power by name", () => {
  it("a new data folder, and each folder above it that had to be made", async () => {
    const dataDir = join(ROOT, "far", "away", "data");
    const place = { dataDir, keyFile: join(ROOT, "keys", "parley.key") };
    const log = { warn() {} };
    const outside = { clock: systemClock, random: systemRandom, log, exclusive: true, onFatal: assert.fail };
    await (await openStore(place, outside)).close();
    for (const path of [dataDir, join(ROOT, "far", "away"), join(ROOT, "far"), ROOT, join(ROOT, "keys"), place.keyFile])
      assert.ok(isSynced(path), path);
  });

  it("the first folder of artifacts", async () => {
    const data = fs.mkdtempSync(join(ROOT, "data-"));
    const files = openContainedFiles(join(data, "artifacts"));
    const received = await files.receive("one", [Buffer.from("1")].values() as never, 10);
    await files.place(received, ["job", "1", "out.txt"]);
    for (const path of [data, join(data, "artifacts"), join(data, "artifacts", "job", "1")])
      assert.ok(isSynced(path), path);
  });

  it("the first start's policy", async () => {
    await using world = await openWorld({ on: "sqlite" });
    const path = join(world.config.dataDir, "policy.yaml");
    assert.ok(isSynced(path));
    assert.ok(isSynced(dirname(path)));
  });

  it("a file that an agent writes over, or anew", async () => {
    const root = fs.mkdtempSync(join(ROOT, "tree-"));
    const files = openContainedFiles(root);
    await files.overwrite(["new.txt"], Buffer.from("new"));
    assert.ok(isSynced(join(root, "new.txt")) && isSynced(root));
  });

  it("the store of a repository, the tree of an attempt, and what the attempt goes by", async () => {
    using world = await openGitWorld();
    const { store } = world.repo;
    for (const path of ["HEAD", "config", "refs", "objects", "."]) assert.ok(isSynced(join(store, path)), path);
    assert.ok(isSynced(dirname(store)));
    const tree = await world.tree("card", await resolveBase(world.repo, "HEAD"));
    assert.ok(isSynced(join(tree.dir, ".git", "objects", "info", "alternates")));
    assert.ok(isSynced(dirname(tree.dir)));
  });

  it("a commit that was published, in the store and in the user's repository: every file and every folder", async () => {
    using world = await openGitWorld();
    const flushed = joinFlushes(world.folder);
    try {
      const start = await resolveBase(world.repo, "HEAD");
      const tree = await world.tree("card", start);
      tree.write("src/two.ts", "export const two = 2;\n");
      const kept = () => [world.repo.store, join(world.user, ".git")].flatMap((folder) => namesIn(folder));
      const before = new Set(kept());
      const earlier = flushed();
      synced.clear();
      const { commit } = await tree.commit();
      await publish(world.repo, { slug: "card", n: 1, commit, last: null });
      const written = kept().filter((path) => !before.has(path) && !path.includes("/logs/"));
      const files = written.filter((path) => fs.statSync(path).isFile());
      assert.ok(files.some((path) => path.endsWith("refs/heads/aa/card")));
      for (const path of written) assert.ok(isSynced(dirname(path)), path);
      assert.ok(flushed() - earlier >= files.length, `${flushed() - earlier} of ${files.length} files`);

      // A caller that finds the work done cannot know whether it was synced.
      synced.clear();
      await publish(world.repo, { slug: "card", n: 1, commit, last: commit });
      assert.ok(isSynced(join(world.user, ".git", "refs", "aa", "card")));
    } finally {
      flushed.restore();
    }
  });

  it("who answers at this terminal, and the settings of another program that were changed", async () => {
    const home = fs.mkdtempSync(join(ROOT, "home-"));
    const io = { env: { HOME: home, PARLEY_DATA_DIR: join(home, "data") } } as unknown as Io;
    await openParticipantSession("http://127.0.0.1:1", undefined, io);
    const kept = join(home, "data", "participants.json");
    for (const path of [kept, dirname(kept), home]) assert.ok(isSynced(path), path);
    const settings = join(home, ".claude", "settings.json");
    await changeFile(settings, "{}");
    for (const path of [settings, dirname(settings)]) assert.ok(isSynced(path), path);
  });

  it("a folder that another process makes at the same moment", () => {
    const path = join(fs.mkdtempSync(join(ROOT, "both-")), "data", "artifacts");
    const { mkdirSync } = fs;
    fs.mkdirSync = ((...args: Parameters<typeof mkdirSync>) => {
      mkdirSync(...args);
      return mkdirSync(...args);
    }) as typeof mkdirSync;
    syncBuiltinESMExports();
    try {
      makeFolder(path, 0o700);
    } finally {
      fs.mkdirSync = mkdirSync;
      syncBuiltinESMExports();
    }
    assert.ok(isSynced(dirname(path)) && isSynced(dirname(dirname(path))));
  });

  it("a file that takes the place of another", async () => {
    const folder = fs.mkdtempSync(join(ROOT, "replaced-"));
    const path = join(folder, "policy.yaml");
    writeFileSync(path, "old");
    await replaceFile(path, "new");
    assert.ok(isSynced(path) && isSynced(folder));
    const other = fs.mkdtempSync(join(ROOT, "whole-"));
    await writeWhole(join(other, "order.json"), "{}");
    assert.ok(isSynced(join(other, "order.json")) && isSynced(other));
  });
});
