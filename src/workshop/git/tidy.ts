import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { syncNames } from "../../lib/files/durable-files.ts";
import type { OldRefs } from "../../tasks/model/keep-work.ts";
import { attemptRef } from "./commit.ts";
import { dropRef } from "./read.ts";
import { type Repository, RepositoryTrouble } from "./repository.ts";
import { git, GitFailure, gitText } from "./run.ts";

/** `refs/aa/<slug>/<n>-wip`, and the former values of it that `takeRef` kept. */
const WIP = /^refs\/aa\/([^/]+)\/\d+-wip\d*(?:-[0-9a-f]{12})?$/;

/**
 * Unfinished work that is old, and commits that were rejected long ago, have no name any more: neither in the store nor in
 * the user's repository, where a name that stands for something else stays (spec/assignment 4 and 12).
 * Returns how many went.
 */
export async function sweepRefs(repo: Repository, { busy, rejected, wipMs }: OldRefs): Promise<number> {
  const before = (repo.clock.now() - wipMs) / 1000;
  const format = "--format=%(committerdate:unix) %(refname)";
  const output = await gitText(["for-each-ref", format, "refs/aa/"], { gitDir: repo.store });
  const known = output.split("\n").flatMap((line) => {
    const [at = "", ref = ""] = line.split(" ");
    return ref === "" ? [] : [{ at: Number(at), ref }];
  });
  const unwanted = new Set(rejected.filter(({ slug }) => !busy.has(slug)).map(({ slug, n }) => attemptRef(slug, n)));
  let gone = 0;
  for (const { at, ref } of known) {
    const slug = WIP.exec(ref)?.[1];
    const isOld = slug !== undefined && !busy.has(slug) && at <= before;
    if (!isOld && !unwanted.has(ref)) continue;
    try {
      await dropRef(repo, ref);
      gone += 1;
    } catch (error) {
      // The user's repository may be away, or not to be written; it stays in both then.
      if (!(error instanceof GitFailure || error instanceof RepositoryTrouble)) throw error;
    }
  }
  return gone;
}

/** As git's own: more than so many objects in files of their own, or packs, are put together. */
const MOST_LOOSE = 6700;
const MOST_PACKS = 50;
/** A git that was killed leaves the pack it was writing. */
const LEFTOVER_MS = 86_400_000;
const PACK_WITHIN_MS = 6 * 3_600_000;

interface PackOptions {
  mostLoose?: number;
  mostPacks?: number;
  /** Stopped halfway, everything stays as it was. */
  signal?: AbortSignal;
}

/**
 * Packs a store of many files into few, which hold every object of the many: also objects without a ref, because trees
 * of live attempts borrow them. A process that reads meanwhile finds each object in the old or the new files. Returns
 * whether there was anything to do.
 */
export async function packStore(
  repo: Repository,
  { mostLoose = MOST_LOOSE, mostPacks = MOST_PACKS, signal }: PackOptions = {},
): Promise<boolean> {
  const gitDir = repo.store;
  await removeLeftovers(repo);
  const output = await gitText(["count-objects", "-v"], { gitDir });
  const count = (name: string) => Number(new RegExp(`^${name}: (\\d+)$`, "m").exec(output)?.[1] ?? 0);
  if (count("count") <= mostLoose && count("packs") <= mostPacks) return false;
  // By size, and never by what can be reached: that alone loses nothing.
  await git(["repack", "--geometric=2", "-d", "-q", "-n"], {
    gitDir,
    timeoutMs: PACK_WITHIN_MS,
    ...(signal && { signal }),
  });
  await repo.inTurn(async () => {
    // No ref loses its own file before the name of the file that holds them all survives a loss of power.
    await git(["pack-refs", "--all", "--no-prune"], { gitDir });
    await syncNames(gitDir);
    await git(["pack-refs", "--all"], { gitDir });
  });
  return true;
}

async function removeLeftovers({ store, clock }: Repository): Promise<void> {
  const folder = join(store, "objects", "pack");
  for (const name of await readdir(folder).catch(() => [])) {
    if (!/^(?:\.tmp-|tmp_)/.test(name)) continue;
    const found = await stat(join(folder, name)).catch(() => null);
    if (found && found.mtimeMs <= clock.now() - LEFTOVER_MS) await rm(join(folder, name), { force: true });
  }
}
