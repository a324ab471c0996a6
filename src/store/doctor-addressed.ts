import { nextTurn } from "../lib/turn.ts";
import type { AddressedAsk } from "../model/addressed-ask.ts";
import { isSatisfied } from "../model/audience.ts";
import type { Counted } from "../model/settle.ts";
import { findAddressed, listDecisions } from "./addressed-asks.ts";
import { type Actor, findBrokenAudit, listAudit } from "./audit.ts";
import { first, type Queryable } from "./db.ts";
import type { Check } from "./doctor.ts";
import { empty, sql } from "./sql.ts";

const PAGE = 200;
const QUICK_ASKS = 500;
const MOST_OFFENDERS = 20;

/** What must be so of asks to people, beside what the tables themselves refuse. */
export const ADDRESSED_CHECKS: readonly Check[] = [
  {
    check: "T1",
    promise: "no request to people is open more than two seconds past its deadline",
    look: (on) =>
      offenders(
        on,
        sql`SELECT ask_id AS offender FROM addressed_asks
          WHERE state = 'open' AND expires_at < (SELECT parley_now()) - 2000 LIMIT ${MOST_OFFENDERS}`,
      ),
  },
  {
    check: "A10",
    promise:
      "what is approved was approved by enough of those asked, each shown exactly what was approved, " +
      "or by a rule or a standing permission that is on record",
    look: examineApprovals,
  },
  {
    check: "A3",
    promise: "the end of a request to people is in the record once",
    look: (on, quick) =>
      offenders(
        on,
        sql`SELECT a.ask_id AS offender FROM
          (SELECT ask_id FROM addressed_asks WHERE state <> 'open' ORDER BY settled_at DESC
            ${quick ? sql`LIMIT ${QUICK_ASKS}` : empty}) AS a
          WHERE 1 <> (SELECT count(*) FROM audit r WHERE r.ask_id = a.ask_id AND
            (r.action LIKE '%.approved' OR r.action LIKE '%.rejected' OR r.action LIKE '%.answered'
              OR r.action LIKE '%.expired' OR r.action LIKE '%.cancelled')) LIMIT ${MOST_OFFENDERS}`,
      ),
  },
  {
    check: "N1",
    promise: "no message about a request that is over waits to be sent, or was sent and is not to be closed",
    look: (on) =>
      offenders(
        on,
        sql`SELECT d.delivery_id AS offender FROM deliveries d JOIN addressed_asks a ON a.ask_id = d.ask_id
          WHERE a.state <> 'open' AND d.kind <> 'tell' AND d.state IN ('queued', 'sent') LIMIT ${MOST_OFFENDERS}`,
      ),
  },
  {
    check: "J1",
    promise: "every entry of the record follows from the one before it",
    async look(on, quick) {
      // The chain means something only as a whole.
      const broken = quick ? undefined : await findBrokenAudit(on);
      return broken === undefined ? [] : [`entry ${broken}`];
    },
  },
];

async function offenders(on: Queryable, statement: ReturnType<typeof sql>): Promise<string[]> {
  return (await on.all<{ offender: string }>(statement)).map(({ offender }) => offender);
}

async function examineApprovals(on: Queryable, quick: boolean): Promise<string[]> {
  const found: string[] = [];
  for (let after = ""; ;) {
    const rows = await on.all<{ ask_id: string }>(
      quick
        ? sql`SELECT ask_id FROM addressed_asks WHERE state = 'answered' ORDER BY settled_at DESC LIMIT ${QUICK_ASKS}`
        : sql`SELECT ask_id FROM addressed_asks WHERE state = 'answered' AND ask_id > ${after} ORDER BY ask_id LIMIT ${PAGE}`,
    );
    for (const { ask_id } of rows) {
      await nextTurn();
      const ask = (await findAddressed(on, ask_id))?.ask;
      if (ask && !(await isRightlyEnded(on, ask))) found.push(ask_id);
      after = ask_id;
    }
    if (quick || rows.length < PAGE || found.length > MOST_OFFENDERS) return found;
  }
}

async function isRightlyEnded(on: Queryable, ask: AddressedAsk): Promise<boolean> {
  const { by } = ask.outcome ?? {};
  if (by?.kind === "policy" || by?.via === "policy") return isRuled(on, ask);
  return isDecidedByPeople(ask, await listDecisions(on, ask.id));
}

/** By a rule that is named, or by what somebody had allowed for this agent and exactly this, and it is on record. */
async function isRuled(on: Queryable, { id, asker, outcome, digest, createdAt }: AddressedAsk): Promise<boolean> {
  const { trace, by } = outcome ?? {};
  if (!trace || !by || digest === null || outcome?.digest !== digest || trace.defaulted) return false;
  if (trace.decision !== (outcome.approved ? "ALLOW" : "DENY")) return false;
  const action = `function_call.${outcome.approved ? "approved" : "rejected"}`;
  const { items } = await listAudit(on, { askId: id, action, afterSeq: 0, limit: 1 });
  const actor = items[0]?.["actor"] as Partial<Actor> | undefined;
  const kind = by.kind === "person" ? "human" : by.kind;
  if (actor?.kind !== kind || actor.id !== by.id || items[0]?.["consent_digest"] !== digest) return false;
  if (by.kind === "policy") return trace.rule_index !== undefined && trace.policy.startsWith(`${by.id}@v`);
  const grant = await first(
    on,
    sql`SELECT grant_id FROM policy_grants WHERE grant_id = ${trace.grant ?? ""} AND made_by = ${by.id}
      AND digest = ${digest} AND agent = ${asker.replace(/^agent:/, "")} AND created_at <= ${createdAt}
      AND expires_at > ${createdAt} AND (revoked_at IS NULL OR revoked_at >= ${createdAt})`,
  );
  return grant !== undefined;
}

function isDecidedByPeople(
  { outcome, audience, digest, createdAt, settledAt }: AddressedAsk,
  counted: readonly Counted[],
): boolean {
  if (outcome?.by === undefined) return false;
  const last = counted.find(({ decision }) => decision.by.id === outcome.by?.id);
  if (!last || last.decision.approved !== (outcome.approved ?? null)) return false;
  if (outcome.approved !== true) return true;
  if (counted.some(({ decision }) => decision.digest !== (digest ?? undefined))) return false;
  const approvers = counted.filter(({ decision }) => decision.approved === true).map(({ responder }) => responder);
  return last.responder.self === true || isSatisfied(audience, approvers, (settledAt ?? 0) - createdAt);
}
