import type { Queryable, Tx } from "../../core/store/db.ts";
import { join, sql } from "../../core/store/sql.ts";
import type { LeaderboardName } from "../model/leaderboard-name.ts";

/** Returns the names of those of these people who have chosen one. */
export async function findLeaderboardNames(
  on: Queryable,
  people: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (people.length === 0) return new Map();
  const rows = await on.all<{ person: string; name: string }>(
    sql`SELECT person, name FROM leaderboard_names WHERE person IN (${join([...people])})`,
  );
  return new Map(rows.map(({ person, name }) => [person, name]));
}

/**
 * Makes this the person's only name; false where the name is somebody else's or was removed, and then nothing changes
 * once the transaction is given up. The person's row is held before, so that two names of one person take turns.
 */
export async function chooseLeaderboardName(tx: Tx, person: string, { name, key }: LeaderboardName): Promise<boolean> {
  await dropLeaderboardName(tx, person);
  const rows = await tx.all(
    sql`INSERT INTO leaderboard_names (name_key, name, person, chosen_at) VALUES (${key}, ${name}, ${person}, parley_now())
      ON CONFLICT (name_key) DO NOTHING RETURNING name_key`,
  );
  return rows.length === 1;
}

/** Deletes the person's name; somebody else may choose it. */
export async function dropLeaderboardName(tx: Tx, person: string): Promise<void> {
  await tx.all(sql`DELETE FROM leaderboard_names WHERE person = ${person}`);
}

/** Takes a name from whoever has it; nobody can choose it again. False where nobody has it. */
export async function banLeaderboardName(tx: Tx, key: string): Promise<boolean> {
  const rows = await tx.all(
    sql`UPDATE leaderboard_names SET person = NULL WHERE name_key = ${key} AND person IS NOT NULL RETURNING name_key`,
  );
  return rows.length === 1;
}
