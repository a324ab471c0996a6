import type { Sql } from "./sql.ts";

/** A clock that was ahead: the last moment it gave, and what time it was then. */
export interface WrongClock {
  wrongMs: number;
  nowMs: number;
}

/** A time in which the deadlines of frozen askers stood still: since when, unless the row is newer, and until when. */
export interface StillTime {
  sinceMs: number;
  nowMs: number;
}

/** A column in which something is sealed, and for what. */
export interface SealedColumn {
  table: string;
  key: string;
  column: string;
  /** Which rows have something sealed; those alone are read. */
  where: string;
  /** Returns what is sealed in the column's text, and the id for which it is; null where nothing is. */
  find(text: string, key: string): { sealed: string; rowId: string } | null;
}

/** Returns a column whose whole text is sealed, for the row's key unless `idOf` says otherwise. */
export function sealedColumn(table: string, key: string, column: string, idOf = (text: string) => text): SealedColumn {
  const find = (sealed: string, id: string) => ({ sealed, rowId: idOf(id) });
  return { table, key, column, where: `${column} IS NOT NULL`, find };
}

/**
 * The effect of a restore on the rows of a table (spec/security 10.1). A backup is a moment of the past: it knows nothing
 * of the later end of a session, or of the later use of an approval. A table whose rows cannot be wrong by that "stays".
 */
export type AtRestore =
  | "stays"
  | {
      /** Ends credentials, leases and unused approvals. `atMs` is later than all else in the store. */
      readonly ends?: (atMs: number) => Sql[];
      readonly held?: HeldAtRestore;
    };

/** Rows that a restore puts out of force, until the operator puts them back. */
export interface HeldAtRestore {
  /** Rights that may have been revoked since the backup, or messages that may have been sent since. */
  readonly kind: "access" | "messages";
  /** The name of such rows in sentences for the operator, in the plural. */
  readonly noun: string;
  hold(atMs: number): Sql[];
  /** Selects the `name` of each row that was held at that moment and still is. */
  list(atMs: number): Sql;
  /** Puts these rows back, as of now. */
  putBack(atMs: number): Sql[];
}

/**
 * The tables of one room. No other room's SQL names them: it calls a function of this room's `store/`, or joins the
 * columns that the room's `store/tables.ts` shows. Code that concerns every table, such as the rotation of the
 * installation key, reads here which of them it concerns.
 */
export interface OwnedTables {
  readonly names: readonly string[];
  /** The effect of a restore on each table. */
  readonly atRestore: Readonly<Record<string, AtRestore>>;
  /** Moves what is open, asks and jobs. Their times were given under the wrong clock if they were made later than now. */
  moveOpen?(clock: WrongClock): Sql[];
  /**
   * Moves every other time that lies ahead. Rows that do not say when they were made are due later than the wrong
   * clock's last moment.
   */
  moveTimes?(clock: WrongClock): Sql[];
  /** Moves the open deadlines of frozen askers by the time for which they stood still. */
  standStill?(time: StillTime): Sql[];
  /** Selects the number of open deadlines after `sinceMs` that have passed. */
  countPassed?(sinceMs: number): Sql;
  /** The columns in which something is sealed under the installation key. */
  readonly sealed?: readonly SealedColumn[];
  /** Columns, as `table.column`, that hold sentences of this server, in which it calls people by their names. */
  readonly ownSentences?: readonly string[];
  /** Columns, as `table.column`, that say where something is sent. */
  readonly targets?: readonly string[];
  /** Columns, as `table.column`, that others are computed from, and that name nobody. */
  readonly unchanging?: readonly string[];
  /** The tables that name nobody and hold a person's questions and words, and the columns that lead to them. */
  readonly followed?: readonly FollowedTable[];
  /** The columns of JSON, as `table.column`, in which `person` is the id of whoever wrote a part of it. */
  readonly writtenIn?: readonly string[];
}

/** The rows of `to` whose `column` is in the column `by` of a person's rows in `from`. */
export interface FollowedTable {
  from: string;
  by: string;
  to: string;
  column: string;
}
