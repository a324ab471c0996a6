import type { Tx } from "./db.ts";
import type { OwnedTables, WrongClock } from "./owned-tables.ts";

/**
 * Moves everything open whose times were given under the wrong clock: it has as much time left as it had at that
 * clock's last moment. Rows that were written for good stay as they are. Returns how many asks and jobs were moved.
 */
export async function moveDeadlines(tx: Tx, rooms: readonly OwnedTables[], clock: WrongClock): Promise<number> {
  let moved = 0;
  for (const room of rooms) {
    for (const statement of room.moveOpen?.(clock) ?? []) moved += (await tx.all(statement)).length;
  }
  for (const room of rooms) {
    for (const statement of room.moveTimes?.(clock) ?? []) await tx.all(statement);
  }
  return moved;
}
