import type { Context } from "../context.ts";
import { appendTaskEvents } from "../store/aa-events.ts";
import { findTaskMemory, listReviewed, lockTask, updateTask } from "../store/aa-tasks.ts";
import { transact } from "../store/transact.ts";

/** Reviewed work of which something is still to be done in git. */
export interface SettledWork {
  repo: string;
  id: string;
  slug: string;
  generation: number;
  n: number;
  commit: string;
  is: "approve" | "reject";
}

const AT_ONCE = 20;

/** Returns work that was approved or rejected, and is not as that says in git yet: in these repositories. */
export async function listSettled(
  ctx: Pick<Context, "db">,
  { repos }: { repos: readonly string[] },
): Promise<SettledWork[]> {
  const settled: SettledWork[] = [];
  for (const { repo, id, slug, generation } of await listReviewed(ctx.db, repos, AT_ONCE)) {
    const after = (await findTaskMemory(ctx.db, repo, id))?.after;
    if (after) settled.push({ repo, id, slug, generation, n: after.attempt, commit: after.commit, is: after.is });
  }
  return settled;
}

/** It is, and the task's events say what a person should know. */
export async function noteSettled(
  ctx: Pick<Context, "db" | "wake">,
  { repo, id, n, commit }: SettledWork,
  told: { message: string; command?: string },
): Promise<void> {
  await transact(ctx, async (tx) => {
    const task = await lockTask(tx, repo, id);
    const after = task && (await findTaskMemory(tx, repo, id))?.after;
    if (!task || after?.commit !== commit) return;
    await updateTask(tx, task, { after: null });
    if (told.message !== "") await appendTaskEvents(tx, repo, id, n, [{ type: "git", data: { ...told } }]);
  });
}
