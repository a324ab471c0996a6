import { isObjectName, type Repository } from "./repository.ts";
import { git, GitFailure, gitInto } from "./run.ts";

/** As `git fetch` does: few objects are kept each in a file of its own, many in one pack. */
const FEW_OBJECTS = 100;
/** "PACK", version, number of objects. */
const PACK_HEAD_BYTES = 12;

/**
 * Whatever a commit holds is in the repository `to`, and on disk. It goes as one pack from one git to the other: a fetch
 * would obey what the user's repository says of remotes, addresses and programs.
 *
 * @throws {GitFailure} also when `from` lacks something that the commit holds
 */
export async function carryObjects(from: string, to: string, commit: string): Promise<void> {
  const known = await sharedCommits(from, to);
  try {
    await carry(from, to, commit, known);
  } catch (error) {
    // A shallow receiver does not have all that its refs stand for.
    if (!(error instanceof GitFailure) || known.length === 0) throw error;
    await carry(from, to, commit, []);
  }
}

async function carry(from: string, to: string, commit: string, known: readonly string[]): Promise<void> {
  await gitInto(
    {
      args: ["pack-objects", "--revs", "--stdout", "--quiet", "--delta-base-offset"],
      call: { gitDir: from, input: `${commit}\n--not\n${known.join("\n")}\n` },
    },
    (head) => ({ args: takingPack(head), call: { gitDir: to } }),
    PACK_HEAD_BYTES,
  );
  await checkConnected(to, commit);
}

/** Returns the arguments of the git that takes a pack in. */
function takingPack(head: Buffer): string[] {
  const objects = head.toString("latin1", 0, 4) === "PACK" ? head.readUInt32BE(8) : FEW_OBJECTS;
  return objects < FEW_OBJECTS ? ["unpack-objects", "-q"] : ["index-pack", "--stdin"];
}

/** Everything that a commit holds is there, as far as nothing else in the repository holds it. @throws {GitFailure} */
export async function checkConnected(gitDir: string, commit: string): Promise<void> {
  await git(["rev-list", "--objects", "--quiet", commit, "--not", "--all"], { gitDir });
}

/** Returns whether an object of this name and kind is there. */
export async function hasCommit(gitDir: string, commit: string): Promise<boolean> {
  return isObjectName(commit) && (await commitsThere(gitDir, [commit])).length > 0;
}

/** Returns the time of a commit, in seconds. */
export async function timeOfCommit(repo: Repository, commit: string): Promise<number> {
  const { stdout } = await git(["cat-file", "commit", commit], { gitDir: repo.store });
  const committer = /^committer .*> (\d+) [+-]\d{4}$/m.exec(stdout.toString("utf8"));
  return Number(committer?.[1] ?? 0);
}

/** Returns the commits that refs of the receiver name and the sender has too: they need not be sent again. */
async function sharedCommits(from: string, to: string): Promise<string[]> {
  const { stdout } = await git(["for-each-ref", "--format=%(objectname) %(*objectname)"], { gitDir: to });
  const names = new Set(stdout.toString("latin1").split(/\s+/).filter(isObjectName));
  return commitsThere(from, [...names]);
}

async function commitsThere(gitDir: string, names: readonly string[]): Promise<string[]> {
  if (names.length === 0) return [];
  const { stdout } = await git(["cat-file", "--batch-check=%(objectname) %(objecttype)"], {
    gitDir,
    input: `${names.join("\n")}\n`,
  });
  return stdout
    .toString("latin1")
    .split("\n")
    .flatMap((line) => (line.endsWith(" commit") ? [line.slice(0, line.indexOf(" "))] : []));
}
