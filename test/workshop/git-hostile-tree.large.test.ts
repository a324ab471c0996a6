import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, it } from "node:test";
import { resolveBase } from "../../src/workshop/git/base.ts";
import { snapshot, treeChangedPaths } from "../../src/workshop/git/commit.ts";
import { TreeRefused } from "../../src/workshop/git/listing.ts";
import { diff, readAt } from "../../src/workshop/git/read.ts";
import { startCommit } from "../../src/workshop/git/start.ts";
import { removeTree } from "../../src/workshop/git/tree.ts";
import {
  exists,
  filesOf,
  fingerprint,
  gitIn,
  openGitWorld,
  put,
  type GitWorld,
  type Tree,
} from "../support/workshop-git.ts";

describe("a tree that an agent left", () => {
  it("starts none of the programs that were planted in its .git, its attributes and its nested repositories", async () => {
    using world = await openGitWorld();
    const tree = await world.tree("card-1", await resolveBase(world.repo, "HEAD"));
    tree.write("src/one.ts", "changed\n");
    plant(world, join(tree.dir, ".git"));
    put(tree.dir, ".git/info/attributes", "* filter=evil diff=evil merge=evil\n");
    tree.write(".gitattributes", "* filter=evil diff=evil merge=evil\n*.bin filter=evil\n");
    for (const [nested, isBorn] of [
      ["nested", true],
      ["unborn", false],
      ["src", true],
    ] as const) {
      put(tree.dir, `${nested}/inside.txt`, "inside\n");
      gitIn(join(tree.dir, nested), "init", "--quiet");
      if (isBorn) gitIn(join(tree.dir, nested), "add", "-A");
      if (isBorn) gitIn(join(tree.dir, nested), "commit", "--quiet", "-m", "nested");
      plant(world, join(tree.dir, nested, ".git"));
    }

    const { commit, changed, warnings } = await tree.commit();
    assert.equal(changed, true);
    assert.match(await diff(world.repo, { from: tree.start, to: commit }), /^\+changed$/m);
    const other = await world.tree("card-2", tree.start);
    other.write("src/one.ts", "changed otherwise\n");
    const input = { base: tree.start, forTask: "card-3" };
    const dependencies = [
      { id: "card-1", commit },
      { id: "card-2", commit: (await other.commit()).commit },
    ];
    assert.equal((await startCommit(world.repo, { ...input, dependencies })).kind, "conflict");

    assert.deepEqual(filesOf(world.repo, commit), {
      ".gitattributes": "* filter=evil diff=evil merge=evil\n*.bin filter=evil",
      "README.md": "hello",
      // A folder of the start commit stays one, whatever was put into it.
      "src/inside.txt": "inside",
      "src/one.ts": "changed",
    });
    assert.deepEqual(warnings, [
      "nested is a nested repository and stays out of the commit.",
      "unborn is a nested repository and stays out of the commit.",
      "src/.git is a name of git's own and stays out of the commit.",
    ]);
    assert.equal(exists(world.witness), false);
    // A git that obeys them does run them.
    assert.throws(() => gitIn(tree.dir, "status"));
    assert.equal(exists(world.witness), true);
  });

  it("brings nothing from outside: links are stored as links, wherever they lead", async () => {
    using world = await openGitWorld();
    const tree = await world.tree("card-1", await resolveBase(world.repo, "HEAD"));
    const outside = join(world.folder, "outside");
    put(outside, "one.ts", "outside\n");
    put(outside, "secret", "outside\n");
    rmSync(join(tree.dir, "src"), { recursive: true });
    symlinkSync(outside, join(tree.dir, "src"));
    symlinkSync(join(outside, "secret"), join(tree.dir, "link"));
    symlinkSync(join(outside, "secret"), join(tree.dir, ".gitignore"));
    symlinkSync(join(outside, "secret"), join(tree.dir, ".gitattributes"));
    symlinkSync(join(outside, "secret"), join(tree.dir, ".gitmodules"));
    symlinkSync(".", join(tree.dir, "round"));
    const before = fingerprint(outside);

    const { commit, warnings } = await tree.commit();
    const files = filesOf(world.repo, commit);
    assert.deepEqual(Object.keys(files).sort(), [".gitattributes", ".gitignore", "README.md", "link", "round", "src"]);
    assert.equal(files.src, outside);
    assert.equal(
      gitIn(world.repo.store, "ls-tree", "-r", "--format=%(objectmode)", commit, "src", "link"),
      "120000\n120000",
    );
    assert.deepEqual(warnings, [".gitmodules has a name that git does not take, and stays out of the commit."]);
    assert.deepEqual(fingerprint(outside), before);
    assert.equal(await readAt(world.repo, commit, "link"), null);
    assert.equal(await readAt(world.repo, commit, "src/one.ts"), null);
  });

  it("warns of a committed .gitmodules that would have a git run a program, and of no other", async () => {
    using world = await openGitWorld();
    const tree = await world.tree("card-1", await resolveBase(world.repo, "HEAD"));
    const submodule = (name: string, ...lines: string[]) =>
      [`[submodule "${name}"]`, `path = ${name}`, ...lines].join("\n");
    const plain = submodule("plain", "url = https://git.example/plain.git", "update = merge");
    tree.write(".gitmodules", `${plain}\n`);
    assert.deepEqual((await tree.commit()).warnings, []);
    const evil = [
      submodule("one", `url = "ext::sh -c touch% ${world.witness}"`),
      submodule("two", "url = helper::there", "update = !touch x"),
    ];
    tree.write(".gitmodules", `${[plain, ...evil].join("\n")}\n`);
    const { commit, warnings } = await tree.commit({ n: 2 });
    const says = (name: string, value: string) =>
      `.gitmodules has ${value} for the submodule ${name}, which can make git run a program: look at it before you update submodules.`;
    assert.deepEqual(warnings, [
      says("one", `the url ext::sh -c touch% ${world.witness}`),
      says("two", "the url helper::there"),
      says("two", "the update !touch x"),
    ]);
    assert.equal(exists(world.witness), false);

    const later = await world.tree("card-2", commit);
    later.write("other.txt", "other\n");
    assert.deepEqual((await later.commit()).warnings, []);
    later.write(".gitmodules", "[submodule \n url = ext::x\n");
    assert.deepEqual((await later.commit({ n: 2 })).warnings, [
      ".gitmodules cannot be read by git: look at it before you update submodules.",
    ]);
  });

  it("keeps every name that a file can have, and takes none for an option or a pattern", async () => {
    using world = await openGitWorld();
    const tree = await world.tree("card-1", await resolveBase(world.repo, "HEAD"));
    const names = [
      "-x",
      "--upload-pack=touch x",
      "-",
      "new\nline",
      ":(top)all",
      ":",
      "*",
      "[a]",
      " ",
      "a b",
      "é",
      'quo"te',
      "back\\slash",
      "!not",
      "#not",
      "HEAD",
      "~",
      "@{1}",
      "-d/-y",
      "tab\tin",
      "\u202eleft",
    ];
    for (const name of names) tree.write(name, `${name}\n`);
    writeFileSync(Buffer.concat([Buffer.from(`${tree.dir}/`), Buffer.from([0xff, 0xfe, 0x41])]), "bytes\n");
    tree.write(".gitignore", "-ignored\n\\*.log\n!README.md\n");
    tree.write("-ignored", "x");
    tree.write("*.log", "x");

    const { commit, warnings } = await tree.commit();
    const kept = execFileSync("git", ["ls-tree", "-r", "-z", "--name-only", commit], { cwd: world.repo.store });
    const expected = [...names, ".gitignore", "README.md", "src/one.ts"].map((name) =>
      Buffer.from(name).toString("latin1"),
    );
    assert.deepEqual(kept.toString("latin1").split("\0").filter(Boolean).sort(), [...expected, "\xff\xfeA"].sort());
    const ignored = ["*.log", "-ignored"].map(
      (name) => `${name} is ignored by .gitignore and stays out of the commit.`,
    );
    assert.deepEqual(warnings, ignored);
    assert.deepEqual((await treeChangedPaths(world.repo, tree)).length, names.length + 2);
  });

  it("leaves out what any file system could take for .git", async () => {
    using world = await openGitWorld();
    const tree = await world.tree("card-1", await resolveBase(world.repo, "HEAD"));
    const names = [
      ".GIT",
      ".Git",
      "git~1",
      ".git.",
      ".git ",
      ".g\u200cit",
      "sub/.GIT",
      "GIT~1",
      ".git::$INDEX_ALLOCATION",
    ];
    for (const name of names) tree.write(`${name}/hooks/pre-commit`, "#!/bin/sh\n");
    tree.write(".github/workflow.yml", "on: push\n");
    tree.write(".gitkeep", "");
    tree.write("sub/kept.txt", "kept\n");

    const { commit, warnings } = await tree.commit();
    const kept = Object.keys(filesOf(world.repo, commit)).sort();
    assert.deepEqual(kept, [".github/workflow.yml", ".gitkeep", "README.md", "src/one.ts", "sub/kept.txt"]);
    assert.equal(warnings.length, 6);
    assert.equal(warnings.at(-1), "The same of 4 more.");
  });

  it("waits at no pipe, socket or device, and says that they are not in the commit", async () => {
    using world = await openGitWorld();
    const tree = await world.tree("card-1", await resolveBase(world.repo, "HEAD"));
    tree.write("deep/kept.txt", "kept\n");
    tree.write("deep/ignored.log", "x");
    tree.write(".gitignore", "*.log\n");
    for (const name of ["pipe", "deep/.gitignore", "deep/.gitattributes", ".gitattributes", "src/.gitignore"]) {
      execFileSync("mkfifo", [join(tree.dir, name)]);
    }
    rmSync(join(tree.dir, "README.md"));
    execFileSync("mkfifo", [join(tree.dir, "README.md")]);
    const server = createServer().listen(join(tree.dir, "socket"));
    try {
      const { commit, warnings } = await tree.commit();
      assert.deepEqual(Object.keys(filesOf(world.repo, commit)).sort(), [".gitignore", "deep/kept.txt", "src/one.ts"]);
      const left = [".gitattributes", "README.md", "pipe", "socket", "deep/.gitattributes"];
      assert.deepEqual(warnings, [
        ...left.map((name) => `${name} is no ordinary file and stays out of the commit.`),
        "The same of 2 more.",
        "deep/ignored.log is ignored by .gitignore and stays out of the commit.",
      ]);
    } finally {
      server.close();
    }
  });

  it("is taken whatever became of its .git", async () => {
    using world = await openGitWorld();
    const base = await resolveBase(world.repo, "HEAD");
    const changes: Record<string, (tree: Tree) => void> = {
      gone: ({ dir }) => rmSync(join(dir, ".git"), { recursive: true }),
      file: ({ dir, write }) => (
        renameSync(join(dir, ".git"), join(dir, "..", "moved")),
        write(".git", `gitdir: ${world.user}/.git\n`)
      ),
      link: ({ dir }) => (
        renameSync(join(dir, ".git"), join(dir, "..", "moved")),
        symlinkSync(join(world.user, ".git"), join(dir, ".git"))
      ),
      pipe: ({ dir }) => (rmSync(join(dir, ".git"), { recursive: true }), execFileSync("mkfifo", [join(dir, ".git")])),
      history: ({ dir }) => {
        gitIn(dir, "config", "core.worktree", world.user);
        gitIn(dir, "config", "core.bare", "false");
        gitIn(dir, "symbolic-ref", "HEAD", "refs/heads/-x");
      },
      commits: ({ dir }) => {
        gitIn(dir, "add", "-A");
        gitIn(dir, "commit", "--quiet", "-m", "the agent's own");
        gitIn(dir, "checkout", "--quiet", "--orphan", "elsewhere");
        gitIn(dir, "commit", "--quiet", "-m", "another root");
        gitIn(dir, "branch", "-D", "aa/commits");
      },
      alternates: ({ dir }) => rmSync(join(dir, ".git/objects"), { recursive: true }),
    };
    const before = fingerprint(world.user);
    for (const [slug, change] of Object.entries(changes)) {
      const tree = await world.tree(slug, base);
      tree.write("done.txt", `${slug}\n`);
      change(tree);
      const { commit } = await tree.commit();
      assert.deepEqual(filesOf(world.repo, commit), {
        "README.md": "hello",
        "done.txt": slug,
        "src/one.ts": "export const one = 1;",
      });
      assert.equal(gitIn(world.repo.store, "rev-parse", `${commit}^@`), base);
    }
    assert.deepEqual(fingerprint(world.user), before);
  });

  it("is taken though the agent took its own permissions away, and can be removed", async () => {
    using world = await openGitWorld();
    const tree = await world.tree("card-1", await resolveBase(world.repo, "HEAD"));
    tree.write("closed/file.txt", "kept\n");
    chmodSync(join(tree.dir, "closed/file.txt"), 0);
    chmodSync(join(tree.dir, "closed"), 0);
    chmodSync(join(tree.dir, "src"), 0o500);
    const { commit } = await tree.commit();
    assert.equal(filesOf(world.repo, commit)["closed/file.txt"], "kept");
    chmodSync(join(tree.dir, "closed"), 0);
    await removeTree(tree.dir);
    assert.equal(exists(tree.dir), false);
  });

  it("is refused in one sentence when it is gone, replaced by a link, or endlessly deep", async () => {
    using world = await openGitWorld();
    const tree = await world.tree("card-1", await resolveBase(world.repo, "HEAD"));
    mkdirSync(join(tree.dir, ...Array<string>(300).fill("d")), { recursive: true });
    await assert.rejects(tree.commit(), new TreeRefused("The tree has folders more than 200 deep."));
    renameSync(tree.dir, `${tree.dir}-away`);
    await assert.rejects(tree.commit(), TreeRefused);
    symlinkSync(world.user, tree.dir);
    await assert.rejects(tree.commit(), new TreeRefused("The tree is gone, or is no folder any more."));
    await assert.rejects(snapshot(world.repo, { ...tree, n: 1 }), TreeRefused);
  });

  it("keeps its submodules as the start commit has them", async () => {
    using world = await openGitWorld();
    const library = join(world.folder, "library");
    mkdirSync(library);
    gitIn(library, "init", "--quiet");
    gitIn(library, "commit", "--quiet", "--allow-empty", "-m", "library");
    world.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", library, "vendor/library");
    world.git("commit", "--quiet", "-m", "with a submodule");
    const recorded = world.git("rev-parse", "HEAD:vendor/library");
    const tree = await world.tree("card-1", await resolveBase(world.repo, "HEAD"));
    const inside = join(tree.dir, "vendor/library");
    gitIn(inside, "init", "--quiet");
    gitIn(inside, "commit", "--quiet", "--allow-empty", "-m", "moved on");
    put(inside, "more.txt", "more\n");
    plant(world, join(inside, ".git"));
    tree.write("vendor/own.txt", "own\n");

    const { commit, warnings } = await tree.commit();
    assert.deepEqual(warnings, [
      "vendor/library is a submodule: the files that the agent's folder has in it stay out of the commit.",
    ]);
    assert.equal(gitIn(world.repo.store, "rev-parse", `${commit}:vendor/library`), recorded);
    assert.equal(gitIn(world.repo.store, "diff-tree", "-r", "--name-only", tree.start, commit), "vendor/own.txt");
    rmSync(inside, { recursive: true });
    tree.write("vendor/library", "now a file\n");
    const { commit: second, warnings: more } = await tree.commit({ n: 2 });
    assert.deepEqual(more, [
      "vendor/library is a submodule that the agent removed or replaced: the commit still has it.",
    ]);
    assert.equal(gitIn(world.repo.store, "rev-parse", `${second}:vendor/library`), recorded);
    assert.equal(exists(world.witness), false);
  });

  it("is taken byte for byte where it is not in the encoding that its attributes name", async () => {
    using world = await openGitWorld();
    const tree = await world.tree("card-1", await resolveBase(world.repo, "HEAD"));
    tree.write(".gitattributes", "*.txt working-tree-encoding=UTF-16\n*.sh working-tree-encoding=no-such\n*.md text\n");
    tree.write("a.txt", "no byte order mark\n");
    tree.write("run.sh", "#!/bin/sh\n");
    tree.write("other.md", "a\r\n");
    chmodSync(join(tree.dir, "run.sh"), 0o755);
    symlinkSync("a.txt", join(tree.dir, "link.txt"));

    const { commit, warnings } = await tree.commit();
    const said = "is not in the encoding that .gitattributes names, and was taken as it is.";
    assert.deepEqual(
      warnings,
      ["a.txt", "link.txt", "run.sh"].map((name) => `${name} ${said}`),
    );
    const files = filesOf(world.repo, commit);
    assert.deepEqual([files["a.txt"], files["link.txt"], files["other.md"]], ["no byte order mark", "a.txt", "a"]);
    assert.match(gitIn(world.repo.store, "ls-tree", commit, "run.sh"), /^100755 /);
    assert.match(gitIn(world.repo.store, "ls-tree", commit, "link.txt"), /^120000 /);
  });
});

/** Everything in a repository's own folder that makes git start a program. */
function plant({ folder, witness }: GitWorld, gitDir: string): void {
  const evil = join(folder, "evil");
  put(folder, "evil", `#!/bin/sh\necho "$0 $@" >> ${witness}\nexit 1\n`, 0o755);
  for (const hook of ["pre-commit", "post-index-change", "reference-transaction", "post-checkout"]) {
    put(gitDir, `hooks/${hook}`, `#!/bin/sh\necho ${hook} >> ${witness}\nexit 1\n`, 0o755);
  }
  for (const [name, value] of [
    ["core.fsmonitor", evil],
    ["core.alternateRefsCommand", evil],
    ["filter.evil.clean", evil],
    ["filter.evil.smudge", evil],
    ["filter.evil.required", "true"],
    ["diff.evil.textconv", evil],
    ["diff.evil.command", evil],
    ["diff.external", evil],
    ["merge.evil.driver", evil],
    ["alias.add", `!${evil}`],
  ] as const) {
    execFileSync("git", ["config", "--file", join(gitDir, "config"), name, value]);
  }
}
