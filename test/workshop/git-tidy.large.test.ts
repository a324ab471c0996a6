import assert from "node:assert/strict";
import { readdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { systemClock } from "../../src/lib/clock.ts";
import { resolveBase } from "../../src/workshop/git/base.ts";
import { snapshot } from "../../src/workshop/git/commit.ts";
import { publish } from "../../src/workshop/git/publish.ts";
import { refsOf } from "../../src/workshop/git/read.ts";
import type { Repository } from "../../src/workshop/git/repository.ts";
import { packStore, sweepRefs } from "../../src/workshop/git/tidy.ts";
import { exists, gitIn, openGitWorld, type GitWorld } from "../support/workshop-git.ts";

const DAY_MS = 86_400_000;
const WIP_MS = 30 * DAY_MS;

/** The same repository so much later. */
async function later(world: GitWorld, ms: number): Promise<Repository> {
  return world.open({ clock: { ...systemClock, now: () => systemClock.now() + ms } });
}

async function namesOf(repo: Repository): Promise<{ store: string[]; user: string[] }> {
  const { store, user } = await refsOf(repo);
  return { store: [...store.keys()].sort(), user: [...(user ?? new Map<string, string>()).keys()].sort() };
}

describe("names of old work", () => {
  it("go after thirty days when they are of unfinished work, unless its task is at work", async () => {
    using world = await openGitWorld();
    const tree = await world.tree("card-1", await resolveBase(world.repo, "HEAD"));
    tree.write("half.txt", "half\n");
    await snapshot(world.repo, { ...tree, n: 1 });
    tree.write("half.txt", "more\n");
    await snapshot(world.repo, { ...tree, n: 1 });
    const both = ["refs/aa/card-1/1-wip", "refs/aa/card-1/1-wip2"];
    const none = { busy: new Set<string>(), rejected: [], wipMs: WIP_MS };

    assert.equal(await sweepRefs(await later(world, 29 * DAY_MS), none), 0);
    const after = await later(world, 31 * DAY_MS);
    assert.equal(await sweepRefs(after, { ...none, busy: new Set(["card-1"]) }), 0);
    assert.deepEqual(await namesOf(world.repo), { store: both, user: both });
    // Somebody keeps something else under a name of ours.
    world.git("update-ref", "refs/aa/card-1/1-wip2", "main");
    assert.equal(await sweepRefs(after, none), 2);
    assert.deepEqual(await namesOf(world.repo), { store: [], user: ["refs/aa/card-1/1-wip2"] });
  });

  it("go when they are of rejected work, and of nothing else", async () => {
    using world = await openGitWorld();
    const start = await resolveBase(world.repo, "HEAD");
    for (const slug of ["card-1", "card-2"]) {
      const tree = await world.tree(slug, start);
      tree.write("done.txt", slug);
      const { commit } = await tree.commit();
      await publish(world.repo, { slug, n: 1, commit, last: null });
    }
    const rejected = [
      { slug: "card-1", n: 1 },
      { slug: "card-1", n: 7 },
    ];
    const after = await later(world, 400 * DAY_MS);
    assert.equal(await sweepRefs(after, { busy: new Set(["card-1"]), rejected, wipMs: WIP_MS }), 0);
    assert.equal(await sweepRefs(after, { busy: new Set(), rejected, wipMs: WIP_MS }), 1);
    assert.deepEqual(await namesOf(world.repo), {
      store: ["refs/aa/card-2/1"],
      user: ["refs/aa/card-2/1", "refs/heads/aa/card-1", "refs/heads/aa/card-2"],
    });
    assert.equal(world.git("show", "aa/card-1:done.txt"), "card-1");
  });
});

/** Every object of a store, wherever it stands. */
function objectsOf({ store }: Repository): string[] {
  return gitIn(store, "cat-file", "--batch-all-objects", "--batch-check=%(objectname)").split("\n").sort();
}

describe("a store of many files", () => {
  it("is packed into few, and loses nothing that anybody may still read", async () => {
    using world = await openGitWorld();
    const { repo } = world;
    const tree = await world.tree("card-1", await resolveBase(repo, "HEAD"));
    for (let i = 0; i < 150; i += 1) tree.write(`file-${i}.txt`, `file ${i}\n`);
    await tree.commit();
    // Nothing names these: an agent may have them from its tree, or a commit is being made of them.
    const loose = gitIn(repo.store, "hash-object", "-w", join(tree.dir, "README.md"));
    writeFileSync(join(world.folder, "stray"), "stray\n");
    const stray = gitIn(repo.store, "hash-object", "-w", join(world.folder, "stray"));
    const before = objectsOf(repo);

    assert.equal(await packStore(repo), false, "so few are left as they are");
    assert.equal(await packStore(repo, { mostLoose: 100 }), true);
    assert.match(gitIn(repo.store, "count-objects", "-v"), /^count: 0$/m);
    assert.deepEqual(objectsOf(repo), before);

    // Unreferenced objects that are in a pack by now stay, too, when packs are combined.
    for (let i = 0; i < 4; i += 1) {
      tree.write(`again-${i}.txt`, `again ${i}\n`);
      await tree.commit({ n: 2 + i });
      await packStore(repo, { mostLoose: 0 });
    }
    const packs = readdirSync(join(repo.store, "objects/pack")).filter((name) => name.endsWith(".pack"));
    assert.ok(packs.length <= 3, packs.join());
    const left = new Set(objectsOf(repo));
    assert.deepEqual(
      before.filter((name) => !left.has(name)),
      [],
    );
    assert.equal(gitIn(repo.store, "cat-file", "-p", stray), "stray");
    assert.equal(gitIn(repo.store, "cat-file", "-t", loose), "blob");
    assert.equal(gitIn(tree.dir, "status", "--porcelain", "README.md"), "");
    assert.equal(gitIn(tree.dir, "fsck", "--connectivity-only", "--no-dangling"), "");
    assert.equal((await namesOf(repo)).store.length, 5);
  });

  it("is cleared of what a git left that was killed", async () => {
    using world = await openGitWorld();
    const folder = join(world.repo.store, "objects/pack");
    for (const name of ["tmp_pack_a1b2c3", ".tmp-77-pack-0123.pack", "tmp_pack_young"]) {
      writeFileSync(join(folder, name), "half a pack");
      if (name !== "tmp_pack_young") utimesSync(join(folder, name), 1, 1);
    }
    await packStore(world.repo);
    assert.deepEqual(readdirSync(folder), ["tmp_pack_young"]);
    assert.ok(exists(world.repo.store));
  });
});
