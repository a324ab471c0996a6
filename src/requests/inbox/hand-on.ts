import { findHuman } from "../../access/store/humans.ts";
import { findPeopleOfReaders } from "../../access/store/people.ts";
import type { Context } from "../../context.ts";
import { refuseFields, textProblem } from "../../core/model/field-problem.ts";
import type { RequestId } from "../../core/model/ids.ts";
import { appendAudit } from "../../core/store/audit.ts";
import type { Queryable, Tx } from "../../core/store/db.ts";
import { transact } from "../../core/store/transact.ts";
import { INBOX_TOPIC } from "../../core/store/wake.ts";
import { withoutSecrets } from "../../core/without-secrets.ts";
import { Refusal } from "../../refusals.ts";
import { cleanWords, exposeIn, type CleanWords } from "../create/clean-words.ts";
import { aboutRequest } from "../create/create-request.ts";
import { mayDecideAt, responderOf } from "../decide/decider.ts";
import { undoPress } from "../decide/presses.ts";
import { endHeldIfDue } from "../end/end.ts";
import { settledRefusal } from "../end/finish.ts";
import { ALL_READERS, inForce, readersOf } from "../model/audience.ts";
import { handOnWords, LONGEST_NOTE, standInWords, type HandOn } from "../model/hand-on.ts";
import { inquiryAnsweredWords } from "../model/inquiry.ts";
import type { Request } from "../model/request.ts";
import { askerName } from "../model/view.ts";
import {
  deleteHandOnsBy,
  deleteHandOnsTo,
  findHandOnBy,
  insertHandOn,
  listHandedOn,
  listHandOnsWith,
  listReceiversOf,
  type HandOnRow,
} from "../store/hand-ons.ts";
import { findRequest, lockRequest, type RequestAt } from "../store/requests.ts";
import { deleteSnoozes } from "../store/snoozes.ts";
import { colleagues, waitingIn, type Colleague } from "./away.ts";
import { tellAgain } from "./tell-again.ts";

/** A request in somebody's inbox. */
interface InInbox {
  requestId: RequestId;
  person: string;
}

/** Who shall see to a request: a person by id, or the people of a group by its name. */
export type HandOnTo = { person: string } | { group: string };

/** The people and groups to whom somebody may hand a request on. */
export interface Receivers {
  people: readonly Colleague[];
  groups: readonly string[];
}

/**
 * Hands a request on to somebody who may already decide it. It leaves the list of the person who hands it on, and stands
 * first in those of the receivers, who are told on their channels and devices. It adds nobody to those who may decide,
 * and counts for nothing in a quorum (spec/a2h 9). The same again changes nothing and tells nobody.
 *
 * @throws {Refusal} `request_not_found`, `not_asked`; `already_decided`, `request_expired` or `request_cancelled` once it
 *   is over; `invalid_input` for a receiver who may not decide it, for oneself, and for too long a note
 */
export async function handOn(
  ctx: Context,
  { requestId, person }: InInbox,
  { to, note }: { to: HandOnTo; note?: string | undefined },
): Promise<HandOn> {
  const problem = textProblem("note", note ?? "", 0, LONGEST_NOTE);
  if (problem) throw refuseFields([problem]);
  const words = await cleanNote(ctx, { requestId, person }, note);
  const result = await transact(ctx, async (tx) => {
    const open = await lockOpen(ctx, tx, { requestId, person });
    if (open instanceof Refusal) return open;
    const receivers = await receiversOf(ctx, tx, open, { to, person });
    const before = await findHandOnBy(tx, requestId, person);
    const group = "group" in to ? to.group : null;
    const one: HandOn = { person, receivers, group, note: words.words, at: open.now };
    // Somebody who asks another to decide has not decided.
    const request = (await undoPress(tx, open.request, person)) ?? open.request;
    if (before && isSame(before, one)) return before;
    await store(ctx, tx, request, one);
    await exposeIn(ctx, tx, words);
    return one;
  });
  if (result instanceof Refusal) throw result;
  return result;
}

