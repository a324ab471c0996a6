import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { describe, it } from "node:test";
import { resolveBase } from "../../src/workshop/git/base.ts";
import { RepositoryTrouble } from "../../src/workshop/git/repository.ts";
import { type Conflict, startCommit, startWithMarkers, type StartInput } from "../../src/workshop/git/start.ts";
import { filesOf, gitIn, type GitWorld, openGitWorld, put } from "../support/workshop-git.ts";

describe("the commit that an attempt starts from", () => {
  it("is the base without dependencies, and the one dependency that holds all others", async () => {
    using world = await openGitWorld();
    const base = await resolveBase(world.repo, "HEAD");
    const a = await work(world, "a", base, { "a.txt": "a\n" });
    const b = await work(world, "b", a.commit, { "b.txt": "b\n" });
    assert.deepEqual(await start(world, base, []), { kind: "start", commit: base });
    assert.deepEqual(await start(world, base, [a]), { kind: "start", commit: a.commit });
    assert.deepEqual(await start(world, base, [a, b]), { kind: "start", commit: b.commit });
    assert.deepEqual(await start(world, base, [b, a, b]), { kind: "start", commit: b.commit });
    const twin = { id: "twin", commit: b.commit };
    assert.deepEqual(await start(world, base, [b, twin]), { kind: "start", commit: b.commit });
  });

  it("holds both sides of a diamond, and is the same commit whenever it is asked for", async () => {
    using world = await openGitWorld();
    const base = await resolveBase(world.repo, "HEAD");
    const a = await work(world, "a", base, { "a.txt": "a\n" });
    const b = await work(world, "b", a.commit, { "b.txt": "b\n" });
    const c = await work(world, "c", a.commit, { "c.txt": "c\n" });
    const made = commitOf(await start(world, base, [a, b, c]));

    assert.deepEqual(Object.keys(filesOf(world.repo, made)), ["README.md", "a.txt", "b.txt", "c.txt", "src/one.ts"]);
    assert.equal(parentsOf(world, made), `${b.commit} ${c.commit}`);
    assert.equal(messageOf(world, made), "Merge dependencies b, c for d%0A");
    const later = { now: () => 4e12, monotonic: () => 0, uptime: () => 0, boot: null, sleep: () => Promise.resolve() };
    const again = await world.open({ clock: later });
    assert.equal(commitOf(await startCommit(again, { base, dependencies: [a, b, c], forTask: "d\n" })), made);
    assert.equal(gitIn(world.repo.store, "rev-parse", `refs/parley/start/${made}`), made);

    const d = await work(world, "d", made, { "d.txt": "d\n" });
    assert.equal(parentsOf(world, d.commit), made);
  });

  it("merges the base in where it went on since, and where histories have nothing in common", async () => {
    using world = await openGitWorld();
    const a = await work(world, "a", await resolveBase(world.repo, "HEAD"), { "a.txt": "a\n" });
    put(world.user, "later.txt", "later\n");
    world.git("add", "-A");
    world.git("commit", "--quiet", "-m", "later");
    const base = await resolveBase(world.repo, "HEAD");
    const made = commitOf(await start(world, base, [a]));
    assert.equal(parentsOf(world, made), `${base} ${a.commit}`);
    assert.deepEqual(Object.keys(filesOf(world.repo, made)), ["README.md", "a.txt", "later.txt", "src/one.ts"]);

    world.git("checkout", "--quiet", "--orphan", "alone");
    world.git("rm", "--quiet", "-rf", ".");
    put(world.user, "alone.txt", "alone\n");
    world.git("add", "-A");
    world.git("commit", "--quiet", "-m", "alone");
    const alone = commitOf(await start(world, await resolveBase(world.repo, "alone"), [a]));
    assert.deepEqual(Object.keys(filesOf(world.repo, alone)), ["README.md", "a.txt", "alone.txt", "src/one.ts"]);
  });

  it("takes many dependencies in the order in which they are given", async () => {
    using world = await openGitWorld();
    const base = await resolveBase(world.repo, "HEAD");
    const many = [];
    for (const id of ["e", "a", "d", "b", "c"]) many.push(await work(world, id, base, { [`${id}.txt`]: id }));
    const made = commitOf(await start(world, base, many));
    assert.equal(messageOf(world, made), "Merge dependencies e, a, d, b, c for d%0A");
    assert.equal(Object.keys(filesOf(world.repo, made)).length, 7);
    assert.equal(gitIn(world.repo.store, "rev-list", "--count", "--merges", made), "4");
  });

  it("is a conflict where git cannot merge, with the paths and what git says", async () => {
    using world = await openGitWorld();
    const { conflict } = await conflictOf(world);
    assert.deepEqual(conflict.paths.sort(), ["README.md", "new\nline.txt", "src/one.ts"]);
    assert.match(conflict.messages, /CONFLICT \(content\): Merge conflict in README\.md/);
    assert.match(conflict.messages, /CONFLICT \(modify\/delete\): src\/one\.ts deleted in/);
    assert.match(filesOf(world.repo, conflict.tree)["README.md"] ?? "", /^<<<<<<< /);
  });

  it("holds the markers and everything else where the agent is to resolve it; one commit on top does", async () => {
    using world = await openGitWorld();
    const { conflict, base, parts } = await conflictOf(world);
    const marked = await startWithMarkers(world.repo, conflict);
    assert.deepEqual(await startWithMarkers(world.repo, conflict), marked);
    assert.deepEqual(marked.markersIn.sort(), ["README.md", "new\nline.txt", "src/one.ts"]);
    assert.deepEqual(Object.keys(filesOf(world.repo, marked.commit)), [
      "README.md",
      "b.txt",
      "c.txt",
      "e.txt",
      "new\nline.txt",
      "src/one.ts",
    ]);

    const tree = await world.tree("d", marked.commit);
    const { markersIn } = marked;
    await assert.rejects(
      tree.commit({ markersIn }),
      /^Error: Conflict markers are left in README\.md, new\nline\.txt\.$/,
    );
    tree.write("README.md", "b and c\n=======\n<<<<<<< not at all\n");
    tree.write("new\nline.txt", "both\n");
    await assert.rejects(tree.commit({ markersIn }), /^Error: Conflict markers are left in README\.md\.$/);
    tree.write("README.md", "b and c\n=======\n\nA heading; <<<<<<< is no marker here.\n");
    const { commit } = await tree.commit({ markersIn });
    assert.equal(parentsOf(world, commit), parts.map((one) => one.commit).join(" "));
    const published = gitIn(world.repo.store, "rev-list", commit).split("\n");
    for (const one of published) {
      assert.doesNotMatch(JSON.stringify(filesOf(world.repo, one)), /<{7} [0-9a-f]{40}/, `${one} holds a marker`);
    }
    for (const part of [...parts.map((one) => one.commit), base]) {
      gitIn(world.repo.store, "merge-base", "--is-ancestor", part, commit);
    }
  });

  it("is not left by moving a file with its markers elsewhere, and is by what only looks like one", async () => {
    using world = await openGitWorld();
    const { conflict } = await conflictOf(world);
    const { commit: start, markersIn } = await startWithMarkers(world.repo, conflict);
    const tree = await world.tree("d", start);
    const marked = filesOf(world.repo, start)["README.md"] ?? "";
    for (const path of markersIn) rmSync(`${tree.dir}/${path}`);
    tree.write("docs/README.md", marked);
    await assert.rejects(tree.commit({ markersIn }), /^Error: Conflict markers are left in docs\/README\.md\.$/);
    tree.write("docs/README.md", "How to resolve:\n<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> branch\n");
    const { commit } = await tree.commit({ markersIn });
    const again = await world.tree("f", start);
    assert.equal(parentsOf(world, commit).split(" ").length, 3);
    again.write("README.md", "resolved\n");
    again.write("new\nline.txt", "resolved\n");
    const next = await again.commit({ markersIn });
    assert.equal(parentsOf(world, next.commit), parentsOf(world, commit));
  });

  it("asks for commits that the store has", async () => {
    using world = await openGitWorld();
    const base = await resolveBase(world.repo, "HEAD");
    for (const commit of ["1".repeat(40), "--all", "", world.git("rev-parse", "HEAD^{tree}")]) {
      await assert.rejects(start(world, base, [{ id: "a", commit }]), RepositoryTrouble);
      await assert.rejects(start(world, commit, []), RepositoryTrouble);
    }
  });
});

