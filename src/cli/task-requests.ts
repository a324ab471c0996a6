import { ParleyError } from "@parley/sdk/errors";
import { newKey } from "@parley/sdk/idempotency-key";
import { Connection, follow } from "@parley/sdk/connection";
import type { Board, NewTask, Task, TaskEvent, TaskReview, WholeTask } from "@parley/sdk/tasks";
import { systemFetch } from "../lib/fetch.ts";
import { readKeyText } from "../lib/key-text.ts";
import type { Io } from "./command.ts";
import { ownKey } from "./questions.ts";

/** The tasks of one repository of one server. */
export interface Tasks {
  submit(task: NewTask): Promise<Task>;
  list(): Promise<Board>;
  read(id: string): Promise<WholeTask>;
  cancel(id: string): Promise<Task>;
  review(id: string, review: TaskReview): Promise<Task>;
  /** Returns what was told so far. */
  log(id: string): Promise<TaskEvent[]>;
  /** Yields what was told and what is told from now on, until the caller has heard enough. */
  events(id: string): AsyncGenerator<TaskEvent>;
  /** Where people look at the task. */
  boardOf(task: Pick<Task, "id" | "repo">): string;
}

export const KEY_WANTED =
  "set PARLEY_KEY to a key of scope assign; whoever runs the server makes one with: parley keys create my-terminal --scope assign --person 1";

/** Cancelling is answered when the last process of the agent is gone. */
const CANCEL_MS = 60_000;

const OVER = new Set(["review", "approved", "rejected", "failed", "canceled"]);

/** Returns whether nothing but a person will move the task any more. */
export const isOver = ({ state }: Pick<Task, "state">): boolean => OVER.has(state);

/** Returns the way to a server's tasks, with the key of the environment. @throws {Error} one sentence, without a key */
export function openTasks(url: string, repo: string | undefined, io: Io): Tasks {
  const key = ownKey(url, io.env);
  if (!key) throw new Error(`work is given with a key: ${KEY_WANTED}`);
  const read = readKeyText(key);
  if (read.is === "key" && read.scope !== "assign" && read.scope !== "admin") {
    throw new Error(`PARLEY_KEY is a key of scope ${read.scope}; ${KEY_WANTED}`);
  }
  const connection = new Connection({ url, fetch: systemFetch }, () => ({ authorization: `Bearer ${key}` }));
  const signal = io.interrupted;
  const base = repo === undefined ? "/assignment" : `/assignment/${encodeURIComponent(repo)}`;
  const pathOf = (id: string): string => `${base}/tasks/${encodeURIComponent(id)}`;

  async function plain<T>(request: Promise<T>): Promise<T> {
    return request.catch((error: unknown) => {
      const isKeyRefused = error instanceof ParleyError && error.status === 401;
      throw isKeyRefused ? new Error(`the server does not take the key in PARLEY_KEY: ${KEY_WANTED}`) : error;
    });
  }
  return {
    submit: (task) => plain(connection.call("POST", base, { body: task, idempotencyKey: newKey(), signal })),
    list: () => plain(connection.call("GET", base, { signal })),
    read: (id) => plain(connection.call("GET", pathOf(id), { signal })),
    cancel: (id) => plain(connection.call("DELETE", pathOf(id), { signal, timeoutMs: CANCEL_MS })),
    review: (id, review) => plain(connection.call("POST", `${pathOf(id)}/review`, { body: review, signal })),
    async log(id) {
      const headers = { authorization: `Bearer ${key}`, accept: "application/x-ndjson" };
      const reply = await systemFetch(`${url}${pathOf(id)}/log`, { headers, signal });
      if (!reply.ok) await plain(connection.call("GET", pathOf(id), { signal }));
      const lines = (await reply.text()).split("\n").filter((line) => line !== "");
      return lines.map((line) => JSON.parse(line) as TaskEvent);
    },
    async *events(id) {
      for await (const { data } of follow(connection, `${pathOf(id)}/log`, { signal })) {
        yield JSON.parse(data) as TaskEvent;
      }
    },
    boardOf(task) {
      return `${url}/console/assignments/${task.repo}/${encodeURIComponent(task.id)}`;
    },
  };
}
