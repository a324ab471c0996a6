import { yieldToEventLoop } from "../../lib/event-loop.ts";
import type { Request, Audience } from "../model/request.ts";
import { isJoint, isSatisfied } from "../model/audience.ts";
import type { Counted } from "../model/settle.ts";
import { findRequest, listDecisions } from "./requests.ts";
import { findBrokenAudit, findLeftOutAudit, findNoted } from "../../core/store/audit.ts";
import type { Queryable } from "../../core/store/db.ts";
import { MOST_OFFENDERS, type Check } from "../../core/store/check.ts";
import { isFormerId } from "../../access/store/people.ts";
import { empty, raw, sql } from "../../core/store/sql.ts";
import { SHOWN_ENTRIES } from "../../core/store/tables.ts";
import { FROZEN_SINCE, isFrozen, wasFrozen } from "../../policy/store/freezes.ts";
import { findGrantAt } from "../../policy/store/grants.ts";
import { isErased, readPattern } from "../../policy/model/pattern.ts";
import { holds } from "../../policy/model/policy.ts";
import { policyInputOfCall } from "../model/policy-call.ts";

/** The loop that ends calls without a report looks every second. */
const LONG_UNREPORTED_MS = 120_000;
const PAGE = 200;
const QUICK_ASKS = 500;

