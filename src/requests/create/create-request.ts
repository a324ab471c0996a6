import type { RequestId } from "../../core/model/ids.ts";
import type { Context } from "../../context.ts";
import { NO_DEADLINE, type Request, type Audience, type Target } from "../model/request.ts";
import { escalated, leavesOf, readersOf } from "../model/audience.ts";
import { usualReminderMs } from "../model/rules.ts";
import { Refusal } from "../../refusals.ts";
import { shownToAgent } from "../model/still.ts";
import { countRequests, findByRef, insertRequestIfNew, type NewRequest, type RequestAt } from "../store/requests.ts";
import { titleOf } from "../../core/model/title.ts";
import { withoutSecrets } from "../../core/without-secrets.ts";
import { appendAudit, type AuditNote } from "../../core/store/audit.ts";
import type { TransactionOptions, Tx } from "../../core/store/db.ts";
import { findHuman, type Human } from "../../access/store/humans.ts";
import { insertDelivery, type NewDelivery } from "../store/deliveries.ts";
import { transact } from "../../core/store/transact.ts";
import { INBOX_TOPIC } from "../../core/store/wake.ts";
import { tokenHashes, tokensOf } from "../links/delivery-tokens.ts";
import { placeOfStandIn } from "../model/hand-on.ts";
import type { Requester } from "../../requester.ts";
import { tellDevices } from "./tell-devices.ts";

/** A new request to people, but for what the store gives it. */
export type RequestInput = Omit<NewRequest, "id"> & {
  /** When everybody who was notified is reminded, null for never; left out, as is usual for its time. */
  remindAfterMs?: number | null;
  /** More people, asked or informed later if nobody answered by then, with words that come first. */
  rounds?: readonly EscalationRound[];
  /** In the inbox and on devices alone: nothing is written to anybody's other channels. */
  inboxOnly?: boolean;
  /**
   * A title of the asker's own, which goes before `title`. It may stand on a lock screen and in a list of mail, so its
   * secrets are taken out.
   */
  subject?: string | undefined;
  /** It counts towards no limit of the asker: another was kept already. */
  uncharged?: boolean;
};

export interface EscalationRound {
  afterMs: number;
  audience: Audience;
  words: string;
  /** They are only informed, and cannot decide. */
  informs: boolean;
}

const MINUTE_MS = 60_000;

/**
 * Stores a request to people with every message that shall go out about it, or returns the one its `ref` already stands
 * for, if that is the same request.
 *
 * The `ref` comes before the limits, so that a retry always succeeds; a refusal burns nothing. Nothing is sent here:
 * messages are rows, and the delivery loop finds them (spec/a2h 3 and 7).
 *
 * @throws {Refusal} `ref_taken`, `rate_limited`, `quota_exceeded`
 */
export async function createRequest(
  ctx: RequestContext,
  input: RequestInput,
): Promise<{ request: Request; replayed: boolean }> {
  const titled = await withSubject(ctx, input);
  const requester = ctx.requesters.ofRequest(titled);
  const asked = (await requester.present?.(ctx.db, titled)) ?? titled;
  return transact(
    ctx,
    async (tx) => {
      const stored = await storeRequestIn(ctx, tx, asked);
      if (stored.replayed) return stored;
      await requester.stored?.(tx, stored.request);
      await notifyRecipientsIn(ctx, tx, asked, stored.request);
      return stored;
    },
    rowsOfNew(requester, asked),
  );
}

/** Names the rows for a transaction that stores a request: of the asker's requests one at a time is counted. */
export const rowsOfNew = (requester: Requester, asked: RequestInput): TransactionOptions =>
  requester.changesNoOtherRows?.(asked) === true ? { rows: [`asker ${asked.asker}`] } : {};

/** The parts of the context that a request to people uses. */
export type RequestContext = Pick<
  Context,
  "db" | "wake" | "newId" | "keyring" | "addressed" | "askerBounds" | "requesters" | "secrets"
>;

/** Returns the request with the requester's subject, without its secrets, as its title; unchanged without a subject. */
async function withSubject(ctx: Pick<Context, "secrets">, input: RequestInput): Promise<RequestInput> {
  const { subject = "", ...rest } = input;
  const safe = await withoutSecrets(ctx, subject.trim());
  return safe === "" ? rest : { ...rest, title: titleOf(safe), wire: { ...rest.wire, subject: true } };
}

/** The same as part of a transaction under way, for the server itself: no coding agent asks by it. */
export async function createRequestIn(
  ctx: Pick<RequestContext, "newId" | "keyring" | "addressed" | "askerBounds">,
  tx: Tx,
  input: RequestInput,
): Promise<{ request: Request; replayed: boolean }> {
  const stored = await storeRequestIn(ctx, tx, input);
  if (!stored.replayed) await notifyRecipientsIn(ctx, tx, input, stored.request);
  return stored;
}

