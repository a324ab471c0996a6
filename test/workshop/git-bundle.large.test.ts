import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { resolveBase } from "../../src/workshop/git/base.ts";
import { bundle, takeBundle } from "../../src/workshop/git/bundle.ts";
import { refsOf } from "../../src/workshop/git/read.ts";
import { type Repository, RepositoryTrouble } from "../../src/workshop/git/repository.ts";
import { makeTree } from "../../src/workshop/git/tree.ts";
import { filesOf, gitIn, type GitWorld, openGitWorld } from "../support/workshop-git.ts";

const ref = "refs/aa/card-1/1";

describe("a bundle", () => {
  it("carries a commit to a store that has its base, whole or not at all, and more than once", async () => {
    using world = await openGitWorld();
    const { base, commit, file, server } = await sent(world);
    await assert.rejects(takeBundle(server, { file, ref, commit }), new RegExp(`builds on ${base}, which the store`));
    assert.deepEqual((await refsOf(server)).store.size, 0);

    const whole = join(world.folder, "base.bundle");
    await bundle(world.repo, { from: null, to: base, file: whole });
    await takeBundle(server, { file: whole, ref: `refs/parley/base/${base}`, commit: base });
    for (let i = 0; i < 2; i += 1) await takeBundle(server, { file, ref, commit });
    assert.deepEqual([...(await refsOf(server)).store], [[ref, commit]]);
    assert.equal(filesOf(server, commit)["work.txt"], "done");
    assert.equal(gitIn(world.repo.store, "for-each-ref", "refs/parley/bundle"), "");
    gitIn(server.store, "fsck", "--strict");
  });

  it("gives nothing but the commit that was asked for, whatever it names", async () => {
    using world = await openGitWorld();
    const { base, commit, server } = await sent(world);
    const file = join(world.folder, "everything.bundle");
    gitIn(world.repo.store, "bundle", "create", "--quiet", file, "--all");
    await assert.rejects(takeBundle(server, { file, ref, commit: "1".repeat(40) }), RepositoryTrouble);
    await takeBundle(server, { file, ref, commit });
    assert.equal(gitIn(server.store, "for-each-ref", "--format=%(refname)"), ref);
    await assert.rejects(takeBundle(server, { file, ref, commit: base }), RepositoryTrouble);
    assert.equal(gitIn(server.store, "rev-parse", ref), commit);
    for (const bad of ["refs/heads/main", "HEAD", "refs/aa/../heads/main", "refs/aa/x --all"]) {
      await assert.rejects(takeBundle(server, { file, ref: bad, commit }));
    }
    assert.equal(gitIn(server.store, "for-each-ref", "--format=%(refname)"), ref);
  });

  it("is refused when it is cut, changed, too big, or no bundle", async () => {
    using world = await openGitWorld();
    const { base, commit, file, server } = await sent(world);
    const whole = join(world.folder, "base.bundle");
    await bundle(world.repo, { from: null, to: base, file: whole });
    await takeBundle(server, { file: whole, ref: `refs/parley/base/${base}`, commit: base });
    const good = readFileSync(file);
    const broken = join(world.folder, "broken.bundle");
    const flipped = Buffer.from(good);
    flipped[good.length - 40] = (flipped[good.length - 40] ?? 0) ^ 1;
    for (const bytes of [
      good.subarray(0, -30),
      flipped,
      Buffer.from(""),
      Buffer.from("# v2 git bundle\n"),
      Buffer.from("PACK\n\n"),
    ]) {
      writeFileSync(broken, bytes);
      await assert.rejects(takeBundle(server, { file: broken, ref, commit }), RepositoryTrouble);
    }
    await assert.rejects(
      takeBundle(server, { file, ref, commit, mostBytes: 100 }),
      /could not be taken: .*maximum allowed size/,
    );
    const head = good.subarray(0, good.indexOf("\n\n") + 2).toString();
    writeFileSync(broken, head.replace(commit, base));
    await assert.rejects(takeBundle(server, { file: broken, ref, commit: base }), RepositoryTrouble);
    assert.equal((await refsOf(server)).store.size, 0);
    await takeBundle(server, { file, ref, commit });
  });

  it("is refused when an object in it is no honest one, or one is missing", async () => {
    using world = await openGitWorld();
    const { base, server } = await sent(world);
    const { store } = world.repo;
    const object = (type: string, bytes: Buffer | string) =>
      execFileSync("git", ["hash-object", "-w", "--literally", "-t", type, "--stdin"], {
        cwd: store,
        input: bytes,
        encoding: "utf8",
      }).trim();
    const entry = (mode: string, name: string, id: string) =>
      Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(id, "hex")]);
    const hook = object("blob", "#!/bin/sh\n");
    const planted = object("tree", entry("40000", ".git", object("tree", entry("100755", "hook", hook))));
    const outside = object("tree", entry("100644", "../outside", hook));
    const missing = object("tree", entry("100644", "missing", "1".repeat(40)));
    for (const tree of [planted, outside, missing]) {
      const commit = object(
        "commit",
        `tree ${tree}\nparent ${base}\nauthor a <a@b> 1 +0000\ncommitter a <a@b> 1 +0000\n\nx\n`,
      );
      const file = join(world.folder, `${tree}.bundle`);
      const list = execFileSync("git", ["rev-list", "--objects", "--missing=allow-any", commit], {
        cwd: store,
        encoding: "utf8",
      });
      const ids = list.split("\n").map((line) => line.slice(0, 40));
      const pack = execFileSync("git", ["pack-objects", "--stdout", "-q"], {
        cwd: store,
        input: ids.filter((id) => id !== "" && id !== "1".repeat(40)).join("\n"),
      });
      writeFileSync(file, Buffer.concat([Buffer.from(`# v2 git bundle\n${commit} refs/aa/x\n\n`), pack]));
      await assert.rejects(takeBundle(server, { file, ref, commit }), /could not be taken/);
    }
    assert.equal((await refsOf(server)).store.size, 0);

    // The user's own repository may hold such a thing; then nothing can start from it, and nothing is written.
    const commit = object(
      "commit",
      `tree ${planted}\nparent ${base}\nauthor a <a@b> 1 +0000\ncommitter a <a@b> 1 +0000\n\nx\n`,
    );
    const dir = join(world.folder, "planted");
    await assert.rejects(
      makeTree(world.repo, { dir, slug: "card-2", start: commit, include: null }),
      /cannot be checked out: .*invalid path '\.git\/hook'/,
    );
  });
});

/** A commit made on one machine, a bundle of it, and the store of another that has nothing yet. */
async function sent(world: GitWorld): Promise<{ base: string; commit: string; file: string; server: Repository }> {
  const base = await resolveBase(world.repo, "HEAD");
  const tree = await world.tree("card-1", base);
  tree.write("work.txt", "done\n");
  tree.write("README.md", "hello again\n");
  const { commit } = await tree.commit();
  const file = join(world.folder, "work.bundle");
  await bundle(world.repo, { from: base, to: commit, file });
  const server = await world.open({ path: null, storeDir: join(world.folder, "server.git") });
  return { base, commit, file, server };
}
