import type { NewTaskEvent, Task, TaskEvent } from "../model/task.ts";
import { first, one, type Queryable, type Tx } from "../../core/store/db.ts";
import { json, rowsOf } from "../../core/store/rows.ts";
import { join, sql } from "../../core/store/sql.ts";
import { boardTopic, taskTopic } from "../../core/store/wake.ts";

/** The most events of a task, or of a repository's board, that are kept: a follower has had time to read them. */
const MOST_EVENTS = 20_000;

/** An event of any task of a repository, with a sequence number of the repository. */
export interface BoardEvent extends TaskEvent {
  id: string;
}

const eventColumns = {
  seq: "seq",
  at: "at",
  attempt: "attempt",
  type: "type",
  data: json("data_json"),
} as const;
const eventRows = rowsOf<TaskEvent>()(eventColumns);

const boardEventRows = rowsOf<BoardEvent>()({ ...eventColumns, id: "id" });

/**
 * Appends events to a task under its next numbers, states and questions also to its repository's board, and wakes
 * their followers. The transaction holds the board to its end: lock nothing of a repository after this.
 */
export async function appendTaskEvents(
  tx: Tx,
  { repo, id, attempt }: Pick<Task, "repo" | "id" | "attempt">,
  events: readonly NewTaskEvent[],
): Promise<void> {
  if (events.length === 0) return;
  const { seq, now } = await one<{ seq: number; now: number }>(
    tx,
    sql`UPDATE tasks SET seq = seq + ${events.length} WHERE repo = ${repo} AND id = ${id}
      RETURNING seq, parley_now() AS now`,
  );
  for (const [i, { type, data }] of events.entries()) {
    await tx.all(
      sql`INSERT INTO task_events (repo, id, seq, attempt, type, data_json, at)
        VALUES (${repo}, ${id}, ${seq - events.length + 1 + i}, ${attempt}, ${type}, ${JSON.stringify(data)}, ${now})`,
    );
  }
  if (seq > MOST_EVENTS) {
    await tx.all(sql`DELETE FROM task_events WHERE repo = ${repo} AND id = ${id} AND seq <= ${seq - MOST_EVENTS}`);
  }
  await appendBoard(tx, { repo, id, attempt, now }, events);
  tx.wake(taskTopic(repo, id));
}

async function appendBoard(
  tx: Tx,
  { repo, id, attempt, now }: { repo: string; id: string; attempt: number; now: number },
  events: readonly NewTaskEvent[],
): Promise<void> {
  const newEvents = events.filter(({ type }) => type === "state" || type === "question");
  if (newEvents.length === 0) return;
  const { seq } = await one<{ seq: number }>(
    tx,
    sql`INSERT INTO task_boards (repo, seq) VALUES (${repo}, ${newEvents.length})
      ON CONFLICT (repo) DO UPDATE SET seq = task_boards.seq + ${newEvents.length} RETURNING seq`,
  );
  for (const [i, { type, data }] of newEvents.entries()) {
    await tx.all(
      sql`INSERT INTO task_board_events (repo, seq, id, attempt, type, data_json, at)
        VALUES (${repo}, ${seq - newEvents.length + 1 + i}, ${id}, ${attempt}, ${type}, ${JSON.stringify(data)}, ${now})`,
    );
  }
  if (seq > MOST_EVENTS)
    await tx.all(sql`DELETE FROM task_board_events WHERE repo = ${repo} AND seq <= ${seq - MOST_EVENTS}`);
  tx.wake(boardTopic(repo));
}

/** Returns a task's events after a number, oldest first. */
export async function listTaskEvents(
  on: Queryable,
  { repo, id }: Pick<Task, "repo" | "id">,
  after: number,
  limit: number,
): Promise<TaskEvent[]> {
  return eventRows.all(
    on,
    sql`SELECT seq, attempt, type, data_json, at FROM task_events
      WHERE repo = ${repo} AND id = ${id} AND seq > ${after} ORDER BY seq LIMIT ${limit}`,
  );
}

/** Returns the events of a repository's board after a number, oldest first. */
export async function listBoardEvents(
  on: Queryable,
  repo: string,
  after: number,
  limit: number,
): Promise<BoardEvent[]> {
  return boardEventRows.all(
    on,
    sql`SELECT seq, id, attempt, type, data_json, at FROM task_board_events
      WHERE repo = ${repo} AND seq > ${after} ORDER BY seq LIMIT ${limit}`,
  );
}

/** Returns the newest number of a repository's board; 0 before the first. */
export async function findBoardSeq(on: Queryable, repo: string): Promise<number> {
  const row = await first<{ seq: number }>(on, sql`SELECT seq FROM task_boards WHERE repo = ${repo}`);
  return row?.seq ?? 0;
}

/** Returns the newest number of each of these boards, for the polling fallback of wake-ups. */
export async function findBoardNumbers(on: Queryable, repos: readonly string[]): Promise<Map<string, number>> {
  const rows = await on.all<{ repo: string; seq: number }>(
    sql`SELECT repo, seq FROM task_boards WHERE repo IN (${join([...repos])})`,
  );
  return new Map(rows.map(({ repo, seq }) => [repo, seq]));
}

/** Returns the newest number of each of these tasks, named `<repository>/<id>`, for the same. */
export async function findTaskNumbers(on: Queryable, places: readonly string[]): Promise<Map<string, number>> {
  const named = places.map((place) => sql`(repo = ${repoIn(place)} AND id = ${place.slice(repoIn(place).length + 1)})`);
  const rows = await on.all<{ repo: string; id: string; seq: number }>(
    sql`SELECT repo, id, seq FROM tasks WHERE ${join(named, " OR ")}`,
  );
  return new Map(rows.map(({ repo, id, seq }) => [`${repo}/${id}`, seq]));
}

/** No repository has a slash in its name. */
function repoIn(place: string): string {
  return place.split("/", 1)[0] ?? "";
}