/** A request that was stored now, or before. */
interface StoredRequest {
  request: Request;
  replayed: boolean;
  /** Its asker was frozen when it was stored. */
  isFrozen: boolean;
}

/**
 * Stores a request, or returns the one that its `ref` names already. It notifies nobody: for a new request the caller
 * must then call `notifyRecipientsIn`, or end the request.
 *
 * @throws {Refusal} `ref_taken`, `rate_limited`, `quota_exceeded`
 */
export async function storeRequestIn(
  ctx: Pick<RequestContext, "newId" | "addressed" | "askerBounds">,
  tx: Tx,
  input: RequestInput,
): Promise<StoredRequest> {
  const audience = escalated(input.audience, addedBy(input.rounds ?? []));
  const existing = await findOrCharge(ctx, tx, input);
  if (existing) return replay(existing, input.sameHash);

  const id = ctx.newId("ask");
  const inserted = await insertRequestIfNew(tx, { ...input, audience, id }, readersIn(input, audience), NO_DEADLINE);
  if (!inserted) {
    // The `ref` was not looked for, or somebody committed the same one while this waited for it.
    const other = await findByRef(tx, input.asker, input.ref);
    if (!other) throw new Error("a ref is taken by nothing");
    return replay(other, input.sameHash);
  }
  return { request: inserted.request, replayed: false, isFrozen: inserted.isFrozen };
}

/** A call of a plan is in no inbox: people see the plan. */
function readersIn({ plan }: RequestInput, audience: Audience): string[] {
  return plan === undefined ? readersOf(audience) : [];
}

/** Every message that shall go out about a new request is a row, and the record has it. */
export async function notifyRecipientsIn(
  ctx: Pick<RequestContext, "newId" | "keyring">,
  tx: Tx,
  {
    audience,
    rounds = [],
    inboxOnly = false,
    timeoutSeconds,
    remindAfterMs = usualReminderMs(timeoutSeconds),
  }: RequestInput,
  request: Request,
): Promise<void> {
  const { id } = request;
  await tellDevices(tx, id, request.audience);
  // point: addressed-stored
  if (!inboxOnly) await planDeliveries(ctx, tx, { requestId: id, audience, firstStep: 0 });
  let firstStep = leavesOf(audience).length;
  // People who are added have the place of their leaf; people who are informed stand behind all leaves.
  for (const { afterMs, audience: node, words } of [...addedBy(rounds), ...rounds.filter(({ informs }) => informs)]) {
    const later: Audience = { kind: "any", of: [{ afterMs, node }] };
    await planDeliveries(ctx, tx, { requestId: id, audience: later, firstStep, words });
    firstStep += leavesOf(later).length;
  }
  if (remindAfterMs !== null) await planReminders(ctx, tx, id, remindAfterMs);
  await noteCreated(tx, request);
  tx.wake(INBOX_TOPIC);
}

/** The record says that somebody asked, and for which call. */
export async function noteCreated(tx: Tx, request: Request): Promise<void> {
  await appendAudit(tx, {
    at: request.createdAt,
    actor: { kind: "agent", id: request.asker },
    ...aboutRequest(request, "created"),
    ...(request.digest !== null && { digest: request.digest }),
  });
}

function addedBy(rounds: readonly EscalationRound[]): EscalationRound[] {
  return rounds.filter(({ informs }) => !informs);
}

function replay({ sameHash, ...at }: RequestAt & { sameHash: string }, wanted: string): StoredRequest {
  if (sameHash !== wanted) throw new Refusal("ref_taken", { requested_at: at.request.createdAt });
  return { request: shownToAgent(at), replayed: true, isFrozen: at.isFrozen };
}

/** Returns the request that a retry repeats; counts a new one against the limits, and leaves its `ref` to the insertion. */
async function findOrCharge(
  { addressed, askerBounds }: Pick<RequestContext, "addressed" | "askerBounds">,
  tx: Tx,
  { asker, ref, uncharged = false }: Pick<RequestInput, "asker" | "ref" | "uncharged">,
): ReturnType<typeof findByRef> {
  const { createsPerMinute, pendingPerAgent } = addressed;
  // On SQLite a single process stores all requests of agents.
  const knowsAll = tx.dialect === "sqlite";
  const isBelow = knowsAll && askerBounds.admits(asker, { open: pendingPerAgent, recent: createsPerMinute });
  if (uncharged || isBelow) return undefined;
  const [existing, counts] = await Promise.all([
    findByRef(tx, asker, ref),
    countRequests(tx, asker, { withinMs: MINUTE_MS, most: createsPerMinute }),
  ]);
  if (existing) return existing;
  if (counts.recent >= createsPerMinute) {
    throw new Refusal("rate_limited", { limit: createsPerMinute, window_seconds: 60, retry_after: 60 });
  }
  if (counts.open >= pendingPerAgent) {
    throw new Refusal("quota_exceeded", { limit: pendingPerAgent, open: counts.open, retry_after: 60 });
  }
  if (knowsAll) askerBounds.counted(asker, counts);
  return undefined;
}

