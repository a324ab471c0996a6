import { attemptRef } from "./commit.ts";
import { checkedOutAt } from "./publish.ts";
import { moveRef, removeRef, valueOfRef } from "./refs.ts";
import type { Repository } from "./repository.ts";

/**
 * What an attempt published that was not to land any more is gone from the user's repository: its ref, and the branch
 * where it stands for nothing else yet. It is there still in the store.
 */
export async function unpublish(
  repo: Repository,
  { slug, n, last }: { slug: string; n: number; last: string | null },
): Promise<void> {
  const { gitDir } = repo;
  const ref = attemptRef(slug, n);
  const commit = await valueOfRef(repo.store, ref);
  if (gitDir === null || commit === null) return;
  await repo.inTurn(async () => {
    const branch = `refs/heads/${repo.branchPrefix}${slug}`;
    const isOurs = (await valueOfRef(gitDir, branch)) === commit && (await checkedOutAt(repo, branch)) === null;
    if (isOurs && last === null) await removeRef(repo, gitDir, branch, commit);
    else if (isOurs && last !== null) await moveRef(repo, gitDir, branch, { from: commit, to: last });
    if ((await valueOfRef(gitDir, ref)) === commit) await removeRef(repo, gitDir, ref, commit);
  });
}
