import { nextTurn } from "../lib/turn.ts";
import type { AddressedAsk } from "../model/addressed-ask.ts";
import { isSatisfied } from "../model/audience.ts";
import type { Counted } from "../model/settle.ts";
import { findAddressed, listDecisions } from "./addressed-asks.ts";
import { findBrokenAudit } from "./audit.ts";
import type { Queryable } from "./db.ts";
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
    promise: "what is approved was approved by enough of those asked, each shown exactly what was approved",
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
      if (ask && !isRightlyEnded(ask, await listDecisions(on, ask_id))) found.push(ask_id);
      after = ask_id;
    }
    if (quick || rows.length < PAGE || found.length > MOST_OFFENDERS) return found;
  }
}

function isRightlyEnded(
  { outcome, audience, digest, createdAt, settledAt }: AddressedAsk,
  counted: readonly Counted[],
): boolean {
  if (outcome?.by === undefined) return false;
  if (outcome.by.kind === "policy") return true;
  const last = counted.find(({ decision }) => decision.by.id === outcome.by?.id);
  if (!last || last.decision.approved !== (outcome.approved ?? null)) return false;
  if (outcome.approved !== true) return true;
  if (counted.some(({ decision }) => decision.digest !== (digest ?? undefined))) return false;
  const approvers = counted.filter(({ decision }) => decision.approved === true).map(({ responder }) => responder);
  return last.responder.self === true || isSatisfied(audience, approvers, (settledAt ?? 0) - createdAt);
}
