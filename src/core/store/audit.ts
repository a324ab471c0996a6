import { hash } from "node:crypto";
import { canonicalExact } from "../../lib/json/exact-json.ts";
import { yieldToEventLoop } from "../../lib/event-loop.ts";
import type { DecisionOrigin } from "../model/decision-origin.ts";
import { type Db, first, one, type Queryable, storeNow, type Tx } from "./db.ts";
import { lockedRows } from "./locked-rows.ts";
import { empty, join, sql, type Sql } from "./sql.ts";

/**
 * The author of an entry: a person, somebody of the crowd, an agent, a rule, or the clock. Never a name or an address.
 */
export interface Actor {
  kind: "human" | "crowd" | "address" | "agent" | "admin" | "policy" | "clock" | "server";
  id: string;
}

export interface AuditNote {
  /** The store's clock where the transaction has read it; otherwise it is read once more. */
  at?: number;
  actor: Actor;
  action: string;
  agent?: string;
  subjectId?: string;
  callId?: string;
  via?: string;
  /** By which message, and from which address, somebody decided: in the chain, so that it is never forgotten. */
  origin?: DecisionOrigin;
  digest?: string;
  /** Details that may be forgotten later; the chain covers only their hash. */
  data?: Readonly<Record<string, unknown>>;
}

/** One entry as it is read. */
export interface AuditEntry {
  seq: number;
  at: string;
  actor: Actor;
  action: string;
  agent?: string;
  ask_id?: string;
  call_id?: string;
  via?: string;
  delivery?: string;
  address_mac?: string;
  consent_digest?: string;
  data_hash: string;
  data?: Record<string, unknown>;
  prev: string;
  hash: string;
}

/** The number of entries sealed at once. They are soon done: every other server that would seal waits for it. */
const SEALED_AT_ONCE = 100;

const sha256 = (text: string): string => hash("sha256", text);

/** Returns the agent as the record names it: by the name its key was issued for, or as `open:…`. */
export function auditedAgent(principal: string): string {
  return principal.replace(/^agent:/, "");
}

/**
 * Appends to the record of who did what, in the transaction of what it describes. The entries are there when that has
 * committed; `sealAudit` gives them their number and their place in the chain afterwards, so that no two transactions
 * ever wait for each other here. A verb appends when it holds every row that it changes: then the entries of two that
 * changed the same row stand in the order of their commits.
 */
export async function appendAudit(tx: Tx, ...notes: readonly AuditNote[]): Promise<void> {
  if (notes.length === 0) return;
  const at = notes[0]?.at ?? (await storeNow(tx));
  await tx.all(sql`INSERT INTO audit (at, action, agent, ask_id, call_id, entry, data)
    VALUES ${join(notes.map((note) => entryRow(note, at)))}`);
}

function entryRow(note: AuditNote, at: number): Sql {
  const { actor } = note;
  const agent = note.agent === undefined ? undefined : auditedAgent(note.agent);
  const data = canonicalExact(note.data ?? {});
  const entry = canonicalExact({
    at: new Date(at).toISOString(),
    // Addresses stay in the directory. For somebody who is not enrolled, the record keeps the kind and a value that
    // proves the address to a holder of the installation key who already knows it.
    actor: actor.kind === "address" ? { ...actor, id: actor.id.split(":", 1).join("") } : actor,
    action: note.action,
    agent,
    ask_id: note.subjectId,
    call_id: note.callId,
    via: note.via,
    delivery: note.origin?.delivery,
    address_mac: note.origin?.addressMac,
    consent_digest: note.digest,
    data_hash: sha256(data),
  });
  return sql`(${at}, ${note.action}, ${agent ?? null}, ${note.subjectId ?? null}, ${note.callId ?? null}, ${entry}, ${data})`;
}

/** Returns the times of all entries of an action, the newest first. */
export async function listEntryTimes(on: Queryable, action: string): Promise<number[]> {
  const rows = await on.all<{ at: number }>(sql`SELECT at FROM audit WHERE action = ${action} ORDER BY id DESC`);
  return rows.map(({ at }) => at);
}

