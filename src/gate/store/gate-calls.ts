import type { RequestId } from "../../core/model/ids.ts";
import type { GateCall, NewGateCall } from "../model/gate-call.ts";
import type { Queryable, Tx } from "../../core/store/db.ts";
import { flag, rowsOf } from "../../core/store/rows.ts";
import { raw, sql } from "../../core/store/sql.ts";
import { isFrozen } from "../../policy/store/freezes.ts";
import { SHOWN_CALLS } from "../../requests/store/tables.ts";

const callRows = rowsOf<GateCall>()({
  requestId: "ask_id",
  asker: "asker",
  gate: "gate",
  tool: "tool",
  sameHash: "same_hash",
  policyVersion: "policy_version",
  goodUntil: "good_until",
  digest: "digest",
  isRepeatable: flag("repeatable"),
  againOf: "again_of",
  state: "state",
  run: "run",
  consentDigest: "consent_digest",
  startedAt: "started_at",
  heldUntil: "held_until",
  endedAt: "ended_at",
  outcome: "outcome",
  resultDigest: "result_digest",
});

export async function insertGateCall(tx: Tx, call: NewGateCall): Promise<void> {
  await tx.all(
    sql`INSERT INTO gate_calls (ask_id, asker, gate, tool, same_hash, policy_version, good_until, digest, repeatable,
        again_of, state)
      VALUES (${call.requestId}, ${call.asker}, ${call.gate}, ${call.tool}, ${call.sameHash}, ${call.policyVersion},
        ${call.goodUntil}, ${call.digest}, ${call.isRepeatable ? 1 : 0}, ${call.againOf}, 'asked')`,
  );
}

export async function findGateCall(on: Queryable, requestId: RequestId): Promise<GateCall | undefined> {
  return callRows.first(on, sql`SELECT * FROM gate_calls WHERE ask_id = ${requestId}`);
}

/** Returns the same calls of an agent that are neither over nor known to have ended, the newest first. */
export async function findSameCalls(on: Queryable, asker: string, sameHash: string): Promise<GateCall[]> {
  return callRows.all(
    on,
    sql`SELECT c.* FROM gate_calls c LEFT JOIN ${SHOWN_CALLS} a ON a.ask_id = c.ask_id
      WHERE c.asker = ${asker} AND c.same_hash = ${sameHash} AND c.state IN ('asked', 'started', 'unknown')
      ORDER BY coalesce(a.created_at, 0) DESC, c.ask_id LIMIT 100`,
  );
}

/** Returns the gated call before this one in its plan. */
export async function findCallBefore(on: Queryable, requestId: RequestId): Promise<GateCall | undefined> {
  return callRows.first(
    on,
    sql`SELECT c.* FROM ${SHOWN_CALLS} a JOIN ${SHOWN_CALLS} b ON b.plan = a.plan AND b.plan_ord = a.plan_ord - 1
      JOIN gate_calls c ON c.ask_id = b.ask_id WHERE a.ask_id = ${requestId}`,
  );
}

/**
 * The approval is used, and the call is one run's, if nobody has used it before, it is still good, and the policy is the
 * one under which it was asked. Of any number at once, on any server, one gets it.
 */
export async function startIfAsked(
  tx: Tx,
  { requestId, policyVersion }: Pick<GateCall, "requestId" | "policyVersion">,
  { run, consentDigest, heldMs }: { run: string; consentDigest: string; heldMs: number },
): Promise<GateCall | undefined> {
  return callRows.first(
    tx,
    sql`UPDATE gate_calls SET state = 'started', run = ${run}, consent_digest = ${consentDigest},
        started_at = (SELECT parley_now()), held_until = (SELECT parley_now()) + ${heldMs}
      WHERE ask_id = ${requestId} AND state = 'asked' AND policy_version = ${policyVersion}
        AND good_until + frozen_ms > (SELECT parley_now())
        AND NOT ${isFrozen(raw("asker"))} RETURNING *`,
  );
}

/** The call will not run, unless it has started; true if it had not. */
export async function dropIfAsked(tx: Tx, requestId: RequestId): Promise<boolean> {
  const rows = await tx.all(
    sql`UPDATE gate_calls SET state = 'dropped' WHERE ask_id = ${requestId} AND state = 'asked' RETURNING ask_id`,
  );
  return rows.length > 0;
}

/** The gate of a running call has shown life; nothing where the call does not run, or is another run's. */
export async function holdIfStarted(
  tx: Tx,
  { requestId, run, heldMs }: { requestId: RequestId; run: string; heldMs: number },
): Promise<GateCall | undefined> {
  return callRows.first(
    tx,
    sql`UPDATE gate_calls SET held_until = (SELECT parley_now()) + ${heldMs}
      WHERE ask_id = ${requestId} AND run = ${run} AND state = 'started' RETURNING *`,
  );
}

/** The call has ended, as its run says; also one that was given up for unknown before. */
export async function endIfBegun(
  tx: Tx,
  { requestId, run }: { requestId: RequestId; run: string },
  { outcome, digest }: { outcome: "result" | "error"; digest: string },
): Promise<GateCall | undefined> {
  return callRows.first(
    tx,
    sql`UPDATE gate_calls SET state = 'ended', ended_at = (SELECT parley_now()), outcome = ${outcome},
        result_digest = ${digest}
      WHERE ask_id = ${requestId} AND run = ${run} AND state IN ('started', 'unknown', 'settled') RETURNING *`,
  );
}

/** Whether the call ran is not known: its gate says so itself, or has shown no life for too long. */
export async function giveUpIfStarted(
  tx: Tx,
  { requestId, run }: { requestId: RequestId; run: string | null },
): Promise<GateCall | undefined> {
  return callRows.first(
    tx,
    run === null
      ? sql`UPDATE gate_calls SET state = 'unknown' WHERE ask_id = ${requestId} AND state = 'started'
          AND held_until <= (SELECT parley_now()) RETURNING *`
      : sql`UPDATE gate_calls SET state = 'unknown' WHERE ask_id = ${requestId} AND state = 'started' AND run = ${run}
          RETURNING *`,
  );
}

/** A call without a known end is run again, and stands in nobody's way any more. */
export async function settleUnknown(tx: Tx, requestId: RequestId): Promise<GateCall | undefined> {
  return callRows.first(
    tx,
    sql`UPDATE gate_calls SET state = 'settled' WHERE ask_id = ${requestId} AND state = 'unknown' RETURNING *`,
  );
}

/** Returns calls whose gates have shown no life for too long. */
export async function findLapsed(on: Queryable, limit: number): Promise<string[]> {
  const rows = await on.all<{ ask_id: string }>(
    sql`SELECT ask_id FROM gate_calls WHERE state = 'started' AND held_until <= (SELECT parley_now())
      ORDER BY held_until LIMIT ${limit}`,
  );
  return rows.map((row) => row.ask_id);
}

/** Deletes calls whose requests are gone; one without a known end stays, because it must not run again unnoticed. */
export async function deleteForgottenCalls(tx: Tx, limit: number): Promise<boolean> {
  const rows = await tx.all(
    sql`DELETE FROM gate_calls WHERE ask_id IN (
        SELECT c.ask_id FROM gate_calls c LEFT JOIN ${SHOWN_CALLS} a ON a.ask_id = c.ask_id
        WHERE a.ask_id IS NULL AND c.state NOT IN ('started', 'unknown') LIMIT ${limit}) RETURNING ask_id`,
  );
  return rows.length === limit;
}