/** Takes back what the person has handed on; it is in their list again. Nothing changes where they have not. */
export async function takeBack(ctx: Pick<Context, "db" | "wake">, { requestId, person }: InInbox): Promise<void> {
  await transact(ctx, async (tx) => {
    const held = await lockRequest(tx, requestId);
    if (!held || !(await deleteHandOnsBy(tx, requestId, [person]))) return;
    const actor = { kind: "human", id: person } as const;
    await appendAudit(tx, { actor, ...aboutRequest(held.request, "taken_back") });
    tx.wake(INBOX_TOPIC);
  });
}

/** Ends the hand-ons to people who may not decide the request any more, because they have left its group. */
export async function endHandOnsOfLeft(ctx: Pick<Context, "db" | "wake" | "addressed">): Promise<void> {
  for (const requestId of await listHandedOn(ctx.db)) {
    await transact(ctx, async (tx) => {
      const held = await lockRequest(tx, requestId);
      if (!held) return;
      for (const receiver of await listReceiversOf(tx, requestId)) {
        if (!(await mayDecide(ctx, tx, held, receiver))) await deleteHandOnsTo(tx, requestId, receiver);
      }
      tx.wake(INBOX_TOPIC);
    });
  }
}

/** Returns those to whom the person may hand a request on, by name; nobody once it is over. */
export async function listReceivers(
  ctx: Pick<Context, "db" | "addressed">,
  { requestId, person }: InInbox,
): Promise<Receivers> {
  const found = await findRequest(ctx.db, requestId);
  if (found?.request.state !== "open") return { people: [], groups: [] };
  const asked = await askedPeople(ctx, ctx.db, found);
  if (!asked.has(person)) return { people: [], groups: [] };
  asked.delete(person);
  const groups = [...ctx.addressed.groups].filter(([, members]) => members.some((one) => asked.has(one)));
  return {
    people: await colleagues(ctx.db, [...asked]),
    groups: groups.map(([name]) => name).toSorted(),
  };
}

/** The hand-ons of one request that concern somebody. */
export interface HandOnsOfPerson {
  /**
   * The newest by which they were handed it, by somebody who has not taken it back; or else by somebody who is away until
   * then, and for whom they stand in.
   */
  to: (HandOnRow & { until: number | null }) | undefined;
  /** Theirs, where they have handed it on themselves. */
  by: HandOnRow | undefined;
}

/** Returns the hand-ons of these requests that concern the person; requests without any are left out. */
export async function handOnsOf(
  ctx: Pick<Context, "db" | "addressed">,
  person: string,
  requestIds: readonly RequestId[],
): Promise<Map<RequestId, HandOnsOfPerson>> {
  const found = new Map<RequestId, HandOnsOfPerson>();
  const { handOns, absences } = await listHandOnsWith(ctx.db, person, requestIds);
  for (const one of handOns) {
    const { to, by } = found.get(one.requestId) ?? {};
    const row = { ...one, until: null };
    found.set(one.requestId, one.person === person ? { to, by: by ?? row } : { to: to ?? row, by });
  }
  for (const [requestId, { person: absent, from: at, until }] of await waitingIn(ctx, absences, requestIds)) {
    const { to, by } = found.get(requestId) ?? {};
    const stoodIn = { requestId, person: absent, receiver: person, group: null, note: null, at, until };
    found.set(requestId, { to: to ?? stoodIn, by });
  }
  return found;
}

/**
 * Returns the words with which somebody is told of a request again: that its agent has answered them, or who handed it to
 * them, whichever is newer; else for whom they stand in. Undefined where there is nothing of these.
 */
export async function wordsOfTold(
  ctx: Pick<Context, "db" | "addressed">,
  request: Request,
  person: string,
): Promise<string | undefined> {
  const to = (await handOnsOf(ctx, person, [request.id])).get(request.id)?.to;
  const handedAt = to?.until === null ? to.at : 0;
  const isAnswered = request.inquiries?.some((one) => one.person === person && (one.answeredAt ?? 0) > handedAt);
  if (isAnswered) return inquiryAnsweredWords(askerName(request));
  if (!to) return undefined;
  const giver = (await findHuman(ctx.db, to.person))?.name ?? "";
  return to.until === null ? handOnWords(giver, to.note) : standInWords(giver);
}

