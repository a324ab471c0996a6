import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { RepoRules } from "../tasks/model/rules.ts";
import type { Attempt, LineComment, Task } from "../tasks/model/task.ts";
import type { TaskRun } from "./attempt-client.ts";

/** An attempt as the server assigns it, with everything that its work needs. */
export interface AttemptSpec {
  task: Task;
  attempt: Attempt;
  dependencies: readonly { id: string; commit: string }[];
  changes: {
    feedback: { comment: string | null; comments: readonly LineComment[] };
    session: string | null;
    commit: string;
  } | null;
  publishedSha: string | null;
}

/** Returns the folder of one submission of a task: its tree, its agent's home, and its logs. */
export function folderOf(
  workDir: string,
  { repo, slug, generation }: { repo: string; slug: string; generation: number },
): string {
  return join(workDir, "work", repo, `${slug}.${generation}`);
}

/** One submission's folder. */
export interface SubmissionFolder {
  repo: string;
  slug: string;
  generation: number;
  folder: string;
}

/** Returns the folders of all submissions that were worked on here and are still there. */
export async function listFolders(workDir: string): Promise<SubmissionFolder[]> {
  const found: SubmissionFolder[] = [];
  for (const repo of await readdir(join(workDir, "work")).catch(() => [])) {
    for (const name of await readdir(join(workDir, "work", repo)).catch(() => [])) {
      const [, slug, generation] = /^(.+)\.(\d+)$/.exec(name) ?? [];
      if (slug === undefined) continue;
      found.push({ repo, slug, generation: Number(generation), folder: join(workDir, "work", repo, name) });
    }
  }
  return found;
}

/** Returns an attempt as a workshop takes it up that keeps its work in this folder. */
export function workOf(workDir: string, repo: RepoRules, given: AttemptSpec): TaskRun {
  const { task, attempt, dependencies, changes, publishedSha } = given;
  const { generation } = attempt;
  return {
    attemptId: attempt.attemptId,
    n: attempt.n,
    jobId: attempt.jobId,
    repo,
    agent: attempt.agent,
    dependencies,
    folder: folderOf(workDir, { repo: task.repo, slug: task.slug, generation }),
    task: {
      id: task.id,
      slug: task.slug,
      prompt: task.prompt,
      base: task.base,
      resolveConflict: task.resolveConflict,
    },
    changes: changes && {
      comment: changes.feedback.comment,
      comments: changes.feedback.comments,
      commit: changes.commit,
    },
    state: attempt.state,
    startSha: attempt.startSha,
    resumes: attempt.resumes,
    logSeq: attempt.logSeq,
    session: attempt.session ?? changes?.session ?? null,
    sandbox: attempt.sandbox,
    commitSha: attempt.commitSha,
    published: publishedSha,
    isEnding: attempt.state === "ending" || task.generation !== attempt.generation,
  };
}