interface Part {
  id: string;
  commit: string;
}

async function work(world: GitWorld, id: string, from: string, files: Record<string, string>): Promise<Part> {
  const tree = await world.tree(id, from);
  for (const [path, text] of Object.entries(files)) tree.write(path, text);
  return { id, commit: (await tree.commit()).commit };
}

function start(world: GitWorld, base: string, dependencies: StartInput["dependencies"]) {
  return startCommit(world.repo, { base, dependencies, forTask: "d\n" });
}

/** Three tasks of which two do not go together; the third must not be forgotten over it. */
async function conflictOf(world: GitWorld): Promise<{ conflict: Conflict; base: string; parts: Part[] }> {
  const base = await resolveBase(world.repo, "HEAD");
  const b = await work(world, "b", base, {
    "README.md": "b\n",
    "b.txt": "b\n",
    "new\nline.txt": "b\n",
    "src/one.ts": "b\n",
  });
  const tree = await world.tree("c", base);
  tree.write("README.md", "c\n");
  tree.write("c.txt", "c\n");
  tree.write("new\nline.txt", "c\n");
  rmSync(`${tree.dir}/src/one.ts`);
  const c = { id: "c", commit: (await tree.commit()).commit };
  const e = await work(world, "e", base, { "e.txt": "e\n" });
  const parts = [b, c, e];
  const conflict = await start(world, base, parts);
  assert.equal(conflict.kind, "conflict");
  return { conflict: conflict as Conflict, base, parts };
}

function commitOf(found: Awaited<ReturnType<typeof startCommit>>): string {
  assert.equal(found.kind, "start");
  return found.kind === "start" ? found.commit : "";
}

function parentsOf(world: GitWorld, commit: string): string {
  return gitIn(world.repo.store, "log", "-1", "--format=%P", commit);
}

function messageOf(world: GitWorld, commit: string): string {
  return gitIn(world.repo.store, "log", "-1", "--format=%B", commit);
}
