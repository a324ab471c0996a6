import type { AnswerSource, Attestation } from "../model/ask.ts";
import type { PolicyTrace } from "../../policy/model/trace.ts";
import { one, type Queryable, type Tx } from "../../core/store/db.ts";
import { json, rowsOf } from "../../core/store/rows.ts";
import { empty, join, sql, type Sql } from "../../core/store/sql.ts";

/** One decision that may be repeated (spec/relay 9). */
export interface CachedDecision {
  key: string;
  text: string | null;
  json: unknown;
  policyTrace: PolicyTrace | null;
  attestation: Attestation | null;
  /** `role.clarifier@v1`, or null for none. */
  role: string | null;
  source: AnswerSource;
  /** The person who gave the answer; null for a machine's answer. */
  answeredBy: string | null;
  createdAt: number;
  ttlS: number;
  hits: number;
  lastHitAt: number | null;
}

const decisionRows = rowsOf<CachedDecision>()({
  key: "decision_key",
  text: "answer_text",
  json: (row: { answer_json: string | null }): unknown =>
    row.answer_json === null ? undefined : JSON.parse(row.answer_json),
  policyTrace: json("policy_trace_json"),
  attestation: json("attestation_json"),
  role: "role",
  source: "source",
  answeredBy: "answered_by",
  createdAt: "created_at",
  ttlS: "ttl_seconds",
  hits: "hits",
  lastHitAt: "last_hit_at",
});

/** A decision to be kept; a later one of the same key takes its place. */
export type NewDecision = Pick<
  CachedDecision,
  "key" | "text" | "json" | "policyTrace" | "attestation" | "role" | "source" | "answeredBy" | "ttlS"
> & { seedKey: string };

export async function keepDecision(tx: Tx, decision: NewDecision): Promise<void> {
  const jsonOrNull = (value: unknown): string | null =>
    value === undefined || value === null ? null : JSON.stringify(value);
  await tx.all(
    sql`INSERT INTO decision_cache (decision_key, answer_json, answer_text, policy_trace_json, created_at, ttl_seconds,
        seed_key, attestation_json, role, source, answered_by, hits)
      VALUES (${decision.key}, ${jsonOrNull(decision.json)}, ${decision.text}, ${jsonOrNull(decision.policyTrace)}, (SELECT parley_now()), ${decision.ttlS},
        ${decision.seedKey}, ${jsonOrNull(decision.attestation)}, ${decision.role}, ${decision.source}, ${decision.answeredBy}, 0)
      ON CONFLICT (decision_key) DO UPDATE SET answer_json = excluded.answer_json, answer_text = excluded.answer_text,
        policy_trace_json = excluded.policy_trace_json, created_at = excluded.created_at,
        ttl_seconds = excluded.ttl_seconds, attestation_json = excluded.attestation_json, source = excluded.source,
        answered_by = excluded.answered_by`,
  );
}

/** Returns the decisions of exactly these keys whose time is not over. */
export async function findDecisions(on: Queryable, keys: readonly string[]): Promise<CachedDecision[]> {
  return decisionRows.all(
    on,
    sql`SELECT * FROM decision_cache
      WHERE decision_key IN (${join(keys)}) AND created_at + ttl_seconds * 1000 > (SELECT parley_now())`,
  );
}

/** Counts that a decision was repeated. */
export async function countHit(tx: Tx, key: string): Promise<void> {
  await tx.all(
    sql`UPDATE decision_cache SET hits = hits + 1, last_hit_at = (SELECT parley_now()) WHERE decision_key = ${key}`,
  );
}

/** Where a page of decisions ended. */
export interface DecisionPosition {
  at: number;
  id: string;
}

const isGood = (role: string | undefined): Sql =>
  sql`created_at + ttl_seconds * 1000 > (SELECT parley_now())
    ${role === undefined ? empty : sql`AND (role = ${role} OR role LIKE ${`${role}@%`})`}`;

/** Returns one page of what may be repeated, the newest first; of one role, or of all. */
export async function listDecisions(
  on: Queryable,
  { role, after, limit }: { role?: string; after?: DecisionPosition; limit: number },
): Promise<CachedDecision[]> {
  return decisionRows.all(
    on,
    sql`SELECT * FROM decision_cache WHERE ${isGood(role)}
        ${after === undefined ? empty : sql`AND (created_at, decision_key) < (${after.at}, ${after.id})`}
      ORDER BY created_at DESC, decision_key DESC LIMIT ${limit}`,
  );
}

/** Returns how many decisions may be repeated; of one role, or of all. */
export async function countDecisions(on: Queryable, role: string | undefined): Promise<number> {
  return (await one<{ count: number }>(on, sql`SELECT count(*) AS count FROM decision_cache WHERE ${isGood(role)}`))
    .count;
}

/** Returns how many decisions are kept, those included that may not be repeated any more. */
export async function countAllDecisions(on: Queryable): Promise<number> {
  return (await one<{ count: number }>(on, sql`SELECT count(*) AS count FROM decision_cache`)).count;
}

/** Forgets one decision, those of one role, or all. Returns how many there were. */
export async function forgetDecisions(tx: Tx, which: { key: string } | { role: string } | "all"): Promise<number> {
  const wanted =
    which === "all"
      ? empty
      : "key" in which
        ? sql`WHERE decision_key = ${which.key}`
        : sql`WHERE role = ${which.role} OR role LIKE ${`${which.role}@%`}`;
  const rows = await tx.all(sql`DELETE FROM decision_cache ${wanted} RETURNING decision_key`);
  return rows.length;
}

/** Deletes what may not be repeated any more. Returns whether there was any. */
export async function deleteStaleDecisions(tx: Tx, limit: number): Promise<boolean> {
  const rows = await tx.all(
    sql`DELETE FROM decision_cache WHERE decision_key IN (SELECT decision_key FROM decision_cache
      WHERE created_at + ttl_seconds * 1000 <= (SELECT parley_now()) LIMIT ${limit}) RETURNING decision_key`,
  );
  return rows.length > 0;
}
