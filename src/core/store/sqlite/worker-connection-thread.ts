import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";

/** A statement to run on the thread, and the time of the store's clock for it. */
export interface WorkerStatement {
  text: string;
  values: SQLInputValue[];
  now: number;
}

export type WorkerReply = { rows: unknown[] } | { error: string; errcode: number };

// This file is the thread's own, and is loaded whenever something is examined: it takes nothing else with it.
let now = 0;
const connection = new DatabaseSync(workerData as string, { readOnly: true, timeout: 5000 });
connection.function("parley_now", () => now);
connection.exec("PRAGMA temp_store = MEMORY");

parentPort?.on("message", (question: WorkerStatement) => {
  now = question.now;
  parentPort?.postMessage(answerTo(question));
});

function answerTo({ text, values }: WorkerStatement): WorkerReply {
  try {
    return { rows: connection.prepare(text).all(...values) };
  } catch (error) {
    const { message, errcode = 0 } = error as Error & { errcode?: number };
    return { error: message, errcode };
  }
}
