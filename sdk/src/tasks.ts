import type { CallOptions, Connection } from "./http.ts";
import { newKey } from "./idempotency-key.ts";
import { keyedConnection, type KeyedOptions } from "./keyed.ts";
import { follow } from "./sse.ts";
import type {
  Board,
  NewTask,
  ReviewedWork,
  SettledWork,
  Task,
  TaskEvent,
  TaskReview,
  WholeTask,
} from "./wire-schemas.ts";

export type {
  AssignmentReport,
  Board,
  LineComment,
  NewTask,
  ReviewedWork,
  SettledWork,
  Task,
  TaskAsk,
  TaskEvent,
  TaskReview,
  WholeTask,
} from "./wire-schemas.ts";

/** Where tasks are given, and by which key. */
export interface TasksOptions extends KeyedOptions {
  /** The repository of the tasks; left out, the one that the key or the server says. */
  repo?: string | undefined;
}

/** Cancelling is answered when the last process of the agent is gone. */
const CANCEL_MS = 60_000;

/**
 * The tasks of one repository, for a key of scope `assign` or the session of an admin.
 *
 * Every method throws a {@link ParleyError}: `UNAUTHORIZED`, `FORBIDDEN` where the key is not good for the repository,
 * `REPO_NOT_FOUND`, and the codes that it names.
 */
export class Tasks {
  readonly #connection: Connection;
  readonly #path: string;

  constructor({ repo, ...options }: TasksOptions) {
    this.#connection = keyedConnection(options);
    this.#path = repo === undefined ? "/assignment" : `/assignment/${encodeURIComponent(repo)}`;
  }

  /**
   * The task is in line; a task of the same id is replaced.
   *
   * It carries an idempotency key, yours or a fresh one: the same again under the same key changes nothing.
   *
   * @throws {ParleyError} `VALIDATION_ERROR`, `SECRET_DETECTED`, `DEPENDENCY_CYCLE`, `IDEMPOTENCY_MISMATCH`,
   *   `RATE_LIMITED`
   */
  async submit(task: NewTask, options: CallOptions & { idempotencyKey?: string } = {}): Promise<Task> {
    const { signal, idempotencyKey = newKey() } = options;
    return this.#connection.call("POST", this.#path, { signal, body: task, idempotencyKey });
  }

  /** Reads the server's name and every task, the oldest first. */
  async board(options: CallOptions = {}): Promise<Board> {
    return this.#connection.call("GET", this.#path, options);
  }

  /** Reads a task with its prompt, attempts, reviews and asks. @throws {ParleyError} `TASK_NOT_FOUND` */
  async task(id: string, options: CallOptions = {}): Promise<WholeTask> {
    return this.#connection.call("GET", this.#pathOf(id), options);
  }

  /**
   * The task is cancelled, and the last process of its agent is gone, which takes up to 60 seconds.
   *
   * @throws {ParleyError} `TASK_NOT_FOUND`, `TASK_ENDING`
   */
  async cancel(id: string, options: CallOptions = {}): Promise<Task> {
    return this.#connection.call("DELETE", this.#pathOf(id), { ...options, timeoutMs: CANCEL_MS });
  }

  /**
   * The work is approved or rejected, or changes are asked for; for a key that is bound to a person.
   *
   * @throws {ParleyError} `FORBIDDEN` for a key of nobody, `TASK_NOT_FOUND`, `VALIDATION_ERROR`, `REVIEW_CONFLICT`
   */
  async review(id: string, review: TaskReview, options: CallOptions = {}): Promise<Task> {
    return this.#connection.call("POST", `${this.#pathOf(id)}/review`, { ...options, body: review });
  }

  /** Reads what happened to a task so far. @throws {ParleyError} `TASK_NOT_FOUND` */
  async log(id: string, options: CallOptions = {}): Promise<TaskEvent[]> {
    const call = { ...options, headers: { accept: "application/x-ndjson" }, asText: true };
    const text = await this.#connection.call<string>("GET", `${this.#pathOf(id)}/log`, call);
    const lines = text.split("\n").filter((line) => line !== "");
    return lines.map((line) => JSON.parse(line) as TaskEvent);
  }

  /**
   * Yields what happened to a task, and what happens from now on, until the caller stops.
   *
   * @throws {ParleyError} `TASK_NOT_FOUND`, or the signal's reason
   */
  async *events(id: string, options: CallOptions = {}): AsyncGenerator<TaskEvent> {
    for await (const { data } of follow(this.#connection, `${this.#pathOf(id)}/log`, options)) {
      yield JSON.parse(data) as TaskEvent;
    }
  }

  /** Reads what reviews leave to be done in a worker's own repository; for the key of scope `executor` that worked. */
  async reviewedWork(options: CallOptions = {}): Promise<ReviewedWork> {
    return this.#connection.call("GET", `${this.#path}/reviewed`, options);
  }

  /** The reviewed work is settled; the same again changes nothing. @throws {ParleyError} `VALIDATION_ERROR` */
  async noteSettled(work: SettledWork, options: CallOptions = {}): Promise<void> {
    return this.#connection.call("POST", `${this.#path}/reviewed`, { ...options, body: work, repeatable: true });
  }

  #pathOf(id: string): string {
    return `${this.#path}/tasks/${encodeURIComponent(id)}`;
  }
}
