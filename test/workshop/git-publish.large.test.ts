import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { approveInto } from "../../src/workshop/git/approve.ts";
import { resolveBase } from "../../src/workshop/git/base.ts";
import { dropBranch, publish } from "../../src/workshop/git/publish.ts";
import { RepositoryTrouble } from "../../src/workshop/git/repository.ts";
import { gitIn, openGitWorld, put, type GitWorld } from "../support/workshop-git.ts";

describe("publishing", () => {
  it("makes the branch, moves it on from what was published last, and repeated changes nothing", async () => {
    using world = await openGitWorld();
    const [one, two] = await twoCommits(world);
    const first = { slug: "card", n: 1, commit: one, last: null };
    assert.deepEqual(await publish(world.repo, first), { ref: "refs/aa/card/1", branch: "aa/card" });
    assert.deepEqual(await publish(world.repo, first), { ref: "refs/aa/card/1", branch: "aa/card" });
    const second = { slug: "card", n: 2, commit: two, last: one };
    assert.deepEqual(await publish(world.repo, second), { ref: "refs/aa/card/2", branch: "aa/card" });
    assert.deepEqual(await publish(world.repo, second), { ref: "refs/aa/card/2", branch: "aa/card" });
    assert.equal(world.git("rev-parse", "aa/card"), two);
    assert.equal(world.git("rev-parse", "refs/aa/card/1"), one);
    world.git("fsck", "--strict");
    assert.equal(world.git("reflog", "show", "aa/card", "--format=%gn"), "Parley\nParley");
  });

  it("leaves a branch alone that is checked out, moved or deleted by somebody, or whose name is taken", async () => {
    using world = await openGitWorld();
    const [one, two] = await twoCommits(world);
    const left = async (slug: string, last: string | null, why: RegExp) => {
      const before = world.git("for-each-ref", "refs/heads");
      const done = await publish(world.repo, { slug, n: 2, commit: two, last });
      assert.match(done.why ?? "", why);
      assert.deepEqual([done.branch, done.ref], [null, `refs/aa/${slug}/2`]);
      assert.equal(world.git("rev-parse", done.ref), two);
      assert.equal(world.git("for-each-ref", "refs/heads"), before);
    };
    for (const slug of ["here", "there", "moved", "gone"]) {
      await publish(world.repo, { slug, n: 1, commit: one, last: null });
    }
    const second = join(world.folder, "second");
    world.git("worktree", "add", "--quiet", second, "aa/there");
    world.git("checkout", "--quiet", "aa/here");
    world.git("branch", "-f", "aa/moved", "main");
    world.git("branch", "-D", "aa/gone");
    await left("here", one, /^The branch aa\/here is checked out in .*\/user\.$/);
    await left("there", one, /^The branch aa\/there is checked out in .*\/second\.$/);
    await left("moved", one, /^The branch aa\/moved was moved by somebody else\.$/);
    await left("moved", null, /^The branch aa\/moved was moved by somebody else\.$/);
    await left("gone", one, /^The branch aa\/gone was deleted\.$/);
    world.git("checkout", "--quiet", "--detach", "main");
    put(world.user, ".git/rebase-merge/head-name", "refs/heads/aa/here\n");
    put(world.user, ".git/worktrees/second/BISECT_START", "aa/there\n");
    gitIn(second, "checkout", "--quiet", "--detach", "main");
    await left("here", one, /^The branch aa\/here is checked out in .*\/user\/\.git\.$/);
    await left("there", one, /^The branch aa\/there is checked out in .*\/worktrees\/second\.$/);
    rmSync(join(world.user, ".git/rebase-merge"), { recursive: true });
    assert.equal(gitIn(second, "status", "--porcelain"), "");
    assert.equal(world.git("status", "--porcelain"), "");

    world.git("branch", "aa/below/branch", "main");
    await left("below", null, /^The branch aa\/below could not be set: .*aa\/below/);
    const other = await world.open({ branchPrefix: "main/" });
    const done = await publish(other, { slug: "collides", n: 2, commit: two, last: null });
    assert.match(done.why ?? "", /^The branch main\/collides could not be set: .*refs\/heads\/main/);
    assert.equal(world.git("rev-parse", "refs/aa/collides/2"), two);
  });

  it("keeps what had the name of an attempt before beside it, and goes on from that branch", async () => {
    using world = await openGitWorld();
    const [one, two] = await twoCommits(world);
    await publish(world.repo, { slug: "card", n: 1, commit: one, last: null });
    // The second publication comes from a new data folder, which does not know the first.
    const again = { slug: "card", n: 1, commit: two, last: null };
    for (let i = 0; i < 2; i += 1) {
      assert.deepEqual(await publish(world.repo, again), { ref: "refs/aa/card/1", branch: "aa/card" });
    }
    assert.equal(world.git("rev-parse", "refs/aa/card/1"), two);
    assert.equal(world.git("rev-parse", `refs/aa/card/1-${one.slice(0, 12)}`), one);
    assert.equal(world.git("rev-parse", "aa/card"), two);
  });

  it("publishes many at once, each whole", async () => {
    using world = await openGitWorld();
    const base = await resolveBase(world.repo, "HEAD");
    const slugs = Array.from({ length: 6 }, (_, i) => `card-${i}`);
    const commits = await Promise.all(
      slugs.map(async (slug) => {
        const tree = await world.tree(slug, base);
        for (let i = 0; i < 40; i += 1) tree.write(`${slug}/${i}.txt`, `${slug} ${i}\n`);
        return (await tree.commit()).commit;
      }),
    );
    await Promise.all(
      slugs.map((slug, i) => publish(world.repo, { slug, n: 1, commit: commits[i] ?? "", last: null })),
    );
    assert.equal(world.git("for-each-ref", "--format=%(objectname)", "refs/heads/aa"), commits.join("\n"));
    world.git("fsck", "--strict", "--full");
  });

  it("takes a branch away only while it stands for what was published and nobody works on it", async () => {
    using world = await openGitWorld();
    const [one, two] = await twoCommits(world);
    for (const slug of ["free", "used"]) await publish(world.repo, { slug, n: 1, commit: one, last: null });
    world.git("pack-refs", "--all");
    world.git("checkout", "--quiet", "aa/used");
    assert.equal(await dropBranch(world.repo, { slug: "free", value: two }), false);
    assert.equal(await dropBranch(world.repo, { slug: "used", value: one }), false);
    assert.equal(await dropBranch(world.repo, { slug: "free", value: one }), true);
    assert.equal(await dropBranch(world.repo, { slug: "free", value: one }), false);
    assert.equal(world.git("branch", "--list", "aa/*", "--format=%(refname)"), "refs/heads/aa/used");
    assert.equal(world.git("rev-parse", "refs/aa/free/1"), one);
  });
});