/** Returns the newest entry of an action with its details, and whether nothing was entered after it. */
export async function findNewestEntry(
  on: Queryable,
  action: string,
): Promise<{ at: number; data: Record<string, unknown>; isLast: boolean } | undefined> {
  const row = await first<{ at: number; data: string | null; later: number }>(
    on,
    sql`SELECT a.at, a.data, (SELECT count(*) FROM audit b WHERE b.id > a.id) AS later FROM audit a
      WHERE a.action = ${action} ORDER BY a.id DESC LIMIT 1`,
  );
  if (!row) return undefined;
  return { at: row.at, data: JSON.parse(row.data ?? "{}") as Record<string, unknown>, isLast: row.later === 0 };
}

/** The newest number and hash of the chain. */
export interface AuditHead {
  seq: number;
  hash: string;
}

/**
 * Gives the oldest entries outside the chain their numbers and hashes, in the order in which they were written:
 * `hash = SHA-256(prev + JCS(entry without data, prev and hash))` (spec/a2h 18). Returns whether there
 * may be more.
 *
 * The sealing server holds the head's row, and nobody else ever does. It sees every entry that had committed when it
 * got the row. An entry that commits later with a lower `id` comes into the chain after it. A server that freezes here
 * loses its transaction to the database (`idle_in_transaction_session_timeout`), and with it the row: nothing it does
 * later can count.
 */
export async function sealAudit(db: Db): Promise<boolean> {
  if (!(await first(db, sql`SELECT id FROM audit WHERE seq IS NULL LIMIT 1`))) return false;
  const { value: sealed } = await db.transact(async (tx) => {
    const head = await one<AuditHead>(tx, lockedRows(tx, "audit_head", sql`id = 1`));
    const rows = await tx.all<{ id: number; entry: string }>(
      sql`SELECT id, entry FROM audit WHERE seq IS NULL ORDER BY id LIMIT ${SEALED_AT_ONCE}`,
    );
    const updates = rows.map((row) => {
      head.seq += 1;
      const entry = withSeq(row.entry, head.seq);
      const prev = head.hash;
      head.hash = sha256(prev + entry);
      return sql`UPDATE audit SET seq = ${head.seq}, entry = ${entry}, prev = ${prev}, hash = ${head.hash} WHERE id = ${row.id}`;
    });
    updates.push(sql`UPDATE audit_head SET seq = ${head.seq}, hash = ${head.hash} WHERE id = 1`);
    await Promise.all(updates.map((update) => tx.all(update)));
    return rows.length;
  });
  return sealed === SEALED_AT_ONCE;
}

/** Returns an entry's canonical text with its number: of the members of an entry, `via` alone sorts after `seq`. */
function withSeq(entry: string, seq: number): string {
  const [end = ""] = /(?:,"via":"[^"\\]*")?\}$/.exec(entry) ?? [];
  return `${entry.slice(0, entry.length - end.length)},"seq":${seq}${end}`;
}

