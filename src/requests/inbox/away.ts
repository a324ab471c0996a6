import { findPeopleOfReaders } from "../../access/store/people.ts";
import { findHuman, findHumans, type Human } from "../../access/store/humans.ts";
import type { Context } from "../../context.ts";
import { refuseFields } from "../../core/model/field-problem.ts";
import type { RequestId } from "../../core/model/ids.ts";
import { appendAudit } from "../../core/store/audit.ts";
import { storeNow, type Queryable, type Tx } from "../../core/store/db.ts";
import { transact } from "../../core/store/transact.ts";
import { INBOX_TOPIC } from "../../core/store/wake.ts";
import { mayDecideAt, responderOf } from "../decide/decider.ts";
import { ALL_READERS, readerOf } from "../model/audience.ts";
import { LONGEST_ABSENCE_MS } from "../model/inbox.ts";
import type { Decider } from "../model/request.ts";
import {
  deleteAbsence,
  findAbsence,
  findStandIn,
  listAbsent,
  listStoodInFor,
  listWaitingFor,
  upsertAbsence,
  type Absence,
} from "../store/absences.ts";
import type { RequestAt } from "../store/requests.ts";

/** A person, and until when they are away; null where they are here. */
export type Colleague = Human & { awayUntil: number | null };

type Addressing = Pick<Context, "db" | "addressed">;

/**
 * A person is away until a time, perhaps with a stand-in. It ends by itself. Messages to the person go to the stand-in,
 * and stand first in the stand-in's list, for the requests that the stand-in may decide anyway (spec/a2h 9).
 *
 * @throws {Refusal} `invalid_input` for `until` in the past or more than 366 days away, and for a stand-in who is the
 *   person, or is not enrolled
 */
export async function goAway(
  ctx: Pick<Context, "db" | "wake">,
  person: string,
  { until, standIn }: { until: number; standIn: string | null },
): Promise<Absence> {
  return transact(ctx, async (tx) => {
    const now = await storeNow(tx);
    if (until <= now || until > now + LONGEST_ABSENCE_MS) {
      const message = until <= now ? "until must be in the future" : "until must be within 366 days";
      throw refuseFields([{ message, field: "until", constraint: "range" }]);
    }
    if (standIn !== null) await checkStandIn(tx, person, standIn);
    const absence = await upsertAbsence(tx, { person, standIn, until });
    const data = { until, ...(standIn !== null && { stand_in: standIn }) };
    await appendAudit(tx, { actor: { kind: "human", id: person }, action: "human.away", data });
    tx.wake(INBOX_TOPIC);
    return absence;
  });
}

async function checkStandIn(tx: Tx, person: string, standIn: string): Promise<void> {
  const problem = standIn === person ? "else" : (await findHuman(tx, standIn)) ? null : "who is enrolled";
  if (problem === null) return;
  throw refuseFields([{ message: `stand_in must be somebody ${problem}`, field: "stand_in", constraint: "excluded" }]);
}

/** The person is back. Nothing changes where they were not away. */
export async function comeBack(ctx: Pick<Context, "db" | "wake">, person: string): Promise<void> {
  await transact(ctx, async (tx) => {
    if (!(await deleteAbsence(tx, person))) return;
    await appendAudit(tx, { actor: { kind: "human", id: person }, action: "human.back" });
    tx.wake(INBOX_TOPIC);
  });
}

/** Returns the stand-in of somebody who is away, if they may decide this request as things are now. */
export async function standInFor(
  ctx: Addressing,
  request: RequestAt,
  person: string,
): Promise<(Decider & { person: string }) | undefined> {
  const standIn = await findStandIn(ctx.db, person);
  if (standIn === undefined) return undefined;
  const who = await responderOf(ctx.db, standIn, "web");
  if (who.person === null || !mayDecideAt(ctx, request, who)) return undefined;
  return { ...who, person: who.person };
}

/** Returns the open requests that wait for somebody in whose absence the person stands in, and may decide them. */
export async function stoodInFor(ctx: Addressing, standIn: string): Promise<Map<RequestId, Absence>> {
  return waitingIn(ctx, await listStoodInFor(ctx.db, standIn));
}

/** The same of absences that were read before, which have the same stand-in, and of these requests alone. */
export async function waitingIn(
  ctx: Addressing,
  absences: readonly Absence[],
  among?: readonly RequestId[],
): Promise<Map<RequestId, Absence>> {
  const waiting = new Map<RequestId, Absence>();
  const standIn = absences[0]?.standIn;
  if (standIn === undefined || standIn === null) return waiting;
  const who = await responderOf(ctx.db, standIn, "web");
  const now = await storeNow(ctx.db);
  for (const absence of absences) {
    const { person } = absence;
    const absent = await responderOf(ctx.db, person, "web");
    const readers = [person, ...absent.identities.map(readerOf)];
    const undecidedBy = [person, standIn];
    for (const { id, kind, audience, createdAt } of await listWaitingFor(ctx.db, readers, { undecidedBy, among })) {
      const at = { request: { audience, createdAt, form: { kind } }, now };
      if (!waiting.has(id) && mayDecideAt(ctx, at, who) && mayDecideAt(ctx, at, absent)) waiting.set(id, absence);
    }
  }
  return waiting;
}

/** Returns those whom a person may want as a stand-in, by name: who shares a group, and who sees every request. */
export async function listStandIns(ctx: Addressing, person: string): Promise<Colleague[]> {
  const groups = [...ctx.addressed.groups.values()].filter((members) => members.includes(person));
  const near = await findPeopleOfReaders(ctx.db, [...groups.flat(), ALL_READERS], ALL_READERS);
  const others = near.filter((one) => one !== person);
  return colleagues(ctx.db, others);
}

/** Returns whether somebody is away, until when, and who stands in. */
export async function readAway(
  ctx: Pick<Context, "db">,
  person: string,
): Promise<(Omit<Absence, "standIn"> & { standIn: Colleague | null }) | undefined> {
  const absence = await findAbsence(ctx.db, person);
  if (!absence) return undefined;
  const [standIn = null] = absence.standIn === null ? [] : await colleagues(ctx.db, [absence.standIn]);
  return { ...absence, standIn };
}

/** Returns these people by name, each with the end of an absence. */
export async function colleagues(on: Queryable, people: readonly string[]): Promise<Colleague[]> {
  const away = await listAbsent(on, people);
  return [...(await findHumans(on, people)).values()]
    .toSorted((one, other) => one.name.localeCompare(other.name, "en") || one.number - other.number)
    .map((one) => ({ ...one, awayUntil: away.get(one.person) ?? null }));
}