describe("approved work", () => {
  it("moves the target by fast-forward, merge or squash, and repeated changes nothing", async () => {
    using world = await openGitWorld();
    const [one] = await twoCommits(world);
    const begin = world.git("rev-parse", "main");
    for (const target of ["forward", "merged", "squashed", "release/1.0"]) world.git("branch", target, begin);
    for (const [target, how] of [
      ["forward", "ff"],
      ["release/1.0", "merge"],
      ["merged", "merge"],
      ["squashed", "squash"],
    ] as const) {
      const done = await approveInto(world.repo, { commit: one, target, how });
      assert.deepEqual(done, { kind: "done", commit: world.git("rev-parse", target) });
      assert.deepEqual(await approveInto(world.repo, { commit: one, target, how }), done);
      assert.equal(world.git("show", `${target}:one.txt`), "one");
    }
    assert.equal(world.git("rev-parse", "forward"), one);
    assert.equal(world.git("log", "-1", "--format=%P %s", "merged"), `${begin} ${one} Merge one`);
    assert.equal(world.git("log", "-1", "--format=%P %B", "squashed"), `${begin} one\n\nThe whole prompt.`);
    world.git("fsck", "--strict");
  });

  it("leaves a target alone that is checked out, went on or conflicts, and names the command to run by hand", async () => {
    using world = await openGitWorld();
    const [one, two] = await twoCommits(world);
    const input = { commit: one, target: "main", how: "ff" } as const;
    assert.deepEqual(await approveInto(world.repo, input), {
      kind: "left",
      why: `The branch main is checked out in ${world.user}.`,
      command: `git merge --ff-only ${one}`,
    });
    world.git("branch", "target", "main");
    assert.equal((await approveInto(world.repo, { commit: two, target: "target", how: "ff" })).kind, "done");
    assert.deepEqual(await approveInto(world.repo, { ...input, target: "target" }), {
      kind: "left",
      why: "The branch target went on since, and cannot be moved without a merge.",
      command: `git merge --ff-only ${one}`,
    });
    assert.deepEqual(await approveInto(world.repo, { commit: one, target: "target", how: "squash" }), {
      kind: "left",
      why: "target and the work conflict in both.txt.",
      command: `git merge --squash ${one} && git commit`,
    });
    assert.equal(world.git("rev-parse", "target"), two);
    for (const target of ["nothing", "-D", "--all", "..", "@{-1}", "main^{commit}", ""]) {
      await assert.rejects(approveInto(world.repo, { ...input, target }), RepositoryTrouble);
    }
  });
});

/** Two commits on one base, which conflict in one file. */
async function twoCommits(world: GitWorld): Promise<[string, string]> {
  const base = await resolveBase(world.repo, "HEAD");
  const made: string[] = [];
  for (const name of ["one", "two"]) {
    const tree = await world.tree(name, base);
    tree.write(`${name}.txt`, `${name}\n`);
    tree.write("both.txt", `${name}\n`);
    made.push((await tree.commit({ message: `${name}\n\nThe whole prompt.\n` })).commit);
  }
  return made as [string, string];
}
