import { createHash } from "node:crypto";
import { canonicalExact } from "../lib/exact-json.ts";
import { nextTurn } from "../lib/turn.ts";
import { one, type Queryable, type Tx } from "./db.ts";
import { empty, sql } from "./sql.ts";

/** Who did something: a person, an agent, a rule, or the clock. Never a name or an address. */
export interface Actor {
  kind: "human" | "address" | "agent" | "admin" | "policy" | "clock" | "server";
  id: string;
}

export interface AuditNote {
  actor: Actor;
  action: string;
  agent?: string;
  askId?: string;
  callId?: string;
  via?: string;
  digest?: string;
  /** What may be forgotten later; the chain covers only its hash. */
  data?: Readonly<Record<string, unknown>>;
}

/** One entry as it is read. */
export type AuditEntry = Readonly<Record<string, unknown>> & { seq: number; hash: string };

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

/** Returns the agent as the record names it: by the name its key was issued for, or as `open:…`. */
function auditedAgent(principal: string): string {
  return principal.replace(/^agent:/, "");
}

/**
 * Appends to the record of who did what, in the transaction of what it describes. Entries are chained:
 * `hash = SHA-256(prev + JCS(entry without data, prev and hash))` (contract-a2h.md, section 18). The head's row is held
 * to the end of the transaction, so that numbers follow commit order.
 */
export async function appendAudit(tx: Tx, ...notes: readonly AuditNote[]): Promise<void> {
  if (notes.length === 0) return;
  const head = await one<{ seq: number; hash: string; now: number }>(
    tx,
    sql`UPDATE audit_head SET seq = seq + ${notes.length} WHERE id = 1 RETURNING seq, hash, parley_now() AS now`,
  );
  let prev = head.hash;
  for (const [i, note] of notes.entries()) {
    prev = await insertEntry(tx, note, { seq: head.seq - notes.length + 1 + i, at: head.now, prev });
  }
  await tx.all(sql`UPDATE audit_head SET hash = ${prev} WHERE id = 1`);
}

/** Returns the entry's hash, which the next one begins with. */
async function insertEntry(
  tx: Tx,
  note: AuditNote,
  { seq, at, prev }: { seq: number; at: number; prev: string },
): Promise<string> {
  const { actor } = note;
  const agent = note.agent === undefined ? undefined : auditedAgent(note.agent);
  const data = canonicalExact(note.data ?? {});
  const entry = canonicalExact({
    seq,
    at: new Date(at).toISOString(),
    // Addresses stay in the directory: of somebody who is not enrolled the record keeps the kind alone.
    actor: actor.kind === "address" ? { ...actor, id: actor.id.replace(/:.*$/s, "") } : actor,
    action: note.action,
    agent,
    ask_id: note.askId,
    call_id: note.callId,
    via: note.via,
    consent_digest: note.digest,
    data_hash: sha256(data),
  });
  const hash = sha256(prev + entry);
  await tx.all(
    sql`INSERT INTO audit (seq, at, action, agent, ask_id, call_id, entry, data, prev, hash)
      VALUES (${seq}, ${at}, ${note.action}, ${agent ?? null}, ${note.askId ?? null}, ${note.callId ?? null}, ${entry},
        ${data}, ${prev}, ${hash})`,
  );
  return hash;
}

export interface AuditFilter {
  askId?: string;
  callId?: string;
  agent?: string;
  action?: string;
  sinceMs?: number;
  untilMs?: number;
  afterSeq: number;
  /** The newest first, those before this one. */
  beforeSeq?: number;
  limit: number;
}

/**
 * Returns entries that follow `afterSeq`, oldest first, or those before `beforeSeq`, newest first; and the newest number
 * and hash of the whole record.
 */
export async function listAudit(
  on: Queryable,
  filter: AuditFilter,
): Promise<{ items: AuditEntry[]; hasMore: boolean; head: { seq: number; hash: string } }> {
  const only = (column: "ask_id" | "call_id" | "agent" | "action", value: string | undefined) => {
    if (value === undefined) return empty;
    switch (column) {
      case "ask_id":
        return sql`AND ask_id = ${value}`;
      case "call_id":
        return sql`AND call_id = ${value}`;
      case "agent":
        return sql`AND agent = ${value}`;
      case "action":
        return sql`AND action = ${value}`;
    }
  };
  const rows = await on.all<{ seq: number; entry: string; data: string | null; prev: string; hash: string }>(
    sql`SELECT seq, entry, data, prev, hash FROM audit WHERE seq > ${filter.afterSeq}
        ${only("ask_id", filter.askId)} ${only("call_id", filter.callId)} ${only("agent", filter.agent)}
        ${only("action", filter.action)}
        ${filter.sinceMs === undefined ? empty : sql`AND at >= ${filter.sinceMs}`}
        ${filter.untilMs === undefined ? empty : sql`AND at < ${filter.untilMs}`}
        ${filter.beforeSeq === undefined ? empty : sql`AND seq < ${filter.beforeSeq}`}
      ORDER BY seq ${filter.beforeSeq === undefined ? empty : sql`DESC`} LIMIT ${filter.limit + 1}`,
  );
  const head = await one<{ seq: number; hash: string }>(on, sql`SELECT seq, hash FROM audit_head WHERE id = 1`);
  const items = rows.slice(0, filter.limit).map((row): AuditEntry => {
    const entry = JSON.parse(row.entry) as Record<string, unknown>;
    const data = row.data === null ? {} : { data: JSON.parse(row.data) as unknown };
    return { ...entry, ...data, seq: row.seq, prev: row.prev, hash: row.hash };
  });
  return { items, hasMore: rows.length > filter.limit, head };
}

/** Returns the first entry whose hash does not follow from the one before it, or nothing. */
export async function findBrokenAudit(on: Queryable): Promise<number | undefined> {
  let prev = "";
  for (let after = 0; ;) {
    const rows = await on.all<{ seq: number; entry: string; data: string | null; prev: string; hash: string }>(
      sql`SELECT seq, entry, data, prev, hash FROM audit WHERE seq > ${after} ORDER BY seq LIMIT 500`,
    );
    for (const row of rows) {
      const entry = JSON.parse(row.entry) as { data_hash: string };
      const isWhole = row.data === null || sha256(row.data) === entry.data_hash;
      if (row.prev !== prev || !isWhole || sha256(prev + row.entry) !== row.hash) return row.seq;
      prev = row.hash;
      after = row.seq;
    }
    await nextTurn();
    if (rows.length < 500) return undefined;
  }
}
