import type { Context } from "../context.ts";
import { appendAudit, findLastNoted } from "../core/store/audit.ts";
import type { Queryable } from "../core/store/db.ts";
import { transact } from "../core/store/transact.ts";

type Groups = ReadonlyMap<string, readonly string[]>;

const ACTION = "groups.changed";

/**
 * Returns the names of the groups in which other people are than the record's newest entry about groups says, which the
 * server made that was started last; null where there is no such entry.
 */
export async function differingGroups(on: Queryable, groups: Groups): Promise<string[] | null> {
  const last = await findLastNoted(on, ACTION);
  if (last === undefined) return null;
  const former = last as Readonly<Record<string, readonly string[]>>;
  const names = new Set([...groups.keys(), ...Object.keys(former)]);
  const text = (people: readonly string[] | undefined) => people && JSON.stringify([...people].sort());
  return [...names].filter((name) => text(groups.get(name)) !== text(former[name])).sort();
}

/**
 * The record says who is in each group from now on, if that has changed. Returns the names of the groups that have, of
 * those that were known.
 */
export async function noteGroups(ctx: Pick<Context, "db" | "wake">, groups: Groups): Promise<string[]> {
  return transact(ctx, async (tx) => {
    const changed = await differingGroups(tx, groups);
    if (changed === null ? groups.size === 0 : changed.length === 0) return [];
    const data = Object.fromEntries(groups);
    await appendAudit(tx, { actor: { kind: "server", id: "settings" }, action: ACTION, data });
    return changed ?? [];
  });
}
