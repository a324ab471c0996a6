import { checkRows, type Check } from "../../core/store/check.ts";
import { raw, sql } from "../../core/store/sql.ts";
import { SHOWN_ENTRIES } from "../../core/store/tables.ts";
import { FROZEN_SINCE, wasFrozen } from "../../policy/store/freezes.ts";
import { SHOWN_CALLS } from "../../requests/store/tables.ts";

/** The loop that gives calls up looks every second. */
const LONG_LAPSED_MS = 120_000;

/** The invariants of gated calls, beyond the constraints of the table itself. */
export const GATE_CHECKS: readonly Check[] = [
  checkRows(
    "W1",
    "a gated call that was started was approved before, by a request of the same agent",
    () => sql`SELECT c.ask_id AS offender FROM gate_calls c JOIN ${SHOWN_CALLS} a ON a.ask_id = c.ask_id
      WHERE c.run IS NOT NULL AND (a.state <> 'answered' OR a.asker <> c.asker OR a.door <> 'gate'
        OR a.outcome NOT LIKE '%"approved":true%' OR a.settled_at > c.started_at OR c.started_at >= c.good_until + c.frozen_ms)`,
  ),
  checkRows(
    "W1",
    "the start of a gated call is in the record once, and its end where it has one",
    () => sql`SELECT c.ask_id AS offender FROM gate_calls c
      WHERE (c.run IS NOT NULL) <> (1 = (SELECT count(*) FROM ${SHOWN_ENTRIES} r
          WHERE r.ask_id = c.ask_id AND r.action = 'gate_call.started'))
        OR (c.state = 'ended') <> (1 = (SELECT count(*) FROM ${SHOWN_ENTRIES} r
          WHERE r.ask_id = c.ask_id AND r.action = 'gate_call.ended'))`,
  ),
  checkRows(
    "A14",
    "no gated call was started while its agent was frozen, but for one that was under way",
    () => sql`SELECT ask_id AS offender FROM gate_calls
      WHERE started_at > ${FROZEN_SINCE} AND ${wasFrozen(raw("asker"), raw("gate_calls.started_at"))}`,
  ),
  checkRows(
    "W2",
    "no gated call counts as running two minutes after the last sign of life of its gate",
    () => sql`SELECT ask_id AS offender FROM gate_calls
      WHERE state = 'started' AND held_until < (SELECT parley_now()) - ${LONG_LAPSED_MS}`,
  ),
];