/** Returns what an entry of the record says of a request, whatever happened to it. */
export function aboutRequest(
  request: Pick<Request, "id" | "form" | "asker" | "ref">,
  action: string,
): Pick<AuditNote, "action" | "agent" | "subjectId" | "callId"> {
  return {
    action: `${auditNoun(request)}.${action}`,
    agent: request.asker,
    subjectId: request.id,
    callId: request.ref.slice(request.ref.indexOf(":") + 1),
  };
}

/** How the record calls what was asked. */
export function auditNoun({ form }: Pick<Request, "form">): string {
  return { approval: "function_call", reply: "human_contact", value: "message" }[form.kind];
}

/** Steps between two leaves: a person has at most ten channels. */
const STEPS_OF_A_LEAF = 20;

/**
 * Plans the first message to every leaf; a person's further channels are planned when the one before was sent or has
 * failed. The inbox needs none: what is addressed to somebody is in it from the beginning.
 */
export async function planDeliveries(
  ctx: Pick<Context, "newId" | "keyring">,
  tx: Tx,
  {
    requestId,
    audience,
    firstStep,
    words,
  }: { requestId: RequestId; audience: Audience; firstStep: number; words?: string },
): Promise<void> {
  for (const [i, leaf] of leavesOf(audience).entries()) {
    const step = stepOf(firstStep + i);
    if (leaf.target.via === "person") {
      const human = await findHuman(tx, leaf.target.person);
      if (human)
        await planNextChannel(ctx, tx, {
          requestId,
          human,
          step,
          from: 0,
          inMs: leaf.afterMs,
          ...(words && { words }),
        });
    } else {
      await plan(ctx, tx, {
        requestId,
        target: leaf.target,
        person: null,
        step,
        inMs: leaf.afterMs,
        ...(words && { words }),
      });
    }
  }
}

/** Plans the message on the first of a person's channels, from place `from` on, that needs one. Returns whether there is one. */
export async function planNextChannel(
  ctx: Pick<Context, "newId" | "keyring">,
  tx: Tx,
  next: Pick<NewDelivery, "requestId" | "step" | "inMs"> & {
    human: Human;
    from: number;
    words?: string;
    kind?: "ask" | "remind";
  },
): Promise<boolean> {
  const { human, from, step, ...rest } = next;
  for (const [i, { channel, target }] of human.channels.entries()) {
    if (i < from || channel === "inbox") continue;
    const found = { via: channel, ...target } as Target;
    return plan(ctx, tx, { ...rest, target: found, person: human.person, step: step + i });
  }
  return false;
}

async function plan(
  ctx: Pick<Context, "newId" | "keyring">,
  tx: Tx,
  one: Omit<NewDelivery, "id" | "kind" | "channel"> & { kind?: "ask" | "remind" },
): Promise<boolean> {
  const { via } = one.target;
  if (via === "inbox" || via === "person") return false;
  const id = ctx.newId("dlv");
  return insertDelivery(tx, { kind: "ask", ...one, id, channel: via, ...tokenHashes(tokensOf(ctx, id)) });
}

/** The reminder is one row: whom it reaches is found when it is due. */
async function planReminders(ctx: Pick<Context, "newId">, tx: Tx, requestId: RequestId, inMs: number): Promise<void> {
  const id = ctx.newId("dlv");
  const target: Target = { via: "inbox" };
  await insertDelivery(tx, { id, requestId, kind: "remind", channel: "inbox", target, person: null, step: 0, inMs });
}

/** The first step of the messages to a leaf at this place. */
export function stepOf(place: number): number {
  return place * STEPS_OF_A_LEAF;
}

/** Returns the step of a stand-in's message on their first channel, from the step of the message to the absent person. */
export function stepOfStandIn(step: number): number {
  return stepOf(placeOfStandIn(leafOf(step)));
}

/** The place in the audience, among its leaves, of whom a message is for, from the step of the message. */
export function leafOf(step: number): number {
  return Math.floor(step / STEPS_OF_A_LEAF);
}

/** The place of a channel in its person's list, from the step of its message. */
export function placeOf(step: number): number {
  return step % STEPS_OF_A_LEAF;
}