/** Invariants of requests to people that the tables themselves do not enforce. */
export const ADDRESSED_CHECKS: readonly Check[] = [
  {
    check: "T1",
    promise: "no request to people is open more than two seconds past its deadline",
    look: (on) =>
      offenders(
        on,
        sql`SELECT ask_id AS offender FROM requests
          WHERE state = 'open' AND expires_at < (SELECT parley_now()) - 2000
            AND NOT ${isFrozen(raw("asker"))} LIMIT ${MOST_OFFENDERS}`,
      ),
  },
  {
    check: "A14",
    promise: "nothing was approved while its agent was frozen, but for what was under way",
    look: (on) =>
      offenders(
        on,
        sql`SELECT ask_id AS offender FROM requests WHERE state <> 'open' AND settled_at > ${FROZEN_SINCE}
          AND outcome LIKE '%"approved":true%' AND ${wasFrozen(raw("asker"), raw("requests.settled_at"))} LIMIT ${MOST_OFFENDERS}`,
      ),
  },
  {
    check: "D1",
    promise: "a decision that was pressed in the app is made within two seconds of the time at which it leaves",
    look: (on) =>
      offenders(
        on,
        sql`SELECT ask_id AS offender FROM requests
          WHERE press_due_at < (SELECT parley_now()) - 2000 LIMIT ${MOST_OFFENDERS}`,
      ),
  },
  {
    check: "A10",
    promise:
      "what is approved was approved by enough of those asked, whoever was added later, each shown exactly what was approved, " +
      "or by a rule, or a permission that covers it, that is on record",
    look: examineApprovals,
  },
  {
    check: "A3",
    promise: "the end of a request to people is in the record once",
    look: (on, quick) =>
      offenders(
        on,
        sql`SELECT a.ask_id AS offender FROM
          (SELECT ask_id FROM requests WHERE state <> 'open' ORDER BY settled_at DESC
            ${quick ? sql`LIMIT ${QUICK_ASKS}` : empty}) AS a
          WHERE 1 <> (SELECT count(*) FROM ${SHOWN_ENTRIES} r WHERE r.ask_id = a.ask_id AND
            (r.action LIKE '%.approved' OR r.action LIKE '%.rejected' OR r.action LIKE '%.answered'
              OR r.action LIKE '%.expired' OR r.action LIKE '%.cancelled')) LIMIT ${MOST_OFFENDERS}`,
      ),
  },
  {
    check: "A17",
    promise: "a call of a plan is open exactly while its plan is, is approved only in it, and is used only if approved",
    look: (on) =>
      offenders(
        on,
        sql`SELECT c.ask_id AS offender FROM requests c LEFT JOIN requests p ON p.ask_id = c.plan
          WHERE c.plan IS NOT NULL AND (p.ask_id IS NULL OR (c.state = 'open') <> (p.state = 'open')
            OR (c.outcome LIKE '%"approved":true%' AND coalesce(p.outcome, '') NOT LIKE '%"approved":true%')
            OR (c.used_by <> '' AND coalesce(c.outcome, '') NOT LIKE '%"approved":true%')) LIMIT ${MOST_OFFENDERS}`,
      ),
  },
  {
    check: "W4",
    promise: "an approved call whose agent promised a report has an end two minutes after the time for it",
    look: (on) =>
      offenders(
        on,
        sql`SELECT c.ask_id AS offender FROM call_outcomes c JOIN requests a ON a.ask_id = c.ask_id
          WHERE c.due_at < (SELECT parley_now()) - ${LONG_UNREPORTED_MS} AND NOT ${isFrozen(raw("a.asker"))}
          LIMIT ${MOST_OFFENDERS}`,
      ),
  },
  {
    check: "W4",
    promise: "what became of a call is stored for approved calls alone",
    look: (on, quick) =>
      offenders(
        on,
        sql`SELECT c.ask_id AS offender FROM (SELECT ask_id, state FROM call_outcomes ORDER BY at DESC
            ${quick ? sql`LIMIT ${QUICK_ASKS}` : empty}) AS c LEFT JOIN requests a ON a.ask_id = c.ask_id
          WHERE coalesce(a.outcome, '') NOT LIKE '%"approved":true%' LIMIT ${MOST_OFFENDERS}`,
      ),
  },
  {
    check: "N1",
    promise: "no message about a request that is over waits to be sent, or was sent and is not to be closed",
    look: (on) =>
      offenders(
        on,
        sql`SELECT d.delivery_id AS offender FROM deliveries d JOIN requests a ON a.ask_id = d.ask_id
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
  {
    check: "X5",
    promise: "no entry of the record is left out of the chain",
    look: async (on) => (await findLeftOutAudit(on)).map((id) => `row ${id}`),
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
        ? sql`SELECT ask_id FROM requests WHERE state = 'answered' ORDER BY settled_at DESC LIMIT ${QUICK_ASKS}`
        : sql`SELECT ask_id FROM requests WHERE state = 'answered' AND ask_id > ${after} ORDER BY ask_id LIMIT ${PAGE}`,
    );
    for (const { ask_id } of rows) {
      await yieldToEventLoop();
      const ask = (await findRequest(on, ask_id))?.request;
      if (ask && !(await isRightlyEnded(on, ask))) found.push(ask_id);
      after = ask_id;
    }
    if (quick || rows.length < PAGE || found.length > MOST_OFFENDERS) return found;
  }
}

async function isRightlyEnded(on: Queryable, ask: Request): Promise<boolean> {
  const { by } = ask.outcome ?? {};
  if (by?.kind === "policy" || by?.via === "policy") return isRuled(on, ask);
  // A call of a plan asks those whom its plan asks, whoever was added to that later.
  const plan = ask.plan === undefined ? undefined : (await findRequest(on, ask.plan))?.request;
  const asked = plan ? { ...ask, audience: plan.audience } : ask;
  return isDecidedByPeople(asked, await listDecisions(on, ask.id));
}

/**
 * By a rule that is named, or by what somebody had allowed for this agent and exactly this, or by a pattern that covers
 * it; and it is on record.
 */
async function isRuled(on: Queryable, ask: Request): Promise<boolean> {
  const { id, asker, outcome, digest, createdAt, form, wire } = ask;
  const { trace, by } = outcome ?? {};
  if (!trace || !by || digest === null || outcome?.digest !== digest || trace.defaulted) return false;
  if (trace.decision !== (outcome.approved ? "ALLOW" : "DENY")) return false;
  const action = `function_call.${outcome.approved ? "approved" : "rejected"}`;
  const noted = await findNoted(on, { subjectId: id, action });
  const kind = by.kind === "person" ? "human" : by.kind;
  if (noted?.actor.kind !== kind || noted.consent_digest !== digest) return false;
  if (noted.actor.id !== by.id && !(await isFormerId(on, by.id, noted.actor.id))) return false;
  if (by.kind === "policy") return trace.rule_index !== undefined && trace.policy.startsWith(`${by.id}@v`);
  const agent = asker.replace(/^agent:/, "");
  const grant = await findGrantAt(on, { id: trace.grant ?? "", by: by.id, agent, at: createdAt });
  if (!grant?.pattern) return grant?.digest === digest;
  if (isErased(grant.pattern)) return form.kind === "approval" && form.fn === grant.pattern.when["fn"];
  const { rule, run } = readPattern(grant.pattern);
  const isCovered = form.kind === "approval" && holds(rule, policyInputOfCall({ asker, digest, form, wire }));
  return isCovered && (run === undefined || run === wire["run_id"]);
}

function isDecidedByPeople(ask: Request, counted: readonly Counted[]): boolean {
  const { outcome, digest, createdAt, settledAt } = ask;
  if (outcome?.by === undefined) return false;
  const last = counted.find(({ decision }) => decision.by.id === outcome.by?.id);
  if (!last || last.decision.approved !== (outcome.approved ?? null)) return false;
  if (outcome.approved !== true) return true;
  if (counted.some(({ decision }) => decision.digest !== (digest ?? undefined))) return false;
  const approvers = counted.filter(({ decision }) => decision.approved === true).map(({ responder }) => responder);
  return last.responder.self === true || isSatisfied(firstAsked(ask), approvers, (settledAt ?? 0) - createdAt);
}

/**
 * Returns whom a request asked before anybody was added, where several had to agree; else whom it asks. Former versions
 * stored the steps of `spec.escalation` as further branches, each of which sufficed.
 */
function firstAsked({ audience, wire }: Request): Audience {
  const [first, ...more] = audience.kind === "any" ? audience.of : [];
  if (!first || !isJoint(first.node) || typeof wire["spec"] !== "string") return audience;
  const { escalation } = JSON.parse(wire["spec"]) as { escalation?: readonly { after_seconds?: number }[] };
  if (!escalation || more.length !== escalation.length) return audience;
  const isAdded = more.every(({ afterMs }, i) => afterMs === (escalation[i]?.after_seconds ?? NaN) * 1000);
  return isAdded ? first.node : audience;
}
