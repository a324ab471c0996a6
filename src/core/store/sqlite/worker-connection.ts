import type { SQLInputValue } from "node:sqlite";
import { Worker } from "node:worker_threads";
import { Refusal } from "../../../refusals.ts";
import type { WorkerReply, WorkerStatement } from "./worker-connection-thread.ts";
import type { Queryable } from "../db.ts";
import type { Sql } from "../sql.ts";

/** A connection to a SQLite file on a thread of its own. */
export interface WorkerConnection extends Queryable {
  /** Refuses callers that still wait for rows; a statement under way ends by itself first. */
  close(): Promise<void>;
}

/**
 * Opens a file for reading on a thread of its own, where a statement of many seconds holds up nobody else. It sees
 * committed rows only.
 *
 * @param parleyNow the store's clock, read when a statement is sent
 */
export function openWorkerConnection(path: string, parleyNow: () => number): WorkerConnection {
  const worker = new Worker(new URL("./worker-connection-thread.ts", import.meta.url), { workerData: path });
  const waiting: { resolve: (rows: unknown[]) => void; reject: (error: Error) => void }[] = [];
  let over = false;

  function end(): void {
    over = true;
    for (const { reject } of waiting.splice(0)) reject(new Refusal("store_unavailable"));
  }
  worker.on("message", (answer: WorkerReply) => {
    const first = waiting.shift();
    if ("rows" in answer) first?.resolve(answer.rows);
    else first?.reject(Object.assign(new Error(answer.error), { errcode: answer.errcode }));
  });
  worker.once("error", end);
  worker.once("exit", end);

  return {
    dialect: "sqlite",
    all<Row>({ sql: text, values }: Sql) {
      return new Promise<Row[]>((resolve, reject) => {
        if (over) return reject(new Refusal("store_unavailable"));
        waiting.push({ resolve: resolve as (rows: unknown[]) => void, reject });
        const question: WorkerStatement = { text, values: values as SQLInputValue[], now: parleyNow() };
        worker.postMessage(question);
      });
    },
    async close() {
      end();
      await worker.terminate();
    },
  };
}
