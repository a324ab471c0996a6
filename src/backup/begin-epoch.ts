import { appendAudit } from "../core/store/audit.ts";
import type { Queryable, Tx } from "../core/store/db.ts";
import { readMarks } from "../core/store/store-marks.ts";
import type { Clock } from "../lib/clock.ts";
import { type HeldKind, RESTORED } from "./store/held-rows.ts";
import { OWNED_TABLES } from "./store/owned-tables.ts";

/** The archive of which a store is made, and the moment that it shows. */
export interface EpochSource {
  madeAt: string;
  /** The digest of its rows; a former backup has none. */
  sha256?: string;
}

/** The decisions of the operator about a restore. */
export interface EpochHow {
  clock: Clock;
  /** The kinds of rows that stay in force; those of other kinds are held. */
  keeps: readonly HeldKind[];
}

/**
 * Makes a new epoch of the rows of a backup (spec/security 10.1): sessions, links, leases and unused approvals end, and
 * rights and messages are held until the operator puts them back. Within the transaction that restores the rows.
 */
export async function beginEpoch(on: Queryable, source: EpochSource, { clock, keeps }: EpochHow): Promise<void> {
  // point: restore-before-epoch
  const { lastMs } = await readMarks(on);
  const atMs = Math.max(clock.now(), lastMs + 1);
  for (const table of OWNED_TABLES.flatMap(({ atRestore }) => Object.values(atRestore))) {
    if (table === "stays") continue;
    const { ends, held } = table;
    for (const statement of ends?.(atMs) ?? []) await on.all(statement);
    if (!held || keeps.includes(held.kind)) continue;
    for (const statement of held.hold(atMs)) await on.all(statement);
  }
  const data = restoredData(source, keeps);
  await appendAudit(txAt(on, atMs), { actor: { kind: "server", id: "restore" }, action: RESTORED, data });
}

/** Returns what the record says of a restore: equal for two restores with equal effects. */
export function restoredData({ madeAt, sha256 }: EpochSource, keeps: readonly HeldKind[]): Record<string, unknown> {
  return { made_at: madeAt, ...(sha256 !== undefined && { sha256 }), keeps: keeps.toSorted() };
}

const txAt = (on: Queryable, atMs: number): Tx => ({
  dialect: on.dialect,
  all: (statement) => on.all(statement),
  now: () => atMs,
  wake: () => {},
  tell: () => {},
});
