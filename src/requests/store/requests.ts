import type { RequestId } from "../../core/model/ids.ts";
import { Refusal } from "../../refusals.ts";
import { yieldAfterLarge } from "../../lib/event-loop.ts";
import type { Inquiry, Outcome, Press, RefusedAnswer, Request, RequestForm } from "../model/request.ts";
import type { RequestCounts } from "../model/asker-bounds.ts";
import { readKinds } from "../../core/store/read-kinds.ts";
import { ALL_READERS, isJoint } from "../model/audience.ts";
import type { ListPosition } from "../../core/model/list-page.ts";
import { runOf } from "../model/run.ts";
import type { Counted } from "../model/settle.ts";
import { first, one, type Queryable, type Tx } from "../../core/store/db.ts";
import { flag, json, optional, rowsOf, type RowOf } from "../../core/store/rows.ts";
import { lockedRows } from "../../core/store/locked-rows.ts";
import { empty, join, raw, sql } from "../../core/store/sql.ts";
import { findFreeze, frozenFlag, hasTime } from "../../policy/store/freezes.ts";
import { isHeldBack } from "./call-outcomes.ts";
import { hasReader } from "./tables.ts";

/** An addressed request, the store's clock, and whether the asker is frozen, read by one statement. */
export interface RequestAt {
  request: Request;
  now: number;
  isFrozen: boolean;
}

const FROZEN = frozenFlag(raw("asker"));

export const requestRows = rowsOf<Request>()({
  id: "ask_id",
  door: "door",
  asker: "asker",
  ref: "ref",
  title: "title",
  words: "words",
  form: json("form"),
  audience: json("audience", readKinds),
  digest: "digest",
  state: "state",
  version: "version",
  createdAt: "created_at",
  expiresAt: "expires_at",
  settledAt: "settled_at",
  outcome: json("outcome"),
  refused: json("refused"),
  wire: json("wire"),
  conversation: optional("conversation"),
  promptOf: optional("prompt_of"),
  plan: optional("plan"),
  run: optional("run"),
  waitedUntil: optional("waited_until"),
  presses: optional(json("presses")),
  inquiries: optional(json("inquiries")),
});

const requestAtRows = rowsOf<RequestAt>()({ request: requestRows.read, now: "now", isFrozen: flag("frozen") });

/** A row as it is stored, with the store's clock. */
export type RequestRow = RowOf<typeof requestAtRows>;

/** Reads rows as requests; others are served before and after each that is large, because a page of them may hold 50 MB. */
export async function toRequestsAt(rows: readonly RequestRow[]): Promise<RequestAt[]> {
  const all: RequestAt[] = [];
  for (const row of rows) {
    await yieldAfterLarge(row.form);
    all.push(requestAtRows.read(row));
    await yieldAfterLarge(row.form);
  }
  return all;
}

/** A new addressed request; its state and times follow from its insertion. */
export type NewRequest = Pick<
  Request,
  | "id"
  | "door"
  | "asker"
  | "ref"
  | "title"
  | "words"
  | "form"
  | "audience"
  | "digest"
  | "wire"
  | "conversation"
  | "promptOf"
  | "plan"
> & {
  /** The place of the call in its plan, from 1 on. */
  planOrd?: number;
  /** A sign of life of whoever waits keeps it open for so long; left out, it is open until its deadline. */
  leaseMs?: number;
  /** Hash of what makes a second request with the same `ref` the same request. */
  sameHash: string;
  /** Null where there is no deadline. */
  timeoutSeconds: number | null;
};

/** Stores a request; returns nothing if the requester has used its `ref`. A second call with the same `ref` waits. */
export async function insertRequestIfNew(
  tx: Tx,
  ask: NewRequest,
  readers: readonly string[],
  noDeadline: number,
): Promise<RequestAt | undefined> {
  const expiresAt =
    ask.timeoutSeconds === null
      ? sql`${noDeadline}`
      : sql`(SELECT parley_now()) + ${Math.round(ask.timeoutSeconds * 1000)}`;
  const { leaseMs = null, promptOf = null } = ask;
  const waitedUntil = leaseMs === null ? sql`${null}` : sql`(SELECT parley_now()) + ${leaseMs}`;
  const row = await first<StoredTimes>(
    tx,
    sql`INSERT INTO requests (ask_id, door, asker, ref, same_hash, title, words, form, kind, fn, audience, digest,
        state, version, created_at, expires_at, wire, conversation, prompt_of, lease_ms, waited_until, plan,
        plan_ord, run)
      VALUES (${ask.id}, ${ask.door}, ${ask.asker}, ${ask.ref}, ${ask.sameHash}, ${ask.title}, ${ask.words},
        ${JSON.stringify(ask.form)}, ${ask.form.kind}, ${fnOf(ask.form)}, ${JSON.stringify(ask.audience)}, ${ask.digest}, 'open', 1,
        (SELECT parley_now()), ${expiresAt}, ${JSON.stringify(ask.wire)}, ${ask.conversation ?? null},
        ${promptOf}, ${leaseMs}, ${waitedUntil}, ${ask.plan ?? null}, ${ask.planOrd ?? null}, ${runOf(ask)})
      ON CONFLICT (asker, ref) DO NOTHING RETURNING created_at, expires_at, waited_until, ${FROZEN}`,
  );
  if (!row) return undefined;
  await insertReaders(tx, ask.id, readers);
  return { request: newlyStored(ask, row), now: row.created_at, isFrozen: row.frozen === 1 };
}

