import assert from "node:assert/strict";
import { chownSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { describe, it } from "node:test";
import { resolveBase } from "../../src/workshop/git/base.ts";
import { publish } from "../../src/workshop/git/publish.ts";
import { openRepository, RepositoryTrouble } from "../../src/workshop/git/repository.ts";
import { git, GitFailure, gitVersion } from "../../src/workshop/git/run.ts";
import { makeTree } from "../../src/workshop/git/tree.ts";
import { itWith } from "../support/parts.ts";
import { exists, filesOf, gitIn, openGitWorld, put } from "../support/workshop-git.ts";

const itAsRoot = await itWith("root");

describe("git itself", () => {
  it("is looked at before anything is done with it", async () => {
    const { version, why } = await gitVersion();
    assert.match(version ?? "", /^2\.\d+/);
    assert.equal(why, null);
    using world = await openGitWorld();
    const path = process.env.PATH;
    try {
      for (const [says, told] of [
        ["git version 2.37.9", "git 2.38 or newer is needed; here is 2.37.9."],
        ["git version 3.0.1.windows.1", null],
        ["git version 2.38.0", null],
        ["no git at all", "git 2.38 or newer is needed; here is no git at all."],
      ] as const) {
        put(world.folder, "bin/git", `#!/bin/sh\necho '${says}'\n`, 0o755);
        process.env.PATH = `bin:${join(world.folder, "bin")}`;
        assert.equal((await gitVersion()).why, told);
      }
      process.env.PATH = `${join(world.folder, "empty")}:.`;
      assert.deepEqual(await gitVersion(), { version: null, why: "git was not found." });
    } finally {
      process.env.PATH = path;
    }
  });

  it("is ended when it is not wanted any more, lasts too long, or says too much", async () => {
    using world = await openGitWorld();
    const { store } = world.repo;
    const waiting = { gitDir: store, input: new PassThrough() };
    await assert.rejects(git(["cat-file", "--batch"], { ...waiting, signal: AbortSignal.timeout(50) }), GitFailure);
    const again = { gitDir: store, input: new PassThrough() };
    await assert.rejects(git(["cat-file", "--batch"], { ...again, timeoutMs: 50 }), /ended by SIGTERM/);
    await assert.rejects(git(["help", "-a"], { mostBytes: 100 }), /its output is too long/);
    const failure = await git(["rev-parse", "--verify", "nothing"], { gitDir: store }).catch((error: unknown) => error);
    assert.ok(failure instanceof GitFailure);
    assert.deepEqual(
      [failure.code, failure.message],
      [128, "git rev-parse failed (128): fatal: Needed a single revision"],
    );
  });
});

describe("a repository", () => {
  it("is refused with a sentence when it is none, or the settings make no sense", async () => {
    using world = await openGitWorld();
    const refused = (changes: object, why: RegExp) =>
      assert.rejects(world.open(changes), (error) => error instanceof RepositoryTrouble && why.test(error.message));
    await refused({ path: join(world.folder, "nothing") }, /^There is no folder /);
    await refused({ path: world.folder }, /is no git repository that this git can read/);
    for (const branchPrefix of ["", "aa", "/", "-x/", "a..b/", "a b/", "a/.b/", "x.lock/", "../", "a//"]) {
      await refused({ branchPrefix }, /^branch_prefix .* cannot begin a branch's name/);
    }
    for (const committer of ["", "ana", "<a@b>", ". <a@b>", "ana <a b>", "a\nb <a@b>", "ana <a@b> x"]) {
      await refused({ committer }, /is not of the form "Name <address>"/);
    }
    put(world.user, ".git/config", "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tfromTheFuture = true\n");
    await refused({}, /is no git repository that this git can read: .*unknown repository extension/s);
  });

  it("may be opened many times at once, and has one store", async () => {
    using world = await openGitWorld();
    const storeDir = join(world.folder, "many/store.git");
    const opened = await Promise.all(Array.from({ length: 6 }, () => world.open({ storeDir })));
    assert.equal(new Set(opened.map(({ store }) => store)).size, 1);
    assert.deepEqual(readdirSync(join(world.folder, "many")), ["store.git"]);
    assert.equal(gitIn(storeDir, "rev-parse", "--is-bare-repository"), "true");
    assert.deepEqual(readdirSync(storeDir).includes("hooks"), false);
  });

  it("may be one of SHA-256 from end to end, and the store of another kind is not taken for its own", async () => {
    using world = await openGitWorld({ init: ["--object-format=sha256"] });
    const base = await resolveBase(world.repo, "HEAD");
    assert.match(base, /^[0-9a-f]{64}$/);
    const tree = await world.tree("card-1", base);
    tree.write("a.txt", "a\n");
    const { commit } = await tree.commit();
    assert.equal((await publish(world.repo, { slug: "card-1", n: 1, commit, last: null })).branch, "aa/card-1");
    assert.equal(world.git("show", "aa/card-1:a.txt"), "a");
    using other = await openGitWorld();
    await assert.rejects(
      world.open({ path: other.user }),
      /was made for a repository of sha256, and this one is of sha1/,
    );
  });

  it("may be a shallow clone, before and after it was deepened", async () => {
    using world = await openGitWorld();
    for (const name of ["two", "three"]) {
      put(world.user, "README.md", `${name}\n`);
      world.git("commit", "--quiet", "-am", name);
    }
    const clone = join(world.folder, "clone");
    world.git("clone", "--quiet", "--depth=1", `file://${world.user}`, clone);
    const repo = await world.open({ path: clone, storeDir: join(world.folder, "shallow.git") });
    const base = await resolveBase(repo, "HEAD");
    const dir = join(world.folder, "shallow-tree");
    await makeTree(repo, { dir, slug: "card-1", start: base, include: null });
    assert.equal(gitIn(dir, "log", "--format=%s"), "three");
    assert.equal((await publish(repo, { slug: "card-1", n: 1, commit: base, last: null })).branch, "aa/card-1");

    gitIn(clone, "fetch", "--quiet", "--unshallow");
    gitIn(clone, "checkout", "--quiet", "-b", "side", "HEAD~1");
    put(clone, "side.txt", "side\n");
    gitIn(clone, "add", "-A");
    gitIn(clone, "commit", "--quiet", "-m", "side");
    const again = await world.open({ path: clone, storeDir: join(world.folder, "shallow.git") });
    const side = await resolveBase(again, "side");
    assert.deepEqual(Object.keys(filesOf(again, side)), ["README.md", "side.txt", "src/one.ts"]);
  });

  it("names its base by branch, remote branch, tag or commit, and takes no expression and no option for a name", async () => {
    using world = await openGitWorld();
    const first = world.git("rev-parse", "HEAD");
    world.git("branch", "feature/x");
    world.git("update-ref", "refs/remotes/origin/feature", "HEAD");
    world.git("tag", "-a", "-m", "one", "v1");
    put(world.user, "README.md", "second\n");
    world.git("commit", "--quiet", "-am", "second");
    world.git("tag", "main", first);
    const head = world.git("rev-parse", "HEAD");
    for (const ref of ["HEAD", "main", "refs/heads/main", head]) assert.equal(await resolveBase(world.repo, ref), head);
    for (const ref of ["feature/x", "origin/feature", "v1", "refs/tags/main", first]) {
      assert.equal(await resolveBase(world.repo, ref), first);
    }
    const tree = world.git("rev-parse", "HEAD^{tree}");
    const no = [
      "nothing",
      "-x",
      "--all",
      "",
      " ",
      "HEAD~1",
      "HEAD^",
      "@{-1}",
      "main@{0}",
      ":/second",
      "a..b",
      "HEAD:README.md",
      "a b",
      "main\n--all",
      "x\0y",
      tree,
      tree.slice(0, 8),
      "../x",
      "a//b",
      "*",
      "é\u0301^{}",
    ];
    for (const ref of no) await assert.rejects(resolveBase(world.repo, ref), RepositoryTrouble, JSON.stringify(ref));
    await assert.rejects(
      resolveBase(world.repo, "nothing"),
      new RepositoryTrouble('The repository shop has no branch "nothing".'),
    );
    const unborn = join(world.folder, "unborn");
    mkdirSync(unborn);
    gitIn(unborn, "init", "--quiet");
    const empty = await world.open({ path: unborn, storeDir: join(world.folder, "unborn.git") });
    await assert.rejects(resolveBase(empty, "HEAD"), new RepositoryTrouble("The repository shop has no commit yet."));
  });

  it("has a store alone where workers have the repository", async () => {
    using world = await openGitWorld();
    const repo = await world.open({ path: null, storeDir: join(world.folder, "workers.git") });
    assert.equal(repo.gitDir, null);
    const why = new RepositoryTrouble("The repository shop is not on this machine.");
    await assert.rejects(resolveBase(repo, "HEAD"), why);
    await assert.rejects(publish(repo, { slug: "a", n: 1, commit: "1".repeat(40), last: null }), why);
  });

  itAsRoot("may belong to somebody else, who is told what comes of it", async () => {
    using world = await openGitWorld();
    assert.deepEqual(world.repo.warnings, []);
    chownSync(join(world.user, ".git"), 65534, 65534);
    const repo = await openRepository({
      name: "shop",
      path: world.user,
      storeDir: world.repo.store,
      branchPrefix: "aa/",
      committer: "Parley <p@localhost>",
      author: "Parley <p@localhost>",
    });
    assert.equal(repo.warnings.length, 1);
    const commit = await resolveBase(repo, "HEAD");
    assert.equal((await publish(repo, { slug: "card-1", n: 1, commit, last: null })).branch, "aa/card-1");
  });
});

describe("a tree", () => {
  it("is a repository of its own on the task's branch, which borrows from the store and knows no remote", async () => {
    using world = await openGitWorld();
    const tree = await world.tree("card-1", await resolveBase(world.repo, "HEAD"));
    assert.equal(gitIn(tree.dir, "status", "--porcelain", "--branch"), "## aa/card-1");
    assert.equal(gitIn(tree.dir, "remote"), "");
    assert.equal(gitIn(tree.dir, "config", "user.email"), "parley@localhost");
    assert.equal(readFileSync(join(tree.dir, ".git/objects/info/alternates"), "utf8"), `${world.repo.store}/objects\n`);
    assert.equal(exists(join(tree.dir, ".git/hooks")), false);
    gitIn(tree.dir, "fsck", "--strict");
  });

  it("takes untracked files along that .worktreeinclude names, follows no link and replaces nothing", async () => {
    using world = await openGitWorld();
    mkdirSync(join(world.user, "config"));
    symlinkSync("/etc", join(world.user, "leads"));
    put(world.user, ".gitignore", ".env*\nconfig/\n");
    world.git("add", "-A");
    world.git("commit", "--quiet", "-m", "links");
    const start = await resolveBase(world.repo, "HEAD");
    rmSync(join(world.user, "leads"));
    put(
      world.user,
      ".worktreeinclude",
      "# what every tree needs\n.env*\n!.env.production\n/config/**\nleads/**\nREADME.md\nlink\n/nested\npipe\n",
    );
    put(world.user, ".env", "KEY=1\n", 0o600);
    put(world.user, "sub/.env.local", "KEY=2\n");
    put(world.user, ".env.production", "KEY=3\n");
    put(world.user, "config/deep/-x y\n.json", "{}\n");
    put(world.user, "leads/passwd", "mine\n");
    put(world.user, "README.md", "changed in the checkout\n");
    put(world.user, "unnamed.txt", "no\n");
    symlinkSync("/etc/passwd", join(world.user, "link"));
    put(world.user, "nested/file", "nested\n");
    gitIn(join(world.user, "nested"), "init", "--quiet");
    const dir = join(world.folder, "tree");
    const { copied, warnings } = await makeTree(world.repo, { dir, slug: "card-1", start, include: world.user });

    const read = (path: string) => readFileSync(join(dir, path), "utf8");
    assert.equal(read(".env") + read("sub/.env.local") + read("config/deep/-x y\n.json"), "KEY=1\nKEY=2\n{}\n");
    assert.equal(copied, 3);
    assert.equal(read("README.md"), "hello\n");
    for (const path of [".env.production", "unnamed.txt", "link", "nested"])
      assert.equal(exists(join(dir, path)), false, path);
    assert.equal(exists("/etc/passwd") && read("leads/passwd") !== "mine\n", true);
    assert.deepEqual(warnings.sort(), [
      "leads/passwd is named in .worktreeinclude and was not copied: it is in the way of something, or too much.",
      "link is named in .worktreeinclude and was not copied: only files are.",
    ]);
    assert.deepEqual(
      readdirSync(world.folder).filter((name) => name.startsWith("tree.")),
      [],
    );

    rmSync(join(world.user, ".worktreeinclude"));
    symlinkSync("/etc/passwd", join(world.user, ".worktreeinclude"));
    const again = await makeTree(world.repo, { dir, slug: "card-1", start, include: world.user });
    assert.equal(again.copied, 0);
    assert.match(again.warnings[0] ?? "", /was not read/);
    assert.equal(exists(join(dir, ".env")), false);
  });

  it("runs no filter of the repository's, and leaves Git LFS pointers as they are", async () => {
    using world = await openGitWorld();
    put(world.user, ".gitattributes", "*.psd filter=lfs\n*.evil filter=evil\n");
    put(world.user, "a.psd", "version https://git-lfs.github.com/spec/v1\n");
    put(world.user, "a.evil", "as it is\n");
    world.git("add", "-A");
    world.git("commit", "--quiet", "-m", "filters");
    for (const key of ["filter.evil.smudge", "filter.lfs.smudge"])
      world.git("config", key, `touch ${world.witness}; cat`);
    const tree = await world.tree("card-1", await resolveBase(world.repo, "HEAD"));
    assert.equal(readFileSync(join(tree.dir, "a.evil"), "utf8"), "as it is\n");
    assert.match(readFileSync(join(tree.dir, "a.psd"), "utf8"), /^version/);
    assert.equal(exists(world.witness), false);
  });
});
