import type { Attempt } from "../tasks/model/task.ts";
import type { Bench } from "./bench.ts";
import { AttemptLost, type Desk } from "./desk.ts";
import { endSupervisor } from "./follow.ts";
import { killAttempt } from "./supervise.ts";

/**
 * Ends an attempt in a repository that the settings name no more, which nobody could look after: its processes are killed,
 * and its task fails and says why, or is over as it was to be. What was done stays in its folder.
 */
export async function endWithoutRepository(
  bench: Bench,
  { attemptId, repo, state, folder }: Pick<Attempt, "attemptId" | "repo" | "state"> & { folder: string },
  desk: Desk,
): Promise<void> {
  await endSupervisor(bench, folder);
  const { survivors } = await killAttempt(attemptId, bench);
  if (state === "ending" || survivors.length > 0) return desk.ended({ wip: null, survivors });
  try {
    await desk.failed(`there is no repository called ${repo} in the settings any more`, { wip: null });
  } catch (error) {
    if (!(error instanceof AttemptLost)) throw error;
    await desk.ended({ wip: null, survivors });
  }
}