/** A plan is no call that others are like. */
const fnOf = (form: RequestForm): string | null =>
  form.kind === "approval" && form.calls === undefined ? form.fn : null;

type StoredTimes = Pick<RequestRow, "created_at" | "expires_at" | "waited_until" | "frozen">;

/** Returns a new request as it is stored, without reading its arguments back. */
function newlyStored(ask: NewRequest, row: StoredTimes): Request {
  const { id, door, asker, ref, title, words, form, audience, digest, wire, conversation, promptOf, plan } = ask;
  const run = runOf(ask);
  return {
    id,
    door,
    asker,
    ref,
    title,
    words,
    form,
    audience,
    digest,
    wire,
    state: "open",
    version: 1,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    settledAt: null,
    outcome: null,
    refused: null,
    ...(conversation != null && { conversation }),
    ...(promptOf !== undefined && { promptOf }),
    ...(plan !== undefined && { plan }),
    ...(run !== null && { run }),
    ...(row.waited_until !== null && { waitedUntil: row.waited_until }),
  };
}

/** The request is in these inboxes too. */
export async function insertReaders(tx: Tx, requestId: RequestId, readers: readonly string[]): Promise<void> {
  if (readers.length === 0) return;
  const rows = join(readers.map((reader) => sql`(${reader}, ${requestId})`));
  await tx.all(sql`INSERT INTO request_recipients (reader, ask_id) VALUES ${rows} ON CONFLICT DO NOTHING`);
}

export async function findRequest(on: Queryable, requestId: RequestId): Promise<RequestAt | undefined> {
  return requestAtRows.first(
    on,
    sql`SELECT *, parley_now() AS now, ${FROZEN} FROM requests WHERE ask_id = ${requestId}`,
  );
}

/** Returns a requester's request by its `ref`, with the hash that shows whether a second request is the same. */
export async function findByRef(
  on: Queryable,
  asker: string,
  ref: string,
): Promise<(RequestAt & { sameHash: string }) | undefined> {
  const row = await first<RequestRow & { same_hash: string }>(
    on,
    sql`SELECT *, parley_now() AS now, ${FROZEN} FROM requests WHERE asker = ${asker} AND ref = ${ref}`,
  );
  return row && { ...requestAtRows.read(row), sameHash: row.same_hash };
}

/** Returns what any asker calls `ref`. */
export async function findAllByRef(on: Queryable, ref: string): Promise<RequestAt[]> {
  const rows = await on.all<RequestRow>(
    sql`SELECT *, parley_now() AS now, ${FROZEN} FROM requests WHERE ref = ${ref} ORDER BY ask_id LIMIT 20`,
  );
  return toRequestsAt(rows);
}

/** Holds the request to the end of the transaction, and returns it with the clock read after any wait. */
export async function lockRequest(tx: Tx, requestId: RequestId): Promise<RequestAt | undefined> {
  return requestAtRows.first(tx, lockedRows(tx, "requests", sql`ask_id = ${requestId}`, sql`, ${FROZEN}`));
}

/**
 * Ends a locked, open request; returns it as it is now, without reading its arguments again.
 *
 * @throws {Refusal} `frozen` for an approval where its asker was frozen since the request was locked
 */
