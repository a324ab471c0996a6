import type { AssignmentReport, NewTask, Task, TaskReview, WholeTask } from "@parley/sdk/tasks";
import { queries, useQuery } from "../../query/query.ts";
import { useEffect, useRef } from "preact/hooks";
import { newKey } from "@parley/sdk/idempotency-key";
import { connection } from "../api.ts";
import { useStream } from "../relay/api.ts";

const FRESH_MS = 5000;
/** Changes are gathered for so long before what is shown is read anew. */
const GATHER_MS = 250;
/** Cancelling is answered when the last process of the agent is gone. */
const CANCEL_MS = 60_000;

/** All repositories at once. */
const BOARD = "/admin/assignments";
const inRepo = (repo: string, id: string): string => `${encodeURIComponent(repo)}/tasks/${encodeURIComponent(id)}`;
/** Where the protocol has a task, for the session of an admin too. */
export const taskPath = (repo: string, id: string): string => `/assignment/${inRepo(repo, id)}`;
export const taskHref = (repo: string, id: string): string =>
  `/console/assignments/${encodeURIComponent(repo)}/${encodeURIComponent(id)}`;

export function useBoard() {
  return useQuery({
    queryKey: ["console", "tasks"],
    queryFn: ({ signal }) => connection.call<AssignmentReport>("GET", BOARD, { signal }),
    staleTime: FRESH_MS,
    refetchInterval: FRESH_MS,
  });
}

export function useTask(repo: string, id: string) {
  return useQuery({
    queryKey: ["console", "task", repo, id],
    queryFn: ({ signal }) => connection.call<WholeTask>("GET", taskPath(repo, id), { signal }),
  });
}

/** Reads everything that is shown of tasks again. */
export async function refreshTasks(): Promise<void> {
  await Promise.all([
    queries.invalidateQueries({ queryKey: ["console", "tasks"] }),
    queries.invalidateQueries({ queryKey: ["console", "task"] }),
  ]);
}

/** Whatever is shown of tasks stays true while the page is looked at. */
export function useLiveTasks(): void {
  const due = useRef<ReturnType<typeof setTimeout>>(undefined);
  useStream(`${BOARD}/events`, {
    onEvent() {
      due.current ??= setTimeout(() => {
        due.current = undefined;
        void refreshTasks();
      }, GATHER_MS);
    },
  });
  useEffect(() => () => clearTimeout(due.current), []);
}

/** The task is in line. The same under the same key again changes nothing. */
export async function submitTask(repo: string, task: NewTask, key = newKey()): Promise<Task> {
  return connection.call("POST", `/assignment/${encodeURIComponent(repo)}`, { body: task, idempotencyKey: key });
}

export async function cancelTask(repo: string, id: string): Promise<Task> {
  return connection.call("DELETE", taskPath(repo, id), { timeoutMs: CANCEL_MS });
}

/** Puts a task that ended without a result in line again, as it was submitted. */
export async function retryTask(repo: string, id: string): Promise<Task> {
  return connection.call("POST", `${BOARD}/${inRepo(repo, id)}/retry`);
}

export async function reviewTask(repo: string, id: string, review: TaskReview): Promise<Task> {
  return connection.call("POST", `${taskPath(repo, id)}/review`, { body: review });
}

export type Against = "start" | "base";

/** Resolves with a task's changes as git prints them. */
export async function readDiff(path: string, signal: AbortSignal): Promise<string> {
  const reply = await fetch(path, { signal, headers: { accept: "text/x-patch" } });
  if (!reply.ok) throw new Error(`status ${reply.status}`);
  return reply.text();
}
