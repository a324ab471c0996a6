import { closeSync, existsSync, openSync, readSync } from "node:fs";

/** The file of a SQLite database cannot be what it was: the message is for the operator, and says what to do. */
export class DatabaseDamaged extends Error {
  constructor(path: string, why: string, cause?: unknown) {
    super(
      `The database ${path} is damaged (${why}). Keep the file as it is; parley doctor says what it still finds in it. Restore the newest backup into another folder (parley restore BACKUP --data-dir DIR), where BACKUP is a file that parley backup wrote.`,
      { cause },
    );
  }
}

/** The advice to the operator where commits are missing. */
export const RESTORE = "restore a backup into another folder (parley restore BACKUP --data-dir DIR)";

const MAGIC = "SQLite format 3\0";
const SQLITE_CORRUPT = 11;
const SQLITE_NOTADB = 26;

/**
 * The file is there and begins as a database does, or nothing was ever written to it. It is read before the engine opens
 * it, because the engine takes an empty file for a new database, and deletes the log of what was in it.
 *
 * @param lastCommit the number of the last commit that was once on disk; 0 where there was none
 * @throws {Error} a sentence for the operator
 */
export function judgeFile(path: string, lastCommit: number): void {
  const begin = beginningOf(path);
  if (begin !== null && begin !== "" && begin !== MAGIC) {
    throw new DatabaseDamaged(path, "it does not begin as a SQLite file does");
  }
  if (begin === MAGIC || lastCommit === 0) return;
  throw new Error(
    `The database ${path} is ${begin === null ? "gone" : "empty"}, but commit ${lastCommit} was once on disk; ${RESTORE}, or go on without: parley serve --accept-loss`,
  );
}

/** Returns the error, or a sentence for the operator where the engine found the file damaged. */
export function inSentence(error: unknown, path: string): unknown {
  if (!(error instanceof Error) || !("errcode" in error)) return error;
  const code = Number(error.errcode) & 0xff;
  return code === SQLITE_CORRUPT || code === SQLITE_NOTADB ? new DatabaseDamaged(path, error.message, error) : error;
}

function beginningOf(path: string): string | null {
  if (!existsSync(path)) return null;
  const descriptor = openSync(path, "r");
  try {
    const bytes = Buffer.alloc(MAGIC.length);
    return bytes.toString("latin1", 0, readSync(descriptor, bytes, 0, bytes.length, 0));
  } finally {
    closeSync(descriptor);
  }
}