export async function endRequest(tx: Tx, request: Request, outcome: Outcome, at: number): Promise<RequestAt> {
  const { version, now, frozen } = await one<Pick<RequestRow, "version" | "now" | "frozen">>(
    tx,
    sql`UPDATE requests SET state = ${outcome.status}, outcome = ${JSON.stringify(outcome)}, settled_at = ${at},
        refused = NULL, presses = NULL, press_due_at = NULL, version = version + 1
      WHERE ask_id = ${request.id} AND state = ${"open"} RETURNING version, parley_now() AS now, ${FROZEN}`,
  );
  if (outcome.approved === true && frozen === 1) throw new Refusal("frozen");
  const { presses: _ended, ...kept } = request;
  return {
    request: { ...kept, state: outcome.status, outcome, settledAt: at, refused: null, version },
    now,
    isFrozen: frozen === 1,
  };
}

/**
 * Changes a locked request: whom it asks, what its door keeps of it, and the newest refused answer. Returns it as
 * it is now.
 */
export async function updateRequest(tx: Tx, request: Request): Promise<Request> {
  const { version } = await one<Pick<RequestRow, "version">>(
    tx,
    sql`UPDATE requests SET audience = ${JSON.stringify(request.audience)}, wire = ${JSON.stringify(request.wire)},
        refused = ${request.refused && JSON.stringify(request.refused)}, version = version + 1
      WHERE ask_id = ${request.id} RETURNING version`,
  );
  return { ...request, version };
}

/**
 * Stores the newest refused answer to a locked, open request. This raises the version of the request, unless the
 * answer came from somebody who was not asked.
 */
export async function updateRefused(tx: Tx, requestId: RequestId, refused: RefusedAnswer): Promise<void> {
  const raise = refused.reason === "responder_not_allowed" ? empty : sql`, version = version + 1`;
  await tx.all(sql`UPDATE requests SET refused = ${JSON.stringify(refused)} ${raise} WHERE ask_id = ${requestId}`);
}

/** The locked, open request holds these presses in place of those before. Returns it as it is now. */
export async function updatePresses(tx: Tx, request: Request, presses: readonly Press[]): Promise<Request> {
  const isNone = presses.length === 0;
  const { version } = await one<Pick<RequestRow, "version">>(
    tx,
    sql`UPDATE requests SET presses = ${isNone ? null : JSON.stringify(presses)},
        press_due_at = ${isNone ? null : Math.min(...presses.map(({ dueAt }) => dueAt))}, version = version + 1
      WHERE ask_id = ${request.id} RETURNING version`,
  );
  const { presses: _before, ...kept } = request;
  return { ...kept, version, ...(!isNone && { presses }) };
}

/** The locked, open request holds these inquiries. Returns it as it is now. */
export async function updateInquiries(tx: Tx, request: Request, inquiries: readonly Inquiry[]): Promise<Request> {
  const { version } = await one<Pick<RequestRow, "version">>(
    tx,
    sql`UPDATE requests SET inquiries = ${JSON.stringify(inquiries)}, version = version + 1
      WHERE ask_id = ${request.id} RETURNING version`,
  );
  return { ...request, version, inquiries };
}

/** Keeps a counted decision, in place of an earlier one of the same person. */
export async function upsertDecision(tx: Tx, requestId: RequestId, ord: number, counted: Counted): Promise<void> {
  const responder = JSON.stringify(counted.responder);
  const decision = JSON.stringify(counted.decision);
  await tx.all(
    sql`INSERT INTO decisions (ask_id, ord, by_id, responder, counted)
      VALUES (${requestId}, ${ord}, ${counted.decision.by.id}, ${responder}, ${decision})
      ON CONFLICT (ask_id, by_id) DO UPDATE SET responder = excluded.responder, counted = excluded.counted`,
  );
}

/** Returns the counted decisions on a request, in order. */
export async function listDecisions(on: Queryable, requestId: RequestId, where = empty): Promise<Counted[]> {
  const rows = await on.all<{ responder: string; counted: string }>(
    sql`SELECT responder, counted FROM decisions WHERE ask_id = ${requestId} ${where} ORDER BY ord`,
  );
  return rows.map((row) => ({
    responder: JSON.parse(row.responder) as Counted["responder"],
    decision: JSON.parse(row.counted) as Counted["decision"],
  }));
}

/**
 * Returns the counted decisions on a request as it was read, in order. An open request has some only where several people
 * have to agree: any other ends with its first decision. A request that is over, but shown as open, shows no decision.
 */
export async function listDecisionsSoFar(
  on: Queryable,
  { id, state, audience }: Pick<Request, "id" | "state" | "audience">,
): Promise<Counted[]> {
  if (state !== "open") return listDecisions(on, id);
  if (!isJoint(audience)) return [];
  return listDecisions(on, id, sql`AND EXISTS (SELECT 1 FROM requests WHERE ask_id = ${id} AND state = 'open')`);
}

