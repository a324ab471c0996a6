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

const SQLITE_BUSY = 5;

function isBusy(error: unknown): boolean {
  return error instanceof Error && "errcode" in error && error.errcode === SQLITE_BUSY;
}
