import assert from "node:assert/strict";
import { chmodSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { commitMessage } from "../../src/tasks/model/names.ts";
import { resolveBase } from "../../src/workshop/git/base.ts";
import { commitTree, snapshot, treeChangedPaths } from "../../src/workshop/git/commit.ts";
import { TreeRefused } from "../../src/workshop/git/listing.ts";
import { changedPaths, diff, diffstat, readAt, refsOf } from "../../src/workshop/git/read.ts";
import { lackWarnings, leftOutOf } from "../../src/workshop/git/staging.ts";
import { filesOf, gitIn, openGitWorld, put } from "../support/workshop-git.ts";

describe("the commit of an attempt", () => {
  it("holds what is there, and not what patterns ignore, unless the start commit has it", async () => {
    using world = await openGitWorld();
    put(world.user, ".gitignore", "*.log\nbuild/\n!build/kept.txt\n/only-here\n");
    put(world.user, "tracked.log", "1\n");
    put(world.user, "build/tracked.txt", "1\n");
    world.git("add", "-A", "-f");
    world.git("commit", "--quiet", "-m", "ignored and tracked");
    const tree = await world.tree("card-1", await resolveBase(world.repo, "HEAD"));
    for (const path of ["a.log", "build/a.txt", "build/deep/b.txt", "only-here", "sub/own.tmp"]) tree.write(path, "x");
    for (const path of ["tracked.log", "build/tracked.txt", "sub/only-here", "new.txt"]) tree.write(path, "2\n");
    tree.write("sub/.gitignore", "*.tmp\n");
    rmSync(join(tree.dir, "README.md"));
    renameSync(join(tree.dir, "src/one.ts"), join(tree.dir, "src/two.ts"));
    gitIn(tree.dir, "add", "-A", "-f");
    gitIn(tree.dir, "commit", "--quiet", "-m", "the agent's own");

    const made = await tree.commit();
    assert.deepEqual(filesOf(world.repo, made.commit), {
      ".gitignore": "*.log\nbuild/\n!build/kept.txt\n/only-here",
      "build/tracked.txt": "2",
      "new.txt": "2",
      "src/two.ts": "export const one = 1;",
      "sub/.gitignore": "*.tmp",
      "sub/only-here": "2",
      "tracked.log": "2",
    });
    assert.deepEqual(made.diffstat, { files: 7, insertions: 5, deletions: 3 });
    assert.equal(made.changed, true);
    assert.equal(gitIn(world.repo.store, "rev-list", "--count", `${tree.start}..${made.commit}`), "1");
    const told = await changedPaths(world.repo, { from: tree.start, to: made.commit });
    assert.equal(told.length, 8);
    assert.match(await diff(world.repo, { from: tree.start, to: made.commit }), /^rename to src\/two\.ts$/m);
  });

  it("says what stays out of it: what patterns ignore and empty folders, but for what was there before", async () => {
    using world = await openGitWorld();
    put(world.user, ".gitignore", "*.log\nbuild/\nnode_modules\n");
    put(world.user, "tracked.log", "1\n");
    world.git("add", "-A", "-f");
    world.git("commit", "--quiet", "-m", "ignored and tracked");
    const tree = await world.tree("card-1", await resolveBase(world.repo, "HEAD"));
    tree.write("node_modules/left-pad/index.js", "setup\n");
    mkdirSync(join(tree.dir, "empty-before"));
    const before = await leftOutOf(world.repo, tree);
    assert.deepEqual((await tree.commit({ before })).warnings, []);

    for (const path of ["notes.log", "docs/more.log", "build/a.txt", "tracked.log"]) tree.write(path, "2\n");
    tree.write("node_modules/other/index.js", "agent\n");
    mkdirSync(join(tree.dir, "docs/pictures/large"), { recursive: true });
    const ignored = ["build", "notes.log", "docs/more.log"];
    const { warnings } = await tree.commit({ n: 2, before });
    assert.deepEqual(
      warnings.sort(),
      [
        ...ignored.map((path) => `${path} is ignored by .gitignore and stays out of the commit.`),
        "docs/pictures/large is an empty folder, which git does not keep.",
      ].sort(),
    );
  });

  it("begins from a tree of which is said what it has not as a checkout has it", async () => {
    using world = await openGitWorld();
    const library = join(world.folder, "library");
    mkdirSync(library);
    gitIn(library, "init", "--quiet");
    gitIn(library, "commit", "--quiet", "--allow-empty", "-m", "library");
    assert.deepEqual(
      await lackWarnings(world.repo, await world.tree("card-1", await resolveBase(world.repo, "HEAD"))),
      [],
    );
    world.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", library, "vendor/library");
    put(world.user, "art/.gitattributes", "*.psd filter=lfs\n*.txt -filter\n");
    put(world.user, "art/a.psd", "version https://git-lfs.github.com/spec/v1\n");
    put(world.user, "art/a.txt", "text\n");
    world.git("add", "-A");
    world.git("commit", "--quiet", "-m", "with a submodule and large files");
    const tree = await world.tree("card-2", await resolveBase(world.repo, "HEAD"));
    assert.deepEqual(await lackWarnings(world.repo, tree), [
      "vendor/library is a submodule: the agent's folder has none of its files.",
      "art/a.psd has a filter in .gitattributes, which was not run: the agent's folder has the file as git stores it.",
    ]);
  });

  it("is what changed alone: modes, line ends and files that became folders", async () => {
    using world = await openGitWorld();
    put(world.user, ".gitattributes", "* -text\n*.crlf text eol=crlf\n*.auto text=auto\n");
    put(world.user, "a.crlf", "1\r\n2\r\n");
    put(world.user, "thing", "a file\n");
    put(world.user, "folder/inside", "in a folder\n");
    world.git("add", "-A");
    put(world.user, "old.auto", "carriage\r\nreturn\r\n");
    world.git(
      "-c",
      "core.attributesFile=/dev/null",
      "update-index",
      "--add",
      "--cacheinfo",
      `100644,${world.git("hash-object", "-w", "--no-filters", "old.auto")},old.auto`,
    );
    world.git("commit", "--quiet", "-m", "more");
    const tree = await world.tree("card-1", await resolveBase(world.repo, "HEAD"));
    assert.equal((await tree.commit()).changed, false);

    chmodSync(join(tree.dir, "README.md"), 0o755);
    rmSync(join(tree.dir, "thing"));
    tree.write("thing/now/a/folder", "yes\n");
    rmSync(join(tree.dir, "folder"), { recursive: true });
    tree.write("folder", "now a file\n");
    tree.write("b.crlf", "1\r\n");
    const { commit } = await tree.commit({ n: 2 });
    const raw = gitIn(world.repo.store, "diff-tree", "-r", "--name-status", tree.start, commit).split("\n");
    assert.deepEqual(raw, [
      "M\tREADME.md",
      "A\tb.crlf",
      "A\tfolder",
      "D\tfolder/inside",
      "D\tthing",
      "A\tthing/now/a/folder",
    ]);
    assert.equal(gitIn(world.repo.store, "cat-file", "-s", `${commit}:b.crlf`), "2");
  });

  it("is empty when nothing changed, and carries the message, the names and the hour that it is given", async () => {
    using world = await openGitWorld();
    const clock = {
      now: () => Date.UTC(2026, 10, 20, 9, 15, 2, 500),
      monotonic: () => 0,
      uptime: () => 0,
      boot: null,
      sleep: () => Promise.resolve(),
    };
    const repo = await world.open({ clock, author: "Ana <ana@shop.example>" });
    const tree = await world.tree("card-1", await resolveBase(repo, "HEAD"));
    const dependencies = [{ id: "a b\n", commit: tree.start }];
    const message = commitMessage({
      id: "card 1",
      prompt: "-m\r\n\r\nSecond\0 line\n\n",
      attempt: 1,
      agent: "claude",
      dependencies,
    });
    const { dir, slug, start, indexFile } = tree;
    const made = await commitTree(repo, { dir, slug, start, indexFile, n: 1, message });

    assert.deepEqual(made, {
      commit: made.commit,
      changed: false,
      diffstat: { files: 0, insertions: 0, deletions: 0 },
      warnings: [],
    });
    assert.deepEqual(gitIn(repo.store, "cat-file", "commit", made.commit).split("\n").slice(2), [
      "author Ana <ana@shop.example> 1795166102 +0000",
      "committer Parley <parley@localhost> 1795166102 +0000",
      "",
      "-m",
      "",
      "-m",
      "",
      "Second\ufffd line",
      "",
      "AA-Task: card%201",
      "AA-Attempt: 1",
      "AA-Agent: claude",
      `AA-Depends-On: a%20b%0A ${start}`,
    ]);
  });

  it("is the same one when it is made again; what else had its name is kept beside it", async () => {
    using world = await openGitWorld();
    const base = await resolveBase(world.repo, "HEAD");
    const tree = await world.tree("card-1", base);
    tree.write("a.txt", "1\n");
    const first = await tree.commit();
    assert.deepEqual(await tree.commit(), first);
    const beside = (commit: string) => gitIn(world.repo.store, "rev-parse", `refs/aa/card-1/1-${commit.slice(0, 12)}`);

    // A data folder from before these attempts numbers them as others were numbered.
    tree.write("a.txt", "2\n");
    const second = await tree.commit();
    assert.notEqual(second.commit, first.commit);
    assert.equal(beside(first.commit), first.commit);
    const third = await tree.commit({ message: "another prompt\n" });
    assert.equal(beside(second.commit), second.commit);
    assert.equal(gitIn(world.repo.store, "rev-parse", "refs/aa/card-1/1"), third.commit);
    for (const slug of ["../x", "a/b", "-x.lock", "A", ""]) {
      await assert.rejects(tree.commit({ slug }), /no name of an attempt/);
    }
  });

  it("is one commit however often it is made at once", async () => {
    using world = await openGitWorld();
    const tree = await world.tree("card-1", await resolveBase(world.repo, "HEAD"));
    tree.write("a.txt", "1\n");
    let second = 0;
    const clock = {
      now: () => (second += 1000),
      monotonic: () => 0,
      uptime: () => 0,
      boot: null,
      sleep: () => Promise.resolve(),
    };
    const { dir, slug, start, indexFile } = tree;
    const made = await Promise.all(
      Array.from({ length: 8 }, async (_, i) => {
        const repo = await world.open({ clock });
        return commitTree(repo, { dir, slug, start, indexFile: `${indexFile}-${i}`, n: 1, message: "once\n" });
      }),
    );
    assert.equal(new Set(made.map(({ commit }) => commit)).size, 1);
  });

  it("is refused in one sentence beyond its limits; what is kept of the work then is as much as may be", async () => {
    using world = await openGitWorld();
    const limits = { treeBytes: 3000, fileBytes: 1000, files: 5 };
    const base = await resolveBase(world.repo, "HEAD");
    const refused = async (slug: string, files: Record<string, string>, message: string) => {
      const tree = await world.tree(slug, base);
      for (const [path, text] of Object.entries(files)) tree.write(path, text);
      await assert.rejects(tree.commit({ limits }), new TreeRefused(message));
      return tree;
    };
    const big = {
      "big\n.bin": "x".repeat(1001),
      "kept.txt": "kept\n",
      "ignored.log": "x".repeat(9999),
      ".gitignore": "*.log\n",
    };
    const tree = await refused(
      "big",
      big,
      'The file "big\\n.bin" has more than 0 MiB; add it to .gitignore or make it smaller.',
    );
    tree.write("README.md", "x".repeat(1001));
    const kept = await snapshot(world.repo, { ...tree, n: 1, limits });
    assert.deepEqual(Object.keys(filesOf(world.repo, kept ?? "")), [
      ".gitignore",
      "README.md",
      "kept.txt",
      "src/one.ts",
    ]);

    const four = Object.fromEntries(["a", "b", "c", "d"].map((name) => [name, "x"]));
    // A file that is too big now does not count as deleted.
    assert.equal(filesOf(world.repo, kept ?? "")["README.md"], "hello");
    await refused("many", four, "The tree has more than 5 files that no .gitignore names.");
    const heavy = Object.fromEntries(["a", "b", "c"].map((name) => [name, "x".repeat(999)]));
    await refused("heavy", heavy, "The tree has more than 0 MiB that no .gitignore names.");
  });

  it("may keep a file that was too big before the agent came", async () => {
    using world = await openGitWorld();
    put(world.user, "big.bin", "x".repeat(2000));
    world.git("add", "-A");
    world.git("commit", "--quiet", "-m", "big");
    const tree = await world.tree("card-1", await resolveBase(world.repo, "HEAD"));
    const made = await tree.commit({ limits: { treeBytes: 9000, fileBytes: 1000, files: 5 } });
    assert.equal(made.changed, false);
  });

  it("says which files of Git LFS are in it whole", async () => {
    using world = await openGitWorld();
    const pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n";
    put(world.user, ".gitattributes", "*.psd filter=lfs diff=lfs merge=lfs -text\n");
    put(world.user, "old.psd", pointer);
    world.git("add", "-A");
    world.git("commit", "--quiet", "-m", "lfs");
    const tree = await world.tree("card-1", await resolveBase(world.repo, "HEAD"));
    tree.write("new.psd", "picture\n");
    tree.write("pointer.psd", pointer);
    tree.write("other.png", "picture\n");
    const { commit, warnings } = await tree.commit();
    assert.deepEqual(warnings, ["new.psd belongs to Git LFS, which was not run: its content is in the commit itself."]);
    assert.deepEqual(
      [filesOf(world.repo, commit)["new.psd"], `${filesOf(world.repo, commit)["old.psd"]}\n`],
      ["picture", pointer],
    );
  });
});

describe("what an attempt leaves behind", () => {
  it("is kept under refs of its own in both repositories, once for each state, and never as a branch", async () => {
    using world = await openGitWorld();
    const tree = await world.tree("card-1", await resolveBase(world.repo, "HEAD"));
    const left = { ...tree, n: 1 };
    assert.equal(await snapshot(world.repo, left), null);
    tree.write("half.txt", "half\n");
    const first = await snapshot(world.repo, left);
    assert.equal(await snapshot(world.repo, left), first);
    tree.write("half.txt", "more\n");
    assert.deepEqual(await treeChangedPaths(world.repo, tree), ["half.txt"]);
    const second = await snapshot(world.repo, left);
    assert.notEqual(second, first);
    tree.write("half.txt", "half\n");
    assert.equal(await snapshot(world.repo, left), first);

    const refs = new Map([
      ["refs/aa/card-1/1-wip", first],
      ["refs/aa/card-1/1-wip2", second],
    ]);
    assert.deepEqual(await refsOf(world.repo), { store: refs, user: refs });
    assert.equal(world.git("show", "refs/aa/card-1/1-wip2:half.txt"), "more");
    assert.equal(world.git("branch", "--list", "aa/*"), "");
  });

  it("is in the store even when the user's repository is away", async () => {
    using world = await openGitWorld();
    const tree = await world.tree("card-1", await resolveBase(world.repo, "HEAD"));
    tree.write("half.txt", "half\n");
    renameSync(world.user, `${world.user}-away`);
    const kept = await snapshot(world.repo, { ...tree, n: 1 });
    assert.equal(filesOf(world.repo, kept ?? "")["half.txt"], "half");
  });
});

describe("reading", () => {
  it("shows no program's view of a change, and cuts one that is too long at a line", async () => {
    using world = await openGitWorld();
    const tree = await world.tree("card-1", await resolveBase(world.repo, "HEAD"));
    tree.write("long.txt", "line\n".repeat(1000));
    tree.write("bytes.bin", Buffer.from([0, 1, 2, 255]));
    const { commit } = await tree.commit();
    const between = { from: tree.start, to: commit };
    assert.match(await diff(world.repo, between), /^Binary files \/dev\/null and b\/bytes\.bin differ$/m);
    const cut = await diff(world.repo, between, 1002);
    assert.match(cut, /^\+line\n\[The rest of the patch is not shown\.\]\n$/m);
    assert.ok(cut.length < 1050);
    assert.deepEqual(await diffstat(world.repo, between), { files: 2, insertions: 1000, deletions: 0 });
    await assert.rejects(diff(world.repo, { from: "--output=/tmp/x", to: commit }), /not the name of an object/);
    assert.equal(await readAt(world.repo, commit, "nothing.md"), null);
    assert.equal(await readAt(world.repo, commit, "src"), null);
    assert.equal(await readAt(world.repo, commit, ":(glob)*.md"), null);
  });
});
