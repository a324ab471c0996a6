import { hasCommit, timeOfCommit } from "./objects.ts";
import { keepRef, valueOfRef } from "./refs.ts";
import { isObjectName, type Repository, RepositoryTrouble, signed } from "./repository.ts";
import { git, GitFailure, gitText } from "./run.ts";

/** The commits that an attempt begins with. */
export interface StartInput {
  base: string;
  /** In topological order, then in that of submission. */
  dependencies: readonly { id: string; commit: string }[];
  /** The id of the task it is for. */
  forTask: string;
}

/** Dependencies that git cannot merge by itself. */
export interface Conflict {
  kind: "conflict";
  /** The paths that conflict, relative to the top of the tree. */
  paths: string[];
  /** Git's words about it. */
  messages: string;
  /** The merge as far as it came, with conflict markers. */
  tree: string;
  parents: [string, string];
  input: StartInput;
}

export type Start = { kind: "start"; commit: string } | Conflict;

/** A start with conflict markers in it, and the files in which none may be left. */
export interface MarkedStart {
  commit: string;
  markersIn: string[];
}

/**
 * Returns the commit that an attempt starts from: the base, the one dependency that holds everything, or a merge that is
 * made in the store without a working tree (spec/assignment 4.4). The same input always gives the same commit.
 */
export async function startCommit(repo: Repository, input: StartInput): Promise<Start> {
  const folded = await repo.inTurn(() => fold(repo, input, false));
  return folded.conflict ?? { kind: "start", commit: folded.commit };
}

/**
 * Returns a start for an agent that resolves the conflict: one merge of all it builds on, as git left it, conflict markers
 * and all. It stays in the store: what the agent leaves becomes the one commit that merges the same commits, so that all
 * dependencies are its ancestors and no commit that is published holds a marker.
 */
export async function startWithMarkers(repo: Repository, conflict: Pick<Conflict, "input">): Promise<MarkedStart> {
  const { commit, markersIn } = await repo.inTurn(() => fold(repo, conflict.input, true));
  return { commit, markersIn };
}

interface Folded {
  commit: string;
  markersIn: string[];
  conflict: Conflict | null;
}

async function fold(repo: Repository, input: StartInput, isMarked: boolean): Promise<Folded> {
  for (const commit of [input.base, ...input.dependencies.map((one) => one.commit)]) {
    if (await hasCommit(repo.store, commit)) continue;
    throw new RepositoryTrouble(`The store of ${repo.name} has no commit ${commit}.`);
  }
  const [first, ...others] = await independent(repo, input);
  if (!first) throw new Error("a start has a base at least");
  let commit = first.commit;
  let tree = "";
  const merged = first.id === null ? [] : [first.id];
  const markersIn = new Set<string>();
  for (const { id, commit: next } of others) {
    const done = await mergeTrees(repo, commit, next);
    const parents: [string, string] = [commit, next];
    if (done.paths.length > 0 && !isMarked) {
      const conflict: Conflict = { kind: "conflict", ...done, parents, input };
      return { commit, markersIn: [], conflict };
    }
    if (id !== null) merged.push(id);
    for (const path of done.paths) markersIn.add(path);
    commit = await mergeCommit(repo, { tree: done.tree, parents }, merged, input.forTask);
    tree = done.tree;
  }
  if (markersIn.size > 0) {
    const all = [first, ...others].map((one) => one.commit);
    commit = await mergeCommit(repo, { tree, parents: all }, merged, input.forTask);
    await keepRef(repo, repo.store, markedRef(commit), commit);
  } else if (others.length > 0) await keepRef(repo, repo.store, `refs/parley/start/${commit}`, commit);
  return { commit, markersIn: [...markersIn], conflict: null };
}

const markedRef = (commit: string): string => `refs/parley/marked/${commit}`;

/**
 * Returns the parents of an attempt's commit: the commit that it started from, or, if that has conflict markers in it,
 * the commits that it merges.
 */
export async function parentsOnTopOf(repo: Repository, start: string): Promise<readonly string[]> {
  if ((await valueOfRef(repo.store, markedRef(start))) === null) return [start];
  return (await gitText(["rev-parse", `${start}^@`], { gitDir: repo.store })).split("\n");
}

/**
 * Returns the commits to merge, each once and without ancestors of another. The base comes first, unless a dependency
 * contains it.
 */
async function independent(repo: Repository, input: StartInput): Promise<{ id: string | null; commit: string }[]> {
  const all = [{ id: null, commit: input.base }, ...input.dependencies];
  const kept: { id: string | null; commit: string }[] = [];
  for (const [at, one] of all.entries()) {
    let isHeld = all.slice(at + 1).some((other) => other.commit === one.commit);
    for (const other of all) {
      if (isHeld) break;
      isHeld = other.commit !== one.commit && (await isAncestor(repo, one.commit, other.commit));
    }
    if (!isHeld) kept.push(one);
  }
  return kept;
}

/** Returns whether everything in one commit's history is in another's. */
export async function isAncestor(repo: Repository, one: string, other: string): Promise<boolean> {
  const args = ["merge-base", "--is-ancestor", one, other];
  return (await git(args, { gitDir: repo.store, allow: [1] })).code === 0;
}

/** The result of a merge; `paths` are those that conflict. */
export interface Merged {
  tree: string;
  paths: string[];
  messages: string;
}

/** Returns the tree of two commits merged in the store; no working tree and no driver takes part. */
export async function mergeTrees(repo: Repository, ours: string, theirs: string): Promise<Merged> {
  const args = ["merge-tree", "--write-tree", "-z", "--name-only", "--messages", "--allow-unrelated-histories"];
  const { code, stdout, stderr } = await git([...args, ours, theirs], { gitDir: repo.store, allow: [1] });
  const [tree = "", ...fields] = stdout.toString("utf8").split("\0");
  if (!isObjectName(tree)) throw new GitFailure(args, code, stderr);
  if (code === 0) return { tree, paths: [], messages: "" };
  const end = fields.indexOf("");
  // A conflict that names no file, as of two submodules, is one all the same.
  const named = [...new Set(fields.slice(0, end === -1 ? undefined : end))];
  const messages = messagesIn(end === -1 ? [] : fields.slice(end + 1));
  return { tree, paths: named.length === 0 ? ["."] : named, messages };
}

/** Each message stands after the number of its paths, the paths, and its kind. */
function messagesIn(fields: readonly string[]): string {
  const words: string[] = [];
  for (let at = 0; at < fields.length;) {
    const paths = Number(fields[at]);
    const text = fields[at + paths + 2];
    if (fields[at] === "" || !Number.isInteger(paths) || text === undefined) break;
    words.push(text.trimEnd());
    at += paths + 3;
  }
  return words.join("\n");
}

async function mergeCommit(
  repo: Repository,
  { tree, parents }: { tree: string; parents: readonly string[] },
  merged: readonly string[],
  forTask: string,
): Promise<string> {
  const times = await Promise.all(parents.map((parent) => timeOfCommit(repo, parent)));
  return gitText(["commit-tree", tree, ...parents.flatMap((parent) => ["-p", parent]), "-F", "-"], {
    gitDir: repo.store,
    // As late as the newest parent and never the present: repeated after a crash, it is the same commit.
    env: signed(repo, Math.max(...times)),
    input: `Merge dependencies ${merged.map(encodeURIComponent).join(", ")} for ${encodeURIComponent(forTask)}\n`,
  });
}
