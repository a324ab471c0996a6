import { ParleyError } from "@parley/sdk/errors";
import {
  Tasks as TasksClient,
  type Board,
  type NewTask,
  type Task,
  type TaskEvent,
  type TaskReview,
  type WholeTask,
} from "@parley/sdk/tasks";
import { systemFetch } from "../../lib/network/fetch.ts";
import { readKeyText } from "../../lib/secrets/key-text.ts";
import type { Arguments, Takes } from "../arguments.ts";
import { CLIENT_FLAGS, type Io } from "../command.ts";
import { ownKey, serverUrl } from "../server-client.ts";

export const TASK_FLAGS = {
  "--repo R": "the repository by its name; left out, the server's default",
  ...CLIENT_FLAGS,
} as const satisfies Takes;

/** The tasks of one repository of one server. */
export interface Tasks {
  submit(task: NewTask): Promise<Task>;
  list(): Promise<Board>;
  read(id: string): Promise<WholeTask>;
  cancel(id: string): Promise<Task>;
  review(id: string, review: TaskReview): Promise<Task>;
  /** Returns the events so far. */
  log(id: string): Promise<TaskEvent[]>;
  /** Yields past and new events until the caller stops. */
  events(id: string): AsyncGenerator<TaskEvent>;
  /** Where people look at the task. */
  boardOf(task: Pick<Task, "id" | "repo">): string;
}

export const KEY_WANTED =
  "set PARLEY_KEY to a key of scope assign; whoever runs the server makes one with: parley keys create my-terminal --scope assign --person 1";

const OVER = new Set(["review", "approved", "rejected", "failed", "canceled"]);

/** Returns whether nothing but a person will move the task any more. */
export const isOver = ({ state }: Pick<Task, "state">): boolean => OVER.has(state);

/** Returns the way to a server's tasks, with the key of the environment. @throws {Error} one sentence, without a key */
export function openTasks(flags: Omit<Arguments<typeof TASK_FLAGS>, "json">, io: Io): Tasks {
  const url = serverUrl(flags.url, io.env);
  const key = ownKey(url, io.env);
  if (!key) throw new Error(`work is given with a key: ${KEY_WANTED}`);
  const read = readKeyText(key);
  if (read.kind === "key" && read.scope !== "assign" && read.scope !== "admin") {
    throw new Error(`PARLEY_KEY is a key of scope ${read.scope}; ${KEY_WANTED}`);
  }
  const client = new TasksClient({ url, key, repo: flags.repo, fetch: systemFetch });
  const signal = io.interrupted;

  async function plain<T>(request: Promise<T>): Promise<T> {
    return request.catch((error: unknown) => {
      const isKeyRefused = error instanceof ParleyError && error.status === 401;
      throw isKeyRefused ? new Error(`the server does not take the key in PARLEY_KEY: ${KEY_WANTED}`) : error;
    });
  }
  return {
    submit: (task) => plain(client.submit(task, { signal })),
    list: () => plain(client.board({ signal })),
    read: (id) => plain(client.task(id, { signal })),
    cancel: (id) => plain(client.cancel(id, { signal })),
    review: (id, review) => plain(client.review(id, review, { signal })),
    log: (id) => plain(client.log(id, { signal })),
    events: (id) => client.events(id, { signal }),
    boardOf(task) {
      return `${url}/console/assignments/${task.repo}/${encodeURIComponent(task.id)}`;
    },
  };
}
