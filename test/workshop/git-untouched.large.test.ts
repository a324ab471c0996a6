import assert from "node:assert/strict";
import { appendFileSync, mkdirSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { resolveBase } from "../../src/workshop/git/base.ts";
import { commitTree, snapshot } from "../../src/workshop/git/commit.ts";
import { dropBranch, publish } from "../../src/workshop/git/publish.ts";
import { changedPaths, diff, dropRef, readAt, refsOf } from "../../src/workshop/git/read.ts";
import { startCommit } from "../../src/workshop/git/start.ts";
import { makeTree } from "../../src/workshop/git/tree.ts";
import { exists, fingerprint, gitIn, type GitWorld, openGitWorld, put } from "../support/workshop-git.ts";

const HOOKS = `applypatch-msg commit-msg fsmonitor-watchman p4-changelist p4-post-changelist p4-pre-submit
  p4-prepare-changelist post-applypatch post-checkout post-commit post-index-change post-merge post-receive post-rewrite
  post-update pre-applypatch pre-auto-gc pre-commit pre-merge-commit pre-push pre-rebase pre-receive prepare-commit-msg
  proc-receive push-to-checkout reference-transaction sendemail-validate update`.split(/\s+/);

/** Objects, and what is Parley's own, may come; everything else stays. */
const OURS = /^(?:\.git\/)?(?:objects|(?:logs\/)?refs\/(?:aa|heads\/aa))(?:\/|$)/;

describe("the user's repository", () => {
  it("is the same to the byte afterwards, and none of its hooks, filters, monitors or other programs ran", async () => {
    using world = await openGitWorld();
    makeDirty(world);
    plantPrograms(world);
    const before = fingerprint(world.user, (path) => OURS.test(path));
    assert.equal(exists(world.witness), false);

    await doEverything(world);

    assert.deepEqual(
      fingerprint(world.user, (path) => OURS.test(path)),
      before,
    );
    assert.equal(exists(world.witness), false);
    assert.match(gitIn(world.user, "log", "-1", "--format=%s", "refs/aa/card-1/1"), /^work of card-1$/);

    // A git that obeys this repository does run them.
    assert.throws(() => gitIn(world.user, "update-ref", "refs/heads/control", "HEAD"));
    assert.throws(() => gitIn(world.user, "add", "-A"));
    assert.equal(exists(world.witness), true);
  });

  it("may be a bare one, or a second working tree of another", async () => {
    using world = await openGitWorld();
    world.git("branch", "other");
    const second = join(world.folder, "second");
    world.git("worktree", "add", "--quiet", second, "other");
    put(second, "README.md", "of the second\n");
    gitIn(second, "commit", "--quiet", "-am", "second");
    const bare = join(world.folder, "bare.git");
    world.git("clone", "--quiet", "--bare", world.user, bare);

    for (const path of [second, bare]) {
      const repo = await world.open({ path, storeDir: join(world.folder, `${path.length}.git`) });
      const before = fingerprint(path, (name) => OURS.test(name));
      const commit = await resolveBase(repo, "HEAD");
      assert.equal(commit, gitIn(path, "rev-parse", "HEAD"));
      const done = await publish(repo, { slug: "card-1", n: 1, commit, last: null });
      assert.equal(gitIn(path, "rev-parse", "refs/heads/aa/card-1"), commit);
      assert.equal(done.branch, "aa/card-1");
      assert.deepEqual(
        fingerprint(path, (name) => OURS.test(name)),
        before,
      );
    }
  });

  it("starts no program for objects that a partial clone lacks, and the person is told", async () => {
    using world = await openGitWorld();
    const blob = world.git("rev-parse", "HEAD:README.md");
    world.git("config", "core.repositoryFormatVersion", "1");
    world.git("config", "extensions.partialClone", "origin");
    world.git("config", "remote.origin.promisor", "true");
    world.git("config", "remote.origin.partialCloneFilter", "blob:none");
    world.git("config", "remote.origin.url", `ext::sh -c "touch% ${world.witness}"`);
    world.git("config", "remote.origin.uploadpack", `touch ${world.witness}; false`);
    world.git("config", "protocol.ext.allow", "always");
    rmSync(join(world.user, ".git/objects", blob.slice(0, 2), blob.slice(2)));

    await assert.rejects(resolveBase(world.repo, "HEAD"), /could not be read whole; in a partial clone/);
    world.git("config", "remote.origin.url", world.user);
    await assert.rejects(resolveBase(world.repo, "HEAD"), /could not be read whole; in a partial clone/);
    assert.equal(exists(world.witness), false);
    assert.deepEqual([...(await refsOf(world.repo)).store], []);
  });

  it("has nothing written through the links that stand in it", async () => {
    using world = await openGitWorld();
    const commit = await resolveBase(world.repo, "HEAD");
    const outside = join(world.folder, "outside");
    mkdirSync(outside);
    const plant = (place: string) => {
      const link = join(world.user, ".git", place);
      mkdirSync(dirname(link), { recursive: true });
      symlinkSync(outside, link);
      return link;
    };
    for (const [n, place] of ["refs/aa", "logs/refs/aa"].entries()) {
      const link = plant(place);
      const publishing = publish(world.repo, { slug: `card-${n}`, n: 1, commit, last: null });
      await assert.rejects(publishing, /\/refs\/aa is a link; nothing is written where it leads\.$/);
      rmSync(link);
    }
    const link = plant("refs/heads/aa");
    const left = await publish(world.repo, { slug: "card-1", n: 1, commit, last: null });
    assert.match(left.why ?? "", /\/refs\/heads\/aa is a link; nothing is written where it leads\.$/);
    rmSync(link);
    assert.deepEqual(fingerprint(outside), {});
    assert.equal((await publish(world.repo, { slug: "card-1", n: 1, commit, last: null })).branch, "aa/card-1");
  });

  it("is found by what the settings say, and by nothing in the environment", async () => {
    using world = await openGitWorld();
    const stolen = { GIT_DIR: "/nonexistent", GIT_INDEX_FILE: "/nonexistent", GIT_OBJECT_DIRECTORY: world.folder };
    Object.assign(process.env, stolen);
    try {
      const repo = await world.open({ storeDir: join(world.folder, "again.git") });
      assert.equal(await resolveBase(repo, "main"), world.git("rev-parse", "main"));
    } finally {
      for (const name of Object.keys(stolen)) Reflect.deleteProperty(process.env, name);
    }
  });
});

/** Staged, unstaged, untracked, ignored and stashed work, a second working tree, a submodule, and reflogs. */
function makeDirty(world: GitWorld): void {
  const { user, git } = world;
  const library = join(world.folder, "library");
  mkdirSync(library);
  gitIn(library, "init", "--quiet");
  gitIn(library, "commit", "--quiet", "--allow-empty", "-m", "library");
  git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", library, "vendor/library");
  put(user, ".gitignore", "*.log\n.env\n");
  put(user, ".gitattributes", "* filter=evil diff=evil merge=evil\n");
  put(user, ".worktreeinclude", ".env\n");
  git("add", "-A");
  git("commit", "--quiet", "-m", "more");
  put(user, "src/one.ts", "stashed\n");
  git("stash", "--quiet");
  git("worktree", "add", "--quiet", "-b", "second", join(world.folder, "second"));
  git("tag", "-a", "-m", "tagged", "v1");
  git("update-ref", "refs/remotes/origin/main", "HEAD");
  git("pack-refs");
  put(user, "src/one.ts", "staged\n");
  put(user, "staged.txt", "staged\n");
  git("add", "-A");
  put(user, "src/one.ts", "unstaged\n");
  put(user, "untracked.txt", "untracked\n");
  put(user, ".env", "KEY=1\n");
  put(user, "noise.log", "noise\n");
  symlinkSync("/etc/passwd", join(user, "link"));
}

function plantPrograms(world: GitWorld): void {
  const { user, witness, folder } = world;
  const evil = join(folder, "evil");
  put(folder, "evil", `#!/bin/sh\necho "$0 $@" >> ${witness}\nexit 1\n`, 0o755);
  for (const hook of HOOKS) {
    put(user, `.git/hooks/${hook}`, `#!/bin/sh\necho ${hook} >> ${witness}\nexit 1\n`, 0o755);
    put(folder, `hooks/${hook}`, `#!/bin/sh\necho path/${hook} >> ${witness}\nexit 1\n`, 0o755);
  }
  put(folder, "more.config", `[core]\n\tfsmonitor = ${evil}\n[diff]\n\texternal = ${evil}\n`);
  const store = world.repo.store;
  appendFileSync(
    join(user, ".git/config"),
    `
[include]
	path = ${join(folder, "more.config")}
[core]
	hooksPath = ${join(folder, "hooks")}
	alternateRefsCommand = ${evil}
	sshCommand = ${evil}
	gitProxy = ${evil}
	askPass = ${evil}
	editor = ${evil}
	pager = ${evil}
	logAllRefUpdates = always
	fsyncMethod = writeout-only
[filter "evil"]
	clean = ${evil}
	smudge = ${evil}
	process = ${evil}
	required = true
[diff "evil"]
	command = ${evil}
	textconv = ${evil}
[merge "evil"]
	driver = ${evil}
[commit]
	gpgSign = true
[gpg]
	program = ${evil}
[alias]
	update-ref = !${evil}
[url "ext::${evil} "]
	insteadOf = /
[protocol "ext"]
	allow = always
[remote "${store}"]
	url = ext::${evil}
	uploadpack = ${evil}
	fetch = +refs/aa/*:refs/heads/*
[uploadpack]
	packObjectsHook = ${evil}
[transfer]
	hideRefs = refs/heads
[fetch]
	prune = true
	writeCommitGraph = true
[gc]
	auto = 1
	autoPackLimit = 1
	recentObjectsHook = ${evil}
[credential]
	helper = !${evil}
[user]
	useConfigOnly = true
`,
  );
  put(user, ".git/info/attributes", "* filter=evil diff=evil merge=evil\n");
  put(user, ".git/info/grafts", `${world.git("rev-parse", "v1^{commit}")}\n`);
}

async function doEverything(world: GitWorld): Promise<void> {
  const repo = await world.open();
  const base = await resolveBase(repo, "HEAD");
  for (const ref of ["main", "second", "origin/main", "v1"]) await resolveBase(repo, ref);
  const commits: { id: string; commit: string }[] = [];
  for (const slug of ["card-1", "card-2"]) {
    const dir = join(world.folder, "attempts", slug, "tree");
    const made = await makeTree(repo, { dir, slug, start: base, include: world.user });
    assert.equal(made.copied, 1);
    put(dir, `${slug}.txt`, "done\n");
    put(dir, "src/one.ts", "changed\n");
    const left = { dir, slug, n: 1, start: base, indexFile: join(world.folder, `${slug}.index`) };
    assert.match((await snapshot(repo, left)) ?? "", /^[0-9a-f]{40}$/);
    const { commit } = await commitTree(repo, { ...left, message: `work of ${slug}\n` });
    assert.equal((await publish(repo, { slug, n: 1, commit, last: null })).branch, `aa/${slug}`);
    const again = await commitTree(repo, { ...left, n: 2, message: `work of ${slug}, again\n` });
    assert.equal((await publish(repo, { slug, n: 2, commit: again.commit, last: commit })).branch, `aa/${slug}`);
    commits.push({ id: slug, commit: again.commit });
  }
  const start = await startCommit(repo, { base, dependencies: commits, forTask: "card-3" });
  assert.equal(start.kind, "start");
  const from = base;
  const to = commits[0]?.commit ?? "";
  assert.match(await diff(repo, { from, to }), /^\+done$/m);
  assert.deepEqual(await changedPaths(repo, { from, to }), ["card-1.txt", "src/one.ts"]);
  assert.equal(await readAt(repo, base, "README.md"), "hello\n");
  assert.equal(await dropBranch(repo, { slug: "card-1", value: to }), true);
  await dropRef(repo, "refs/aa/card-2/1");
  assert.deepEqual([...((await refsOf(repo)).user ?? new Map()).keys()].sort(), [
    "refs/aa/card-1/1",
    "refs/aa/card-1/1-wip",
    "refs/aa/card-1/2",
    "refs/aa/card-2/1-wip",
    "refs/aa/card-2/2",
    "refs/heads/aa/card-2",
  ]);
}