/** Returns one page of what an asker has asked, the oldest first; a plan stands there for its calls. */
export async function listAskedBy(
  on: Queryable,
  asker: string,
  { after, limit }: { after?: ListPosition; limit: number },
): Promise<Request[]> {
  return requestRows.all(
    on,
    sql`SELECT *, (SELECT parley_now()) AS now FROM requests WHERE asker = ${asker} AND plan IS NULL
        ${after === undefined ? empty : sql`AND (created_at, ask_id) > (${after.at}, ${after.id})`}
      ORDER BY created_at, ask_id LIMIT ${limit}`,
  );
}

/**
 * Counts what an asker has open, and what it made within `withinMs`, up to `most`. A counter of its own would be a row
 * that on PostgreSQL each request of the asker holds until it is committed.
 */
export async function countRequests(
  on: Queryable,
  asker: string,
  { withinMs, most }: { withinMs: number; most: number },
): Promise<RequestCounts> {
  return one(
    on,
    sql`SELECT
      (SELECT count(*) FROM requests WHERE asker = ${asker} AND state = 'open' AND plan IS NULL) AS open,
      (SELECT count(*) FROM (SELECT 1 FROM requests
        WHERE asker = ${asker} AND created_at > (SELECT parley_now()) - ${withinMs} AND plan IS NULL LIMIT ${most}) AS newest) AS recent`,
  );
}

/** Asks whose ref begins so; with `form`, only those of that form. */
export type Kinds = readonly { refStart: string; form?: RequestForm["kind"] }[];

function isOneOf(kinds: Kinds) {
  const each = kinds.map(({ refStart, form }) => {
    const ofForm = form === undefined ? empty : sql`AND a.kind = ${form}`;
    return sql`(a.ref LIKE ${`${refStart}%`} ${ofForm})`;
  });
  return each.reduce((all, one) => sql`${all} OR ${one}`);
}

/**
 * Returns one page of open requests, oldest first, of one requester, or readable by one of `readers`. Those of a
 * requester that is frozen include its approvals, which it sees as open. Unless kinds are named, a plan stands there
 * for its calls.
 */
export async function listPending(
  on: Queryable,
  of: { asker?: string; readers?: readonly string[]; kinds?: Kinds; conversation?: number },
  page: { limit: number; offset: number },
): Promise<{ items: RequestAt[]; total: number }> {
  const isOpen = sql`a.state = 'open' AND ${hasTime(sql`a.expires_at`, sql`a.asker`)}`;
  // The index of open requests serves only them.
  const isFrozen = of.asker !== undefined && (await findFreeze(on, of.asker)) !== undefined;
  const isShown = isFrozen ? sql`(${isOpen} OR ${isHeldBack(sql`a.ask_id`)})` : isOpen;
  const asked = of.asker === undefined ? isShown : sql`${isShown} AND a.asker = ${of.asker}`;
  const readers = of.readers === undefined ? empty : sql`AND ${hasReader(sql`a.ask_id`, of.readers)}`;
  const start = of.kinds === undefined ? sql`AND a.plan IS NULL` : sql`AND (${isOneOf(of.kinds)})`;
  const bound = of.conversation === undefined ? empty : sql`AND a.conversation = ${of.conversation}`;
  const where = sql`${asked} ${readers} ${start} ${bound}`;
  const rows = await on.all<RequestRow>(
    sql`SELECT a.*, (SELECT parley_now()) AS now, ${FROZEN} FROM requests a WHERE ${where}
      ORDER BY a.created_at, a.ask_id LIMIT ${page.limit} OFFSET ${page.offset}`,
  );
  const { total } = await one<{ total: number }>(on, sql`SELECT count(*) AS total FROM requests a WHERE ${where}`);
  return { items: await toRequestsAt(rows), total };
}

/** Returns the requests of these ids, oldest first. */
export async function findRequests(on: Queryable, ids: readonly string[]): Promise<Request[]> {
  return requestRows.all(
    on,
    sql`SELECT *, (SELECT parley_now()) AS now FROM requests WHERE ask_id IN (${join(["", ...ids])})
      ORDER BY created_at, ask_id`,
  );
}

/** True when one of `readers` finds the request in the inbox. */
export async function isReader(on: Queryable, requestId: RequestId, readers: readonly string[]): Promise<boolean> {
  if (readers.includes(ALL_READERS)) return true;
  const row = await first(
    on,
    sql`SELECT 1 AS found FROM request_recipients WHERE ask_id = ${requestId} AND reader IN (${join([...readers, ""])}) LIMIT 1`,
  );
  return row !== undefined;
}