/** Returns an open request, locked, that the person may decide; or the refusal of one that they may not. */
export async function lockOpen(ctx: Context, tx: Tx, { requestId, person }: InInbox): Promise<RequestAt | Refusal> {
  const held = await lockRequest(tx, requestId);
  if (!held) throw new Refusal("request_not_found");
  const request = await endHeldIfDue(ctx, tx, held);
  if (request.state !== "open") return settledRefusal(request);
  const open = { ...held, request };
  if (!(await mayDecide(ctx, tx, open, person))) throw new Refusal("not_asked");
  return open;
}

async function cleanNote(ctx: Context, { requestId, person }: InInbox, note = ""): Promise<CleanWords<string | null>> {
  const { identities } = await responderOf(ctx.db, person, "web");
  const safe = (await withoutSecrets(ctx, note)).trim();
  return cleanWords(ctx, safe === "" ? null : safe, { person, identities, requestId });
}

/** Returns the people who receive a request. @throws {Refusal} `invalid_input` where nobody of them may decide it */
async function receiversOf(
  ctx: Pick<Context, "addressed">,
  tx: Tx,
  open: RequestAt,
  { to, person }: { to: HandOnTo; person: string },
): Promise<string[]> {
  const named = "person" in to ? [to.person] : (ctx.addressed.groups.get(to.group) ?? []);
  const receivers: string[] = [];
  for (const one of new Set(named)) {
    if (one !== person && (await mayDecide(ctx, tx, open, one))) receivers.push(one);
  }
  if (receivers.length > 0) return receivers.toSorted();
  if ("group" in to) {
    const message = "to.group must have somebody else who may decide this request";
    throw refuseFields([{ message, field: "to.group", constraint: "excluded" }]);
  }
  const message = `to.person must be somebody ${to.person === person ? "else" : "who may decide this request"}`;
  throw refuseFields([{ message, field: "to.person", constraint: "excluded" }]);
}

/** True where an enrolled person may decide a request as things are now. */
export async function mayDecide(
  ctx: Pick<Context, "addressed">,
  on: Queryable,
  request: RequestAt,
  person: string,
): Promise<boolean> {
  const who = await responderOf(on, person, "web");
  return who.person !== null && mayDecideAt(ctx, request, who);
}

async function askedPeople(ctx: Pick<Context, "addressed">, on: Queryable, found: RequestAt): Promise<Set<string>> {
  const audience = inForce(found.request.audience, ctx.addressed.groups);
  const asked = new Set<string>();
  for (const person of await findPeopleOfReaders(on, readersOf(audience), ALL_READERS)) {
    if (await mayDecide(ctx, on, found, person)) asked.add(person);
  }
  return asked;
}

function isSame(one: HandOn, other: HandOn): boolean {
  const isTo =
    one.receivers.length === other.receivers.length && one.receivers.every((r) => other.receivers.includes(r));
  return isTo && one.group === other.group && one.note === other.note;
}

/** Stores a hand-on with the request, and plans its messages. A receiver who had it aside has it in front of them again. */
async function store(ctx: Context, tx: Tx, request: Request, one: HandOn): Promise<void> {
  const { person, receivers, group } = one;
  await deleteHandOnsBy(tx, request.id, receivers);
  for (const aside of [person, ...receivers]) await deleteSnoozes(tx, request.id, aside);
  await insertHandOn(tx, request.id, one);
  const giver = (await findHuman(tx, person))?.name ?? "";
  await tellAgain(ctx, tx, request, { people: receivers, words: handOnWords(giver, one.note) });
  await appendAudit(tx, {
    actor: { kind: "human", id: person },
    ...aboutRequest(request, "handed_on"),
    data: { to: receivers, ...(group !== null && { group }) },
  });
  tx.wake(INBOX_TOPIC);
}
