import type { Context } from "../context.ts";
import { listAttempts } from "./store/attempts.ts";
import { appendTaskEvents } from "./store/events.ts";
import { findTaskMemory, listReviewed, lockTask, updateTask } from "./store/tasks.ts";
import { transact } from "../core/store/transact.ts";

/** Reviewed work of which something is still to be done in git. */
export interface SettledWork {
  repo: string;
  id: string;
  slug: string;
  generation: number;
  n: number;
  commit: string;
  kind: "approve" | "reject";
}

const AT_ONCE = 20;
/** Of workers elsewhere: one that never comes back leaves what it did unsettled. */
const AT_ONCE_ELSEWHERE = 500;

/** Returns work that was approved or rejected, and is not as that says in git yet: in these repositories. */
export async function listSettled(
  ctx: Pick<Context, "db">,
  { repos, atOnce = AT_ONCE }: { repos: readonly string[]; atOnce?: number },
): Promise<SettledWork[]> {
  const settled: SettledWork[] = [];
  for (const { repo, id, slug, generation } of await listReviewed(ctx.db, repos, atOnce)) {
    const after = (await findTaskMemory(ctx.db, repo, id))?.after;
    if (after) settled.push({ repo, id, slug, generation, n: after.attempt, commit: after.commit, kind: after.kind });
  }
  return settled;
}

/** Returns the same of what one worker elsewhere did, in whose repository the commits are. */
export async function listSettledOf(
  ctx: Pick<Context, "db">,
  { repo, holder }: { repo: string; holder: string },
): Promise<SettledWork[]> {
  const all = await listSettled(ctx, { repos: [repo], atOnce: AT_ONCE_ELSEWHERE });
  const isTheirs = await Promise.all(all.map((work) => didWork(ctx.db, work, holder)));
  return all.filter((_, i) => isTheirs[i]);
}

async function didWork(on: Context["db"], { repo, id, n }: SettledWork, holder: string): Promise<boolean> {
  return (await listAttempts(on, repo, id)).some((attempt) => attempt.n === n && attempt.holder === holder);
}

/** It is, and the task's events say what a person should know. */
export async function noteSettled(
  ctx: Pick<Context, "db" | "wake">,
  { repo, id, n, commit }: Pick<SettledWork, "repo" | "id" | "n" | "commit">,
  conflict: { message: string; command?: string | undefined },
): Promise<void> {
  await transact(ctx, async (tx) => {
    const task = await lockTask(tx, repo, id);
    const after = task && (await findTaskMemory(tx, repo, id))?.after;
    if (!task || after?.commit !== commit) return;
    await updateTask(tx, task, { after: null });
    if (conflict.message !== "")
      await appendTaskEvents(tx, { repo, id, attempt: n }, [{ type: "git", data: { ...conflict } }]);
  });
}