export interface AuditFilter {
  subjectId?: string;
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

/** One page of the chain. */
export interface AuditPage {
  items: AuditEntry[];
  hasMore: boolean;
  head: AuditHead;
  /** How many entries have committed and are not in the chain yet: no page holds them. */
  unsealed: number;
}

/**
 * Returns entries of the chain that follow `afterSeq`, oldest first, or those before `beforeSeq`, newest first; and the
 * newest number and hash of the whole record.
 */
export async function listAudit(on: Queryable, filter: AuditFilter): Promise<AuditPage> {
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
  // Before the page: an entry that is sealed between the two is in both, rather than in neither.
  const { unsealed } = await one<{ unsealed: number }>(
    on,
    sql`SELECT count(*) AS unsealed FROM audit WHERE seq IS NULL`,
  );
  const rows = await on.all<{ seq: number; entry: string; data: string | null; prev: string; hash: string }>(
    sql`SELECT seq, entry, data, prev, hash FROM audit WHERE seq > ${filter.afterSeq}
        ${only("ask_id", filter.subjectId)} ${only("call_id", filter.callId)} ${only("agent", filter.agent)}
        ${only("action", filter.action)}
        ${filter.sinceMs === undefined ? empty : sql`AND at >= ${filter.sinceMs}`}
        ${filter.untilMs === undefined ? empty : sql`AND at < ${filter.untilMs}`}
        ${filter.beforeSeq === undefined ? empty : sql`AND seq < ${filter.beforeSeq}`}
      ORDER BY seq ${filter.beforeSeq === undefined ? empty : sql`DESC`} LIMIT ${filter.limit + 1}`,
  );
  const head = await findAuditHead(on);
  const items = rows.slice(0, filter.limit).map((row): AuditEntry => {
    const entry = JSON.parse(row.entry) as Omit<AuditEntry, "seq" | "data" | "prev" | "hash">;
    const data = row.data === null ? {} : { data: JSON.parse(row.data) as Record<string, unknown> };
    return { ...entry, ...data, seq: row.seq, prev: row.prev, hash: row.hash };
  });
  return { items, hasMore: rows.length > filter.limit, head, unsealed };
}

function findAuditHead(on: Queryable): Promise<AuditHead> {
  return one<AuditHead>(on, sql`SELECT seq, hash FROM audit_head WHERE id = 1`);
}

/** Returns how many entries are in the chain, and how many are not yet. */
export function countEntries(on: Queryable): Promise<{ sealed: number; unsealed: number }> {
  return one(
    on,
    sql`SELECT seq AS sealed, (SELECT count(*) FROM audit WHERE seq IS NULL) AS unsealed FROM audit_head WHERE id = 1`,
  );
}

/** Returns the entries of the record whose actor is the person, or whose data is about them, oldest first. */
export function listEntriesNaming(on: Queryable, person: string): Promise<{ entry: string; data: string | null }[]> {
  const by = `%"actor":{"id":${JSON.stringify(person)},"kind":"human"}%`;
  const about = `%"person":${JSON.stringify(person)}%`;
  return on.all(sql`SELECT entry, data FROM audit WHERE entry LIKE ${by} OR data LIKE ${about} ORDER BY id`);
}

/** Returns what the first such entry about an ask says, whether or not it is in the chain yet. */
export async function findNoted(
  on: Queryable,
  { subjectId, action }: { subjectId: string; action: string },
): Promise<{ actor: Actor; consent_digest?: string } | undefined> {
  const row = await first<{ entry: string }>(
    on,
    sql`SELECT entry FROM audit WHERE ask_id = ${subjectId} AND action = ${action} ORDER BY id LIMIT 1`,
  );
  return row && (JSON.parse(row.entry) as { actor: Actor; consent_digest?: string });
}

/** Returns the data of the newest entry of this kind, whether or not it is in the chain yet; nothing where it was forgotten. */
export async function findLastNoted(on: Queryable, action: string): Promise<unknown> {
  const row = await first<{ data: string | null }>(
    on,
    sql`SELECT data FROM audit WHERE action = ${action} ORDER BY id DESC LIMIT 1`,
  );
  return row?.data === undefined || row.data === null ? undefined : JSON.parse(row.data);
}

/**
 * Returns the first entry whose hash does not follow from the one before it, or nothing. The last one must be the head
 * of the chain, so that none can be cut off at its end.
 */
export async function findBrokenAudit(on: Queryable): Promise<number | undefined> {
  const head = await findAuditHead(on);
  let prev = "";
  for (let after = 0; ;) {
    const rows = await on.all<{ seq: number; entry: string; data: string | null; prev: string; hash: string }>(
      sql`SELECT seq, entry, data, prev, hash FROM audit WHERE seq > ${after} ORDER BY seq LIMIT 500`,
    );
    for (const row of rows) {
      const entry = JSON.parse(row.entry) as { data_hash: string };
      const isWhole = row.data === null || sha256(row.data) === entry.data_hash;
      if (row.prev !== prev || !isWhole || sha256(prev + row.entry) !== row.hash) return row.seq;
      if (row.seq === head.seq && row.hash !== head.hash) return row.seq;
      prev = row.hash;
      after = row.seq;
    }
    await yieldToEventLoop();
    if (rows.length < 500) return after < head.seq ? after + 1 : undefined;
  }
}

/**
 * Returns the entries that the chain went past: they committed, and others that were written five seconds later are in
 * it. The last entries before a server was killed are not among them: the next server seals those.
 */
export async function findLeftOutAudit(on: Queryable): Promise<number[]> {
  const rows = await on.all<{ id: number }>(
    sql`SELECT left_out.id FROM audit left_out WHERE left_out.seq IS NULL AND EXISTS (
        SELECT 1 FROM audit later WHERE later.id > left_out.id AND later.seq IS NOT NULL AND later.at > left_out.at + 5000)
      ORDER BY left_out.id LIMIT 20`,
  );
  return rows.map(({ id }) => id);
}

/** Writes entries into the record, last of all. */
export async function writeNotes(tx: Tx, notes: readonly AuditNote[]): Promise<void> {
  await appendAudit(tx, ...notes);
}
