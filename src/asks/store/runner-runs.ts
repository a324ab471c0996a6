import type { AskId } from "../../core/model/ids.ts";
import { first, type Queryable, type Tx } from "../../core/store/db.ts";
import { sql } from "../../core/store/sql.ts";

/** A run that identical asks share. */
export interface SharedRun {
  /** The ask whose run it is. */
  askId: AskId;
  /** JSON; null while it runs. */
  outcome: string | null;
  isOver: boolean;
  /** The ask was posted before the one whose run it is had an answer, so that the cache could not serve it. */
  isBeside: boolean;
}

/** The topic that identical asks wait on. */
export const runTopic = (decisionKey: string): string => `run:${decisionKey}`;

/** Outcomes are there for asks beside the one whose run it was, and not for those that come later: the cache serves these. */
const KEPT_MS = 10_000;

/**
 * Takes the run for this ask if nobody has it, or whoever had it is done or gone; true if it did. One statement: of
 * identical asks at one time, on however many nodes, one gets it.
 */
export async function claimRun(on: Queryable, decisionKey: string, askId: AskId, forMs: number): Promise<boolean> {
  const rows = await on.all(
    sql`INSERT INTO runner_runs (decision_key, ask_id, outcome, claimed_until)
      VALUES (${decisionKey}, ${askId}, NULL, parley_now() + ${forMs})
      ON CONFLICT (decision_key) DO UPDATE SET ask_id = excluded.ask_id, outcome = NULL,
          claimed_until = excluded.claimed_until
        WHERE runner_runs.outcome IS NOT NULL OR runner_runs.claimed_until < parley_now()
      RETURNING ask_id`,
  );
  return rows.length > 0;
}

/** Returns the newest run of a decision, as the ask `askId` sees it. */
export async function findRun(on: Queryable, decisionKey: string, askId: AskId): Promise<SharedRun | undefined> {
  const row = await first<{ ask_id: string; outcome: string | null; over: number; beside: number }>(
    on,
    sql`SELECT r.ask_id, r.outcome, CASE WHEN r.claimed_until < parley_now() THEN 1 ELSE 0 END AS over,
        CASE WHEN a.ask_id IS NULL OR EXISTS (SELECT 1 FROM answers s WHERE s.ask_id = r.ask_id AND s.created_at < a.created_at)
          THEN 0 ELSE 1 END AS beside
      FROM runner_runs r LEFT JOIN asks a ON a.ask_id = ${askId} WHERE r.decision_key = ${decisionKey}`,
  );
  return row && { askId: row.ask_id, outcome: row.outcome, isOver: row.over === 1, isBeside: row.beside === 1 };
}

/** Stores the outcome for those who wait for the run, unless another process has taken it over meanwhile. */
export async function finishRun(tx: Tx, decisionKey: string, askId: AskId, outcome: string): Promise<void> {
  await tx.all(
    sql`UPDATE runner_runs SET outcome = ${outcome}, claimed_until = parley_now() + ${KEPT_MS}
      WHERE decision_key = ${decisionKey} AND ask_id = ${askId}`,
  );
  await tx.all(sql`DELETE FROM runner_runs WHERE claimed_until < parley_now() - ${KEPT_MS}`);
  tx.wake(runTopic(decisionKey));
}

/** Releases a run that did not end, so that one of those who wait for it may take it over. */
export async function releaseRun(tx: Tx, decisionKey: string, askId: AskId): Promise<void> {
  await tx.all(
    sql`UPDATE runner_runs SET claimed_until = parley_now() - 1
      WHERE decision_key = ${decisionKey} AND ask_id = ${askId} AND outcome IS NULL`,
  );
  tx.wake(runTopic(decisionKey));
}
