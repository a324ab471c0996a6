import { backup, DatabaseSync } from "node:sqlite";
import type { SQLInputValue } from "node:sqlite";
import { inSentence } from "../../core/store/damage.ts";
import type { Queryable } from "../../core/store/db.ts";
import type { Sql } from "../../core/store/sql.ts";

/** A SQLite database as it was at one moment, whatever a server writes meanwhile. */
export interface Snapshot extends Queryable {
  /** Everything that was committed when the snapshot was opened, and nothing later, is in a new file. */
  copyTo(path: string, onProgress: (done: number, all: number) => void): Promise<void>;
  close(): void;
}

/** Some 8 MiB: progress is reported between two steps. */
const PAGES_A_STEP = 2048;

/**
 * Opens the database as it is now. While it is open the server's log only grows, so nothing slow is done beside copying.
 *
 * The engine begins a copy again whenever somebody has written, unless the connection that it copies from reads one moment
 * all the time: hence the transaction.
 */
export function openSnapshot(path: string): Snapshot {
  const connection = new DatabaseSync(path, { readOnly: true, timeout: 5000 });
  try {
    // The moment is that of the first read.
    connection.exec("BEGIN; SELECT count(*) FROM sqlite_master");
  } catch (error) {
    connection.close();
    throw inSentence(error, path);
  }
  return {
    dialect: "sqlite",
    async all<Row>({ sql, values }: Sql) {
      try {
        return await Promise.resolve(connection.prepare(sql).all(...(values as SQLInputValue[])) as Row[]);
      } catch (error) {
        throw inSentence(error, path);
      }
    },
    async copyTo(to, onProgress) {
      try {
        await backup(connection, to, {
          rate: PAGES_A_STEP,
          progress: ({ totalPages, remainingPages }) => onProgress(totalPages - remainingPages, totalPages),
        });
      } catch (error) {
        throw inSentence(error, path);
      }
    },
    close: () => connection.close(),
  };
}
