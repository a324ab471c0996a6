import type { RequestId } from "../../core/model/ids.ts";
import type { Context } from "../../context.ts";
import { appendAudit, type Actor } from "../../core/store/audit.ts";
import type { Tx } from "../../core/store/db.ts";
import { transact } from "../../core/store/transact.ts";
import { INBOX_TOPIC, requestTopic } from "../../core/store/wake.ts";
import { withoutSecrets } from "../../core/without-secrets.ts";
import { Refusal } from "../../refusals.ts";
import { aboutRequest } from "../create/create-request.ts";
import {
  type CallOutcome,
  type NotRunReport,
  outcomeAt,
  type OutcomeReport,
  reported,
  startedOutcome,
  type StartReport,
} from "../model/call-outcome.ts";
import type { Request } from "../model/request.ts";
import { lockCallOutcome, startIfAwaited, upsertCallOutcome } from "../store/call-outcomes.ts";
import { lockRequest, type RequestAt } from "../store/requests.ts";

type Reporting = Pick<Context, "db" | "wake" | "secrets">;

/** The outcome after a report; `repeated` where that had said so before. */
export interface Reported {
  outcome: CallOutcome;
  repeated: boolean;
}

/**
 * Stores how an approved call ended, as its agent reports it. A repeat changes nothing. A report that comes late replaces
 * `unknown`, because a known end is better than an unknown one (spec/a2h 24).
 *
 * @throws {Refusal} `request_not_found`, `not_approved`, `outcome_known`, `outcome_started`
 */
export async function reportOutcome(ctx: Reporting, requestId: RequestId, report: OutcomeReport): Promise<Reported> {
  const clean = await withoutSecrets(ctx, report);
  return transact(ctx, async (tx) => {
    const locked = await lockRequest(tx, requestId);
    if (!locked) throw new Refusal("request_not_found");
    return reportOutcomeIn(tx, locked, clean);
  });
}

/** The same of a locked request in the transaction under way; also of a start. Its words hold no secrets any more. */
export async function reportOutcomeIn(
  tx: Tx,
  locked: RequestAt,
  report: OutcomeReport | StartReport | NotRunReport,
): Promise<Reported> {
  const { request, now } = locked;
  const former = outcomeAt(request, await lockCallOutcome(tx, request.id), locked);
  if (!former) throw new Refusal("not_approved");
  const outcome = reported(former, report, now);
  if (outcome === former) return { outcome, repeated: true };
  await storeOutcome(tx, request, outcome, { kind: "agent", id: request.asker });
  return { outcome, repeated: false };
}

/** Stores the outcome of a call in the transaction under way, with an entry of the record, and tells who looks at it. */
async function storeOutcome(tx: Tx, request: Request, outcome: CallOutcome, by: Actor): Promise<void> {
  await upsertCallOutcome(tx, request.id, outcome);
  const { state, run, resultDigest } = outcome;
  await appendAudit(tx, {
    actor: by,
    ...aboutRequest(request, "outcome"),
    ...(request.outcome?.digest !== undefined && { digest: request.outcome.digest }),
    data: { state, ...(run !== null && { run }), ...(resultDigest !== null && { result_digest: resultDigest }) },
  });
  tx.wake(requestTopic(request.id));
  tx.wake(INBOX_TOPIC);
}

/**
 * A run has the call of a locked request from now on, if that is approved; its claim is the entry of the record.
 *
 * @throws {Refusal} `outcome_known` for a call that has ended: its run would be another one
 */
export async function startCallIn(tx: Tx, request: Request, run: string, now: number): Promise<void> {
  const former = outcomeAt(request, await lockCallOutcome(tx, request.id), { now, isFrozen: false });
  if (!former) return;
  await upsertCallOutcome(tx, request.id, startedOutcome(former, run, now));
  tx.wake(INBOX_TOPIC);
}

/**
 * A run has a call that its plan or its door gives away, from now on until it is given up.
 *
 * @throws {Refusal} `outcome_known` for a call that has ended, as by a withdrawal: nothing starts it again
 */
export async function startAwaitedIn(
  tx: Tx,
  requestId: RequestId,
  run: string,
  withinMs: number | null,
): Promise<void> {
  if (!(await startIfAwaited(tx, requestId, run, withinMs))) {
    // An approval that is older than outcomes has none.
    const ended = await lockCallOutcome(tx, requestId);
    if (ended) throw new Refusal("outcome_known", { state: ended.state, at: ended.at });
  }
  tx.wake(INBOX_TOPIC);
}

/** Ends a call whose report is overdue: it was not run, or nobody knows. Returns whether it did. */
export async function giveUpOutcome(ctx: Pick<Context, "db" | "wake">, requestId: RequestId): Promise<boolean> {
  return transact(ctx, async (tx) => {
    const locked = await lockRequest(tx, requestId);
    const stored = locked && (await lockCallOutcome(tx, requestId));
    const outcome = stored && outcomeAt(locked.request, stored, locked);
    if (!outcome || outcome === stored) return false;
    await storeOutcome(tx, locked.request, outcome, { kind: "clock", id: "clock" });
    return true;
  });
}
