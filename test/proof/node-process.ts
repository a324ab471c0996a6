import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import pg from "pg";
import { greetingsIn } from "../support/log-lines.ts";

const START_WITHIN_MS = 60_000;

/** Resolves with the address that a server greets with; every line of its log, which is JSON, goes to `onLog`. */
export async function urlOf(child: ChildProcess, onLog?: (line: string) => void): Promise<string> {
  if (!child.stdout) throw new Error("a server has no standard output");
  const lines = createInterface(child.stdout);
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error("a server did not greet in time")), START_WITHIN_MS);
    child.once("exit", () => reject(new Error("a server ended")));
    lines.on("line", (line) => {
      if (line.startsWith("{")) onLog?.(line);
      const [greeting] = greetingsIn(`${line}\n`);
      if (!greeting) return;
      clearTimeout(late);
      resolve(greeting.url);
    });
  });
}

/** The server has stopped politely, also one that was frozen. */
export async function stopNode(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, "exit");
  child.kill("SIGCONT");
  child.kill("SIGTERM");
  await gone;
}

/** Runs one statement on a connection of its own. */
export async function runStatement(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
