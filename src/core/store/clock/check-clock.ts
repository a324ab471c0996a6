import { type Db, type Queryable, type Tx, first, one } from "../db.ts";
import type { OwnedTables, WrongClock } from "../owned-tables.ts";
import { join, raw, sql } from "../sql.ts";
import type { ClockMark, StoreClock } from "./store-clock.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
/** A server that was away for longer than this is asked whether its clock is right: what is kept for weeks would go. */
const LONGEST_AWAY_MS = 90 * DAY_MS;
/** A clock that is off by less needs no word. */
const WORTH_A_WORD_MS = 60_000;

/** Returns what a SQLite database remembers of its clock; null while it has no tables. */
export async function readClockMark(db: Queryable): Promise<ClockMark | null> {
  const columns = await db.all<{ name: string }>(raw("SELECT name FROM pragma_table_info('meta')"));
  if (columns.length === 0) return null;
  if (!columns.some(({ name }) => name === "clock_boot")) {
    return { boot: null, zeroMs: 0, ...(await one<{ lastMs: number }>(db, sql`SELECT last_ms AS "lastMs" FROM meta`)) };
  }
  return one<ClockMark>(db, sql`SELECT clock_boot AS boot, clock_zero_ms AS "zeroMs", last_ms AS "lastMs" FROM meta`);
}

/** Returns the last moment that the store knows of; 0 when it knows none. */
export async function readLastMoment(db: Db): Promise<number> {
  const row = await first<{ last: number }>(
    db,
    sql`SELECT CASE WHEN e.at > m.last_ms THEN e.at ELSE m.last_ms END AS last
        FROM meta m, (SELECT coalesce(max(at), 0) AS at FROM events) e`,
  );
  return row?.last ?? 0;
}

/**
 * The clock can have come this far since the store's last moment.
 *
 * @throws {Error} one sentence for the operator
 */
export function judgeClock(nowMs: number, lastMs: number): void {
  if (lastMs === 0 || (nowMs >= lastMs - HOUR_MS && nowMs <= lastMs + LONGEST_AWAY_MS)) return;
  const places = `The clock says ${timeOf(nowMs)}, but the last commit was at ${timeOf(lastMs)}`;
  throw new Error(
    `${places}; set the clock (timedatectl set-ntp true) and start again, or, if it is right: parley serve --accept-clock`,
  );
}

/**
 * Sets the store's time to the wall clock's. Everything open that was given while the store's clock was ahead keeps the
 * time it had left. Returns notes for the operator on what this did to open deadlines; nothing where the clocks agreed.
 *
 * @param clock `lastMs` of the store's clock, `nowMs` of the wall clock; `rooms`, whose deadlines go with it
 * @param takeWall has the store's clock take the wall clock's time, where it has one of its own
 */
export async function acceptClock(
  db: Db,
  { lastMs, nowMs, rooms }: { lastMs: number; nowMs: number; rooms: readonly OwnedTables[] },
  takeWall: () => void,
): Promise<string[]> {
  takeWall();
  if (Math.abs(nowMs - lastMs) < WORTH_A_WORD_MS) return [];
  if (nowMs > lastMs) {
    const passed = await countPassing(db, rooms, lastMs);
    return [`The clock was accepted: the store's went from ${timeOf(lastMs)} to ${timeOf(nowMs)}; ${passed}.`];
  }
  const { value: moved } = await db.transact((tx) => moveDeadlines(tx, rooms, { wrongMs: lastMs, nowMs }));
  const kept =
    moved === 1
      ? "1 open deadline that was given meanwhile keeps the time it had left"
      : `${moved} open deadlines that were given meanwhile keep the time they had left`;
  return [
    `The clock was accepted: the store's went back from ${timeOf(lastMs)} to ${timeOf(nowMs)}; ${kept}, all others stand, and what was written meanwhile keeps its date.`,
  ];
}

/**
 * Moves everything open whose times were given under the wrong clock: it has as much time left as it had at that
 * clock's last moment. Rows that were written for good stay as they are. Returns how many asks and jobs were moved.
 */
async function moveDeadlines(tx: Tx, rooms: readonly OwnedTables[], clock: WrongClock): Promise<number> {
  let moved = 0;
  for (const room of rooms) {
    for (const statement of room.moveOpen?.(clock) ?? []) moved += (await tx.all(statement)).length;
  }
  for (const room of rooms) {
    for (const statement of room.moveTimes?.(clock) ?? []) await tx.all(statement);
  }
  return moved;
}

/** Returns notes for the operator when the store's clock is not the machine's. */
export function clockNotes(clock: Pick<StoreClock, "now" | "wallAheadMs">): string[] {
  const ahead = clock.wallAheadMs();
  if (Math.abs(ahead) <= WORTH_A_WORD_MS) return [];
  const storeMs = clock.now();
  return [
    `This machine's clock says ${timeOf(storeMs + ahead)}, the store's ${timeOf(storeMs)}: the machine's was set meanwhile, and deadlines go on by the store's. If the machine's is right: parley serve --accept-clock`,
  ];
}

async function countPassing(db: Db, rooms: readonly OwnedTables[], lastMs: number): Promise<string> {
  const counts = rooms.flatMap((room) => (room.countPassed ? [sql`(${room.countPassed(lastMs)})`] : []));
  const { count } = await one<{ count: number }>(db, sql`SELECT ${join([sql`0`, ...counts], " + ")} AS count`);
  return count === 1 ? "1 open deadline has passed" : `${count} open deadlines have passed`;
}

const timeOf = (ms: number): string => new Date(ms).toISOString();
