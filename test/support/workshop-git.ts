import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  writeFileSync,
} from "node:fs";
import { readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { commitTree, type CommitInput, type CommittedTree } from "../../src/workshop/git/commit.ts";
import { makeTree } from "../../src/workshop/git/tree.ts";
import { openRepository, type Repository, type RepositorySettings } from "../../src/workshop/git/repository.ts";

/** A repository of somebody's with a store of ours beside it, in a folder that goes when the test is over. */
export interface GitWorld {
  folder: string;
  /** The user's checkout. */
  user: string;
  repo: Repository;
  /** A file that a hook, filter or other planted program would make. */
  witness: string;
  git(...args: string[]): string;
  open(changes?: Partial<RepositorySettings>): Promise<Repository>;
  /** A tree with the start commit, and a function that commits what is in it. */
  tree(slug: string, start: string): Promise<Tree>;
  [Symbol.dispose](): void;
}

export interface Tree {
  dir: string;
  slug: string;
  start: string;
  indexFile: string;
  write(path: string, text: string | Buffer): void;
  commit(changes?: Partial<CommitInput>): Promise<CommittedTree>;
}

const ENV = {
  PATH: process.env.PATH,
  HOME: "/nonexistent",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_AUTHOR_NAME: "ana",
  GIT_AUTHOR_EMAIL: "ana@localhost",
  GIT_COMMITTER_NAME: "ana",
  GIT_COMMITTER_EMAIL: "ana@localhost",
};

/** Runs the user's own git, with all that the repository's configuration says. */
export function gitIn(dir: string, ...args: string[]): string {
  return execFileSync("git", args, {
    cwd: dir,
    env: ENV,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  }).trimEnd();
}

export function put(dir: string, path: string, text: string | Buffer, mode?: number): void {
  mkdirSync(dirname(join(dir, path)), { recursive: true });
  writeFileSync(join(dir, path), text);
  if (mode !== undefined) chmodSync(join(dir, path), mode);
}

export async function openGitWorld({ init = [] as string[] } = {}): Promise<GitWorld> {
  const folder = mkdtempSync(join(tmpdir(), "parley-git-"));
  const user = join(folder, "user");
  mkdirSync(user);
  gitIn(user, "init", "--quiet", "-b", "main", ...init);
  put(user, "README.md", "hello\n");
  put(user, "src/one.ts", "export const one = 1;\n");
  gitIn(user, "add", "-A");
  gitIn(user, "commit", "--quiet", "-m", "begin");
  const open = (changes: Partial<RepositorySettings> = {}) =>
    openRepository({
      name: "shop",
      path: user,
      storeDir: join(folder, "data", "store.git"),
      branchPrefix: "aa/",
      committer: "Parley <parley@localhost>",
      author: "Parley <parley@localhost>",
      ...changes,
    });
  const repo = await open();
  return {
    folder,
    user,
    repo,
    witness: join(folder, "witness"),
    git: (...args) => gitIn(user, ...args),
    open,
    async tree(slug, start) {
      const dir = join(folder, "attempts", slug, "tree");
      const indexFile = join(folder, "attempts", slug, "index");
      await makeTree(repo, { dir, slug, start, include: null });
      return {
        dir,
        slug,
        start,
        indexFile,
        write: (path, text) => put(dir, path, text),
        commit: (changes = {}) =>
          commitTree(repo, { dir, indexFile, start, slug, n: 1, message: `work of ${slug}\n`, ...changes }),
      };
    },
    [Symbol.dispose]() {
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Returns the files of a commit in the store, with their texts. */
export function filesOf(repo: Repository, commit: string): Record<string, string> {
  const names = gitIn(repo.store, "ls-tree", "-r", "-z", "--name-only", commit).split("\0").filter(Boolean);
  return Object.fromEntries(names.map((name) => [name, gitIn(repo.store, "cat-file", "blob", `${commit}:${name}`)]));
}

/** Returns every file, link and folder below a folder with a hash of its content, but for what `leaves` out. */
export function fingerprint(dir: string, leaves: (path: string) => boolean = () => false): Record<string, string> {
  const found: Record<string, string> = {};
  const walk = (path: string): void => {
    for (const name of readdirSync(join(dir, path))) {
      const at = path === "" ? name : `${path}/${name}`;
      if (leaves(at)) continue;
      const { mode, mtimeMs } = lstatSync(join(dir, at));
      const kind = mode.toString(8);
      if (lstatSync(join(dir, at)).isDirectory()) {
        found[at] = kind;
        walk(at);
      } else if (lstatSync(join(dir, at)).isSymbolicLink()) {
        found[at] = `${kind} ${readlinkSync(join(dir, at))}`;
      } else {
        const bytes = readFileSync(join(dir, at));
        found[at] = `${kind} ${mtimeMs} ${createHash("sha256").update(bytes).digest("hex")}`;
      }
    }
  };
  walk("");
  return found;
}

export const exists = existsSync;
