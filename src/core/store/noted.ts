import type { Actor } from "./audit.ts";
import type { Queryable } from "./db.ts";
import { empty, sql, type Sql } from "./sql.ts";

/** An entry of the record, whether or not it is in the chain yet. */
export interface Noted {
  /** Orders the entries of one time. */
  id: number;
  at: number;
  actor: Actor;
  action: string;
  via: string | undefined;
  /** The agent as the record names it. */
  agent: string | undefined;
  subjectId: string | undefined;
  /** Empty where it was forgotten. */
  data: Readonly<Record<string, unknown>>;
}

/**
 * Returns up to `limit` entries `u` of the record, as SQL selects them behind `FROM audit u`, that come before a place: the
 * newest first. The SQL ends with a condition, and has to name an index.
 */
export async function listNoted(
  on: Queryable,
  selected: Sql,
  { before, limit }: { before: { at: number; id: number } | undefined; limit: number },
): Promise<Noted[]> {
  const rows = await on.all<{ id: number; at: number; entry: string; data: string | null }>(
    sql`SELECT u.id, u.at, u.entry, u.data FROM audit u ${selected}
        ${before ? sql`AND (u.at, u.id) < (${before.at}, ${before.id})` : empty}
      ORDER BY u.at DESC, u.id DESC LIMIT ${limit}`,
  );
  return rows.map(({ id, at, entry, data }) => {
    const noted = JSON.parse(entry) as { actor: Actor; action: string; via?: string; agent?: string; ask_id?: string };
    const { actor, action, via, agent, ask_id: subjectId } = noted;
    return { id, at, actor, action, via, agent, subjectId, data: JSON.parse(data ?? "{}") as Noted["data"] };
  });
}
