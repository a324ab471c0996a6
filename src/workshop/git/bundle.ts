/** Bundles carry commits between a worker elsewhere and the server (spec/assignment 13). */
import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import { checkConnected, hasCommit } from "./objects.ts";
import { keepRef, removeRef, valueOfRef } from "./refs.ts";
import { isObjectName, type Repository, RepositoryTrouble } from "./repository.ts";
import { git, GitFailure } from "./run.ts";

const MOST_HEAD_BYTES = 1024 * 1024;
const MOST_BUNDLE_BYTES = 5 * 1024 ** 3;

/** The file holds everything that `to` has and `from` does not. */
export async function bundle(
  repo: Repository,
  { from, to, file }: { from: string | null; to: string; file: string },
): Promise<void> {
  if (!isObjectName(to) || (from !== null && !isObjectName(from))) throw new Error("not the name of a commit");
  const ref = `refs/parley/bundle/${to}`;
  await repo.inTurn(async () => {
    await keepRef(repo, repo.store, ref, to);
    try {
      const besides = from === null ? [] : [`^${from}`];
      await git(["bundle", "create", "--quiet", file, ref, ...besides], { gitDir: repo.store });
    } finally {
      await removeRef(repo, repo.store, ref, to);
    }
  });
}

/**
 * The store holds the commit of a bundle, whole and with every object checked, and `ref` stands for it. The bundle is
 * somebody else's: it may name what it likes, and only this commit counts.
 *
 * @throws {RepositoryTrouble} when it does not hold that commit, builds on what is not here, or is broken
 */
export async function takeBundle(
  repo: Repository,
  {
    file,
    ref,
    commit,
    mostBytes = MOST_BUNDLE_BYTES,
  }: { file: string; ref: string; commit: string; mostBytes?: number },
): Promise<void> {
  if (!/^refs\/(?:aa|parley)\/[\w./-]+$/.test(ref) || !isObjectName(commit))
    throw new Error("not a ref of Parley's own");
  if ((await valueOfRef(repo.store, ref)) === commit) return;
  const head = await headOf(file);
  if (!head.commits.includes(commit)) throw new RepositoryTrouble(`The bundle does not hold ${commit}.`);
  for (const needed of head.needs) {
    if (await hasCommit(repo.store, needed)) continue;
    throw new RepositoryTrouble(`The bundle builds on ${needed}, which the store of ${repo.name} does not have.`);
  }
  await repo.inTurn(async () => {
    try {
      await git(["index-pack", "--stdin", "--fix-thin", "--strict", `--max-input-size=${mostBytes}`], {
        gitDir: repo.store,
        input: createReadStream(file, { start: head.bytes }),
      });
      if (!(await hasCommit(repo.store, commit))) throw new RepositoryTrouble(`${commit} is no commit.`);
      await checkConnected(repo.store, commit);
      await keepRef(repo, repo.store, ref, commit);
    } catch (error) {
      if (!(error instanceof GitFailure)) throw error;
      throw new RepositoryTrouble(`The bundle with ${commit} could not be taken: ${error.message}`);
    }
  });
}

interface BundleHead {
  /** Where the pack begins. */
  bytes: number;
  needs: string[];
  commits: string[];
}

/** Git itself would check a bundle's objects only from some version on, so the pack is handed over by itself. */
async function headOf(file: string): Promise<BundleHead> {
  const opened = await open(file, "r");
  let text: string;
  try {
    const { bytesRead, buffer } = await opened.read(Buffer.alloc(MOST_HEAD_BYTES), 0, MOST_HEAD_BYTES, 0);
    text = buffer.toString("latin1", 0, bytesRead);
  } finally {
    await opened.close();
  }
  const end = text.indexOf("\n\n");
  const [signature = "", ...lines] = text.slice(0, Math.max(end, 0)).split("\n");
  if (!/^# v[23] git bundle$/.test(signature) || lines.some((line) => line.startsWith("@filter"))) {
    throw new RepositoryTrouble("This is no git bundle that can be taken.");
  }
  const [needs, commits]: [string[], string[]] = [[], []];
  for (const line of lines) {
    const [name = ""] = line.replace(/^-/, "").split(" ");
    if (isObjectName(name)) (line.startsWith("-") ? needs : commits).push(name);
  }
  return { bytes: end + 2, needs, commits };
}
