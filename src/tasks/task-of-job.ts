import type { Queryable } from "../core/store/db.ts";
import type { TaskOfRequest } from "../requests/model/task-of-request.ts";
import { findAttemptOfJob } from "./store/attempts.ts";

/** Returns the task whose agent works on a job, as what is asked for the job is about; null for any other job. */
export async function taskOfJob(on: Queryable, jobId: string): Promise<TaskOfRequest | null> {
  const attempt = await findAttemptOfJob(on, jobId);
  if (!attempt) return null;
  const { repo, id, n, agent, sandbox } = attempt;
  return { repo, id, attempt: n, about: "wish", agent, sandbox };
}
