import type { Context } from "../context.ts";
import { TIME_ZONE_STANDS_MS, type Caller, type AnsweringIdentity } from "./model/participant.ts";
import type { Tx } from "../core/store/db.ts";
import {
  bindFingerprint,
  ensureParticipant,
  findByFingerprint,
  findParticipant,
  setTimeZone,
  sightParticipant,
  touchParticipant,
  type Participant,
} from "./store/participants.ts";
import { transact } from "../core/store/transact.ts";
import { chargeLimit } from "../core/limits.ts";

/** How old a participant's last sighting may be before it is written down again. */
const SIGHTING_MS = 86_400_000;

/** Who answered, and the participant whose credential the reply should carry, if any. */
export interface Identified {
  identity: AnsweringIdentity;
  issue: string | null;
  /** True if the participant was unknown before. */
  isNew: boolean;
}

/**
 * Returns the identity of the caller who answers, creating the participant if it does not exist. It is a signed-in
 * person, else the holder of a credential, else the participant of the fingerprint, else somebody new
 * (spec/ask-a-human 4.1). The calling function counts the newcomer in the same transaction, with the other limits.
 */
export async function identifyForWrite(ctx: Context, tx: Tx, caller: Caller): Promise<Identified> {
  if (caller.person !== undefined) {
    const { participant } = await ensureParticipant(tx, caller.person, caller.person);
    const { timeZone } = await keepTimeZone(tx, participant, caller);
    return { identity: identityOfPerson(caller.person, caller, timeZone), issue: null, isNew: false };
  }
  if (caller.participant !== undefined) {
    const { participant } = await ensureParticipant(tx, caller.participant, null);
    const isShown = caller.fingerprint === undefined || caller.fingerprint === participant.lastFingerprint;
    if (!participant.presented || !isShown || isSightingDue(participant)) {
      await touchParticipant(tx, participant.id, caller.fingerprint ?? null);
    }
    const identity = identityOf(await keepTimeZone(tx, participant, caller), "returning");
    return { identity, issue: null, isNew: false };
  }

  const candidate = ctx.newId("p");
  const id = caller.fingerprint === undefined ? candidate : await bindFingerprint(tx, caller.fingerprint, candidate);
  const { participant, created } = await ensureParticipant(tx, id, null);
  if (isSightingDue(participant)) await sightParticipant(tx, id);
  const identity = identityOf(await keepTimeZone(tx, participant, caller), "anonymous");
  return { identity, issue: id, isNew: created };
}

/** Counts a newcomer of the caller's network. @throws {Refusal} `rate_limited` when there were too many this hour */
export async function chargeNewcomer(ctx: Context, tx: Tx, caller: Caller, { isNew }: Identified): Promise<void> {
  if (!isNew) return;
  await chargeLimit(tx, "newcomers", caller.network, ctx.crowd.limits.newParticipantsPerHour);
}

/** Returns who is calling, and counts a newcomer at once. @throws {Refusal} `rate_limited` */
export async function welcome(ctx: Context, tx: Tx, caller: Caller): Promise<Identified> {
  const identified = await identifyForWrite(ctx, tx, caller);
  await chargeNewcomer(ctx, tx, caller, identified);
  return identified;
}

/**
 * Returns who is reading, or nothing for somebody unknown. Creates nobody; that a credential was shown is kept, so that
 * its participant cannot be taken over by a fingerprint.
 */
export async function identifyForRead(ctx: Context, caller: Caller): Promise<AnsweringIdentity | null> {
  if (caller.person !== undefined) {
    const found = await findParticipant(ctx.db, caller.person);
    return identityOfPerson(caller.person, caller, found?.timeZone);
  }
  if (caller.participant !== undefined) {
    const found = await findParticipant(ctx.db, caller.participant);
    if (!found) return null;
    if (!found.presented || isSightingDue(found)) {
      await transact(ctx, (tx) => touchParticipant(tx, found.id, caller.fingerprint ?? null));
    }
    return identityOf(found, "returning");
  }
  if (caller.fingerprint === undefined) return null;
  const found = await findByFingerprint(ctx.db, caller.fingerprint);
  if (!found) return null;
  if (isSightingDue(found)) await transact(ctx, (tx) => sightParticipant(tx, found.id));
  return identityOf(found, "anonymous");
}

function isSightingDue({ now, seenAt }: Participant): boolean {
  return now - seenAt > SIGHTING_MS;
}

/**
 * A participant's credential or fingerprint identifies that participant alone, even when a person has signed in beside
 * it.
 */
function identityOf({ id, timeZone }: Participant, tier: AnsweringIdentity["tier"]): AnsweringIdentity {
  return { person: id, names: [id], tier, timeZone: timeZone ?? "UTC" };
}

/** A person has answered also what the participant of the same browser has answered. */
function identityOfPerson(person: string, caller: Caller, timeZone: string | null | undefined): AnsweringIdentity {
  const { participant } = caller;
  const names = participant === undefined ? [person] : [person, participant];
  return { person, names, tier: "named", timeZone: timeZone ?? "UTC" };
}

async function keepTimeZone(tx: Tx, participant: Participant, caller: Caller): Promise<Participant> {
  const { timeZone } = caller;
  if (timeZone === undefined || timeZone === participant.timeZone) return participant;
  const stands = participant.timeZoneAt !== null && participant.now - participant.timeZoneAt < TIME_ZONE_STANDS_MS;
  if (stands) return participant;
  await setTimeZone(tx, participant.id, timeZone);
  return { ...participant, timeZone };
}
