import { forgetKeys } from "../../core/store/idempotency.ts";
import type { OwnedTables } from "../../core/store/owned-tables.ts";
import { isFrozen, stoodFor } from "../../policy/store/freezes.ts";
import { NO_DEADLINE } from "../model/request.ts";
import { join, raw, type Sql, sql } from "../../core/store/sql.ts";

/** The verb under whose keys a request stands for the same one made before. */
export const DEDUPE_VERB = "ask people";

/** The last error of a message that a restore holds. */
const AT_RESTORE = "restored";
/** The beginning of what stands in place of the hash of a link or a reply address while its message is held. */
const NO_HASH = "held ";
/** True in SQL of a message `d` that a restore holds and that is still worth sending: its request is open, or over. */
const heldSince = (atMs: number): Sql => sql`d.last_error = ${AT_RESTORE} AND d.changed_at = ${atMs}
  AND (d.state = 'closed' OR d.kind = 'tell'
    OR EXISTS (SELECT 1 FROM requests a WHERE a.ask_id = d.ask_id AND a.state = 'open'))`;

export const REQUEST_TABLES: OwnedTables = {
  names: [
    "absences",
    "agent_notes",
    "call_outcomes",
    "decisions",
    "deliveries",
    "inbound_messages",
    "phones",
    "request_hand_ons",
    "plan_images",
    "request_recipients",
    "request_snoozes",
    "request_waits",
    "requests",
  ],
  atRestore: {
    absences: "stays",
    // A note may have been given since the backup: twice is better than never.
    agent_notes: "stays",
    // An approval may have been used since the backup.
    call_outcomes: {
      ends: (atMs) => [
        sql`UPDATE call_outcomes SET state = 'unknown', at = ${atMs}, due_at = NULL WHERE state IN ('awaited', 'started')`,
      ],
    },
    decisions: "stays",
    deliveries: {
      ends: () => [
        sql`UPDATE deliveries SET link_hash = NULL, reply_hash = NULL WHERE state NOT IN ('queued', 'sending', 'closing')`,
      ],
      held: {
        kind: "messages",
        noun: "messages to people",
        hold: (atMs) => [
          sql`UPDATE deliveries SET state = CASE WHEN state = 'closing' THEN 'closed' ELSE 'skipped' END,
              epoch = epoch + 1, last_error = ${AT_RESTORE}, changed_at = ${atMs},
              link_hash = ${NO_HASH} || link_hash, reply_hash = ${NO_HASH} || reply_hash
            WHERE state IN ('queued', 'sending', 'closing')`,
        ],
        list: (atMs) => sql`SELECT d.delivery_id || ' ' || d.channel || ' about ' || d.ask_id AS name
          FROM deliveries d WHERE ${heldSince(atMs)} ORDER BY d.due_at, d.delivery_id`,
        putBack: (atMs) => [
          sql`UPDATE deliveries AS d SET state = CASE WHEN d.state = 'closed' THEN 'closing' ELSE 'queued' END,
              attempt = 0, last_error = NULL, changed_at = (SELECT parley_now()),
              link_hash = replace(d.link_hash, ${NO_HASH}, ''), reply_hash = replace(d.reply_hash, ${NO_HASH}, '')
            WHERE ${heldSince(atMs)}`,
        ],
      },
    },
    inbound_messages: "stays",
    phones: "stays",
    request_hand_ons: "stays",
    plan_images: "stays",
    request_recipients: "stays",
    request_snoozes: "stays",
    request_waits: "stays",
    // An outcome that has not reached its asker is not handed out again to the same request: it may have been used.
    requests: {
      ends: (atMs) => [
        // A press may have been undone since the backup.
        sql`UPDATE requests SET presses = NULL, press_due_at = NULL WHERE press_due_at IS NOT NULL`,
        // A run may have claimed a decision since the backup, and acted on it: this claim is no run's.
        sql`UPDATE requests SET wire = ${`{"claim":{"run":"","at":${atMs}}`}
            || CASE WHEN wire = '{}' THEN '}' ELSE ',' || substr(wire, 2) END
          WHERE state <> 'open' AND ref LIKE 'call:%' AND wire NOT LIKE '%"claim":{"run":%'`,
        // The same holds for an approved call of a plan, and for its use.
        sql`UPDATE requests SET used_by = '', used_at = ${atMs}
          WHERE plan IS NOT NULL AND state <> 'open' AND used_by IS NULL`,
        forgetKeys(
          DEDUPE_VERB,
          (principal, objectId) => sql`EXISTS (SELECT 1 FROM requests a
            WHERE a.asker = ${principal} AND a.state = 'open' AND a.ref LIKE '%:' || ${objectId})`,
        ),
      ],
    },
  },
  moveOpen: ({ wrongMs, nowMs }) => {
    const by = wrongMs - nowMs;
    return [
      sql`UPDATE requests SET created_at = created_at - ${by}, expires_at = expires_at - ${by},
          waited_until = waited_until - ${by}
        WHERE state = 'open' AND created_at > ${nowMs} RETURNING 1 AS moved`,
    ];
  },
  standStill: (time) => [
    // A lease begins anew.
    sql`UPDATE requests SET expires_at = CASE WHEN expires_at >= ${NO_DEADLINE} THEN expires_at
          ELSE expires_at + ${stoodFor(sql`created_at`, time)} END,
        waited_until = CASE WHEN waited_until IS NULL THEN NULL ELSE ${time.nowMs} + lease_ms END, version = version + 1
      WHERE state = ${"open"} AND ${isFrozen(raw("asker"))}`,
    // A frozen agent can start nothing, so the time for its starts and reports stands still too.
    sql`UPDATE call_outcomes SET due_at = due_at + ${stoodFor(sql`at`, time)}
      WHERE state = ${"awaited"} AND due_at IS NOT NULL
        AND ask_id IN (SELECT a.ask_id FROM requests a WHERE a.ask_id = call_outcomes.ask_id AND ${isFrozen(raw("a.asker"))})`,
    // The calls of an approved plan are used before its deadline.
    sql`UPDATE requests SET expires_at = expires_at + ${stoodFor(sql`created_at`, time)}
      WHERE state = ${"answered"} AND expires_at > ${time.sinceMs} AND expires_at < ${NO_DEADLINE} AND ${isFrozen(raw("asker"))}
        AND ask_id IN (SELECT c.plan FROM requests c WHERE c.plan IS NOT NULL AND c.used_by IS NULL)`,
  ],
  moveTimes: ({ wrongMs, nowMs }) => {
    const by = wrongMs - nowMs;
    return [
      sql`UPDATE request_waits SET created_at = created_at - ${by}, kept_until = kept_until - ${by}
        WHERE created_at > ${nowMs}`,
      sql`UPDATE call_outcomes SET at = at - ${by}, due_at = due_at - ${by} WHERE at > ${nowMs}`,
      sql`UPDATE deliveries SET due_at = due_at - ${by} WHERE due_at > ${wrongMs}`,
      // A press whose own time is still to come leaves at once (`duePresses`).
      sql`UPDATE requests SET press_due_at = ${nowMs} WHERE press_due_at > ${nowMs}`,
      sql`UPDATE request_hand_ons SET at = at - ${by} WHERE at > ${nowMs}`,
      sql`UPDATE agent_notes SET sent_at = sent_at - ${by} WHERE sent_at > ${nowMs}`,
      sql`UPDATE agent_notes SET given_at = given_at - ${by} WHERE given_at > ${nowMs}`,
      sql`UPDATE absences SET from_at = from_at - ${by}, until = until - ${by} WHERE from_at > ${nowMs}`,
      // Also what had come back under the wrong clock, which would otherwise go aside once more, past its deadline.
      sql`UPDATE request_snoozes SET until = until - ${by} WHERE until > ${nowMs}`,
    ];
  },
  countPassed: (sinceMs) => sql`SELECT count(*) FROM requests
    WHERE state = 'open' AND plan IS NULL AND expires_at > ${sinceMs} AND expires_at <= (SELECT parley_now())
      AND NOT ${isFrozen(raw("asker"))}`,
  ownSentences: ["deliveries.words"],
  targets: ["requests.audience", "deliveries.target", "deliveries.long_target"],
  followed: [
    { from: "request_recipients", by: "ask_id", to: "requests", column: "ask_id" },
    { from: "decisions", by: "ask_id", to: "requests", column: "ask_id" },
    { from: "call_outcomes", by: "ask_id", to: "requests", column: "ask_id" },
  ],
  writtenIn: ["requests.presses", "requests.inquiries"],
};

/** The columns of requests that other rooms read; the request of a plan stands there for its calls. */
export const SHOWN_REQUESTS = sql`(SELECT ask_id, asker, door, state, title, wire, outcome, conversation, created_at,
  expires_at, settled_at FROM requests WHERE plan IS NULL)`;
/** The same of every call, also of those within plans. */
export const SHOWN_CALLS = sql`(SELECT ask_id, asker, door, state, outcome, created_at, settled_at, plan, plan_ord
  FROM requests)`;
/** True in SQL where the request is addressed to one of these readers. */
export const hasReader = (requestId: Sql, readers: readonly string[]): Sql =>
  sql`EXISTS (SELECT 1 FROM request_recipients t WHERE t.ask_id = ${requestId} AND t.reader IN (${join([...readers])}))`;
