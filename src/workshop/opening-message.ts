import { changesMessage, firstMessage } from "../tasks/model/message.ts";
import { agentNamed, type WorkshopContext } from "./workshop-context.ts";
import type { TaskRun } from "./attempt-client.ts";
import { contextOf } from "./diff-context.ts";
import { diff, readAt } from "./git/read.ts";
import type { Repository } from "./git/repository.ts";

const PROJECT_NOTES = ["AGENTS.md", "CLAUDE.md"];

interface Opening {
  readonly workshop: WorkshopContext;
  readonly work: TaskRun;
  readonly repo: Repository;
  /** The commit that the work began from. */
  readonly start: string;
  /** The files that hold markers of a conflict. */
  readonly conflictPaths: readonly string[];
}

/** Returns the first message to the agent: the task, or the changes that a person requested. */
export async function openingMessage(opening: Opening): Promise<string> {
  const { changes, task } = opening.work;
  if (changes === null) return firstWords(opening);
  const patch = await diff(opening.repo, { from: opening.start, to: changes.commit });
  return changesMessage({
    prompt: task.prompt,
    comment: changes.comment,
    comments: changes.comments,
    diffContext: changes.comments.map((one) => contextOf(patch, one)),
  });
}

/** The task for a new session. A session that ignores the project's settings gets the project's notes with it. */
async function firstWords({ workshop, work, repo, start, conflictPaths }: Opening): Promise<string> {
  const { type } = agentNamed(workshop, work.agent);
  const notes = type === "claude" ? await Promise.all(PROJECT_NOTES.map((path) => readAt(repo, start, path))) : [];
  const projectNotes = PROJECT_NOTES.flatMap((path, i) => {
    const text = notes[i];
    return text === null || text === undefined ? [] : [{ path, text }];
  });
  return firstMessage({ prompt: work.task.prompt, projectNotes, conflictPaths });
}
