import type { Attempt } from "../tasks/model/task.ts";
import type { WorkshopContext } from "./workshop-context.ts";
import { AttemptLost, type AttemptClient } from "./attempt-client.ts";
import { endSupervisor } from "./follow.ts";
import { killAttempt } from "./supervisor/start.ts";

/**
 * Ends an attempt in a repository that the settings no longer name. Its processes are killed. Its task fails with the
 * reason, or ends as it was to end. The work stays in its folder.
 */
export async function endWithoutRepository(
  workshop: WorkshopContext,
  { attemptId, repo, state, folder }: Pick<Attempt, "attemptId" | "repo" | "state"> & { folder: string },
  client: AttemptClient,
): Promise<void> {
  await endSupervisor(workshop, folder);
  const { survivors } = await killAttempt(attemptId, workshop);
  if (state === "ending" || survivors.length > 0) return client.ended({ wip: null, survivors });
  try {
    await client.failed(`there is no repository called ${repo} in the settings any more`, { wip: null });
  } catch (error) {
    if (!(error instanceof AttemptLost)) throw error;
    await client.ended({ wip: null, survivors });
  }
}
