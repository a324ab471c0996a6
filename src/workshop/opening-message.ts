import { changesMessage, firstMessage } from "../tasks/model/message.ts";
import { agentCalled, type Bench } from "./bench.ts";
import type { Work } from "./desk.ts";
import { contextOf } from "./diff-context.ts";
import { diff, readAt } from "./git/read.ts";
import type { Repository } from "./git/repository.ts";

const PROJECT_NOTES = ["AGENTS.md", "CLAUDE.md"];

interface Opening {
  readonly bench: Bench;
  readonly work: Work;
  readonly repo: Repository;
  /** The commit that the work began from. */
  readonly start: string;
  /** The files that hold markers of a conflict. */
  readonly conflictPaths: readonly string[];
}

/** Returns what the agent is told first: the task, or what a person wants changed. */
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

/** The task, for a session that knows nothing; one that is told to ignore the project's settings gets the project's notes with it. */
async function firstWords({ bench, work, repo, start, conflictPaths }: Opening): Promise<string> {
  const { type } = agentCalled(bench, work.agent);
  const notes = type === "claude" ? await Promise.all(PROJECT_NOTES.map((path) => readAt(repo, start, path))) : [];
  const projectNotes = PROJECT_NOTES.flatMap((path, i) => {
    const text = notes[i];
    return text === null || text === undefined ? [] : [{ path, text }];
  });
  return firstMessage({ prompt: work.task.prompt, projectNotes, conflictPaths });
}
