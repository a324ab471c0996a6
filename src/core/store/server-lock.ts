import { DatabaseSync } from "node:sqlite";

/**
 * This process, and no other, runs a server on the data until `release` is called or the process ends, however it ends.
 *
 * Node offers no file lock, and a file with a process id in it survives a crash. SQLite's lock is the operating
 * system's: a transaction held open on a small file of its own, beside the database.
 *
 * @throws {Error} one sentence for the operator, when another server holds it
 */
export function lockForServer(path: string): { release(): void } {
  const connection = new DatabaseSync(path, { timeout: 0 });
  try {
    connection.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
  } catch (error) {
    connection.close();
    if (!isBusy(error)) throw error;
    throw new Error(
      `Another Parley server is using ${path.replace(/\/[^/]*$/, "")}; stop it, or choose another folder with --data-dir.`,
    );
  }
  return {
    release() {
      if (connection.isOpen) connection.close();
    },
  };
}

/**
 * Makes sure that nobody else has the database open, such as a running server whose lock file somebody has deleted: a
 * process that has it open holds a lock on the file itself. The log that a killed server has left is brought into the
 * file.
 *
 * @throws {Error} one sentence for the operator
 */
export function takeAlone(path: string): void {
  const alone = new DatabaseSync(path, { timeout: COMMANDS_END_WITHIN_MS });
  try {
    alone.exec("PRAGMA synchronous = FULL; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; ROLLBACK");
  } catch (error) {
    if (!isBusy(error)) throw error;
    throw new Error(`Another program has ${path} open, such as a Parley server; stop it and start again.`);
  } finally {
    alone.close();
  }
}

/** A command beside a server is over by then. */
const COMMANDS_END_WITHIN_MS = 5000;
const SQLITE_BUSY = 5;

function isBusy(error: unknown): boolean {
  return error instanceof Error && "errcode" in error && error.errcode === SQLITE_BUSY;
}
