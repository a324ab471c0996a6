import { attemptRef } from "./commit.ts";
import { checkedOutAt } from "./publish.ts";
import { moveRef, removeRef, valueOfRef } from "./refs.ts";
import type { Repository } from "./repository.ts";

/**
 * Removes from the user's repository the work of an attempt that was ended after it had published: its ref, and its
 * branch as long as the branch still names that commit. The store keeps the work.
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
