import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";

/** A statement to run on the thread, and the store's clock as it is to be told. */
export interface AsideQuestion {
  text: string;
  values: SQLInputValue[];
  now: number;
}

export type AsideAnswer = { rows: unknown[] } | { error: string; errcode: number };

// This file is the thread's own, and is loaded whenever something is examined: it takes nothing else with it.
let now = 0;
const connection = new DatabaseSync(workerData as string, { readOnly: true, timeout: 5000 });
connection.function("parley_now", () => now);
connection.exec("PRAGMA temp_store = MEMORY");

parentPort?.on("message", (question: AsideQuestion) => {
  now = question.now;
  parentPort?.postMessage(answerTo(question));
});

function answerTo({ text, values }: AsideQuestion): AsideAnswer {
  try {
    return { rows: connection.prepare(text).all(...values) };
  } catch (error) {
    const { message, errcode = 0 } = error as Error & { errcode?: number };
    return { error: message, errcode };
  }
}
