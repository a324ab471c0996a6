import { findPerson } from "../access/store/people.ts";
import { answersFor, ownsKeyOf } from "../access/store/keys.ts";
import type { Context } from "../context.ts";
import { type Actor, appendAudit } from "../core/store/audit.ts";
import type { Queryable, Tx } from "../core/store/db.ts";
import { transact } from "../core/store/transact.ts";
import { FREEZES_TOPIC, INBOX_TOPIC, TASKS_TOPIC, CLAIMS_TOPIC } from "../core/store/wake.ts";
import { Refusal } from "../refusals.ts";
import * as store from "./store/freezes.ts";
import type { Freeze } from "./store/freezes.ts";

export type { Freeze } from "./store/freezes.ts";

/** The agents that a freeze covers. */
export type FreezeScope = Pick<Freeze, "scope" | "subject">;

/** Who freezes or thaws, and by which way they came. */
export interface FreezeActor {
  actor: Actor & { kind: Freeze["madeByKind"] };
  via: string;
  isAdmin: boolean;
}

/** Returns the person as one who freezes; an admin freezes anything. */
export async function freezerOf({ db }: Pick<Context, "db">, person: string, via: string): Promise<FreezeActor> {
  const isAdmin = (await findPerson(db, person))?.role === "admin";
  return { actor: { kind: "human", id: person }, via, isAdmin };
}

/** Returns what a freeze of the named agent covers; nothing where no key has the name. */
export async function scopeOfAgent({ db }: Pick<Context, "db">, name: string): Promise<FreezeScope | undefined> {
  const subject = await store.findPrincipal(db, name);
  return subject === undefined ? undefined : { scope: "agent", subject };
}

/** Returns what a freeze of a person's agents covers; nothing where there is no such person. */
export async function scopeOfPerson({ db }: Pick<Context, "db">, person: string): Promise<FreezeScope | undefined> {
  return (await findPerson(db, person)) ? { scope: "person", subject: person } : undefined;
}

type FreezeContext = Pick<Context, "db" | "wake" | "newId" | "standStill">;

/** So much is kept of a reason. */
const MOST_REASON = 500;

/**
 * Nothing is allowed from now on to whom it covers, on any server, and their deadlines stand still. The same again
 * returns the freeze that is in force.
 *
 * @throws {Refusal} `scope_missing` for somebody else's agents, unless an admin freezes
 */
export async function freeze(
  ctx: FreezeContext,
  what: FreezeScope,
  by: FreezeActor & { reason?: string | undefined },
): Promise<Freeze> {
  return transact(ctx, (tx) => freezeIn(ctx, tx, what, by));
}

/** The same as part of a transaction under way. */
export async function freezeIn(
  ctx: Pick<FreezeContext, "newId" | "standStill">,
  tx: Tx,
  { scope, subject }: FreezeScope,
  by: FreezeActor & { reason?: string | undefined },
): Promise<Freeze> {
  await checkMay(tx, { scope, subject }, by);
  const set = await store.lockFreezes(tx);
  const found = set.freezes.find((one) => one.scope === scope && one.subject === subject);
  if (found) return found;
  await settle(ctx, tx, set);
  const { actor, via } = by;
  const reason = by.reason?.trim().slice(0, MOST_REASON);
  const made: Freeze = {
    id: ctx.newId("frz"),
    scope,
    subject,
    madeBy: actor.id,
    madeByKind: actor.kind,
    via,
    reason: reason === undefined || reason === "" ? null : reason,
    madeAt: set.now,
    settledAt: set.now,
  };
  await store.insertFreeze(tx, made);
  await note(tx, made, { ...by, action: "freeze.made", at: set.now });
  return made;
}

/**
 * Ends a freeze. Deadlines go on with the time that was left, and approvals that were given before are handed out.
 *
 * @throws {Refusal} `freeze_not_found`, `scope_missing`
 */
export async function thaw(ctx: FreezeContext, id: string, by: FreezeActor): Promise<Freeze> {
  return transact(ctx, async (tx) => {
    const set = await store.lockFreezes(tx);
    const found = set.freezes.find((one) => one.id === id);
    if (!found) throw new Refusal("freeze_not_found");
    await checkMay(tx, found, by);
    await settle(ctx, tx, set);
    await store.deleteFreeze(tx, id);
    await note(tx, found, { ...by, action: "freeze.ended", at: set.now });
    return found;
  });
}

/** Returns the freezes in force, the oldest first. */
export async function readFreezes({ db }: Pick<Context, "db">): Promise<Freeze[]> {
  return store.listFreezes(db);
}

/** True of one who may thaw this, and while it is not frozen may freeze it. */
export async function mayFreeze(on: Queryable, what: FreezeScope, by: Omit<FreezeActor, "via">): Promise<boolean> {
  return by.isAdmin || (await isOwn(on, what, by));
}

/** True where a freeze covers the principal. */
export async function covers(on: Queryable, { scope, subject }: FreezeScope, principal: string): Promise<boolean> {
  if (scope === "person") return ownsKeyOf(on, subject, principal);
  return scope === "all" || subject === principal;
}

/** Returns the refusal of an approval for a frozen agent: who froze it, and since when. */
export async function frozenRefusal(on: Queryable, principal: string): Promise<Refusal> {
  const found = await store.findFreeze(on, principal);
  if (!found) return new Refusal("frozen");
  const { madeBy, madeByKind, madeAt, scope, reason } = found;
  const name = (madeByKind === "human" ? await findPerson(on, madeBy) : undefined)?.name ?? madeBy;
  const since = new Date(madeAt).toISOString();
  return new Refusal(
    "frozen",
    { frozen_by: madeBy, frozen_at: madeAt, scope, ...(reason !== null && { reason }) },
    `${name} has frozen ${scope === "all" ? "all agents" : "this agent"} since ${since}, so nothing is approved. An admin has to thaw it first; a rejection is still possible.`,
  );
}

/** Moves the deadlines of whom the set covers up to now. All marks are alike, because each change moves them. */
async function settle(
  ctx: Pick<Context, "standStill">,
  tx: Tx,
  { freezes, now }: { freezes: readonly Freeze[]; now: number },
): Promise<void> {
  if (freezes.length === 0) return;
  const sinceMs = Math.min(now, ...freezes.map(({ settledAt }) => settledAt));
  for (const statement of ctx.standStill({ sinceMs, nowMs: now })) await tx.all(statement);
  await store.markSettled(tx, now);
}

async function checkMay(on: Queryable, what: FreezeScope, by: FreezeActor): Promise<void> {
  if (await mayFreeze(on, what, by)) return;
  throw new Refusal("scope_missing", { scope: "admin" }, "Only an admin freezes or thaws the agents of others.");
}

async function isOwn(
  on: Queryable,
  { scope, subject }: FreezeScope,
  { actor }: Pick<FreezeActor, "actor">,
): Promise<boolean> {
  if (actor.kind !== "human") return false;
  if (scope === "person") return subject === actor.id;
  return scope === "agent" && (await answersFor(on, actor.id, subject));
}

async function note(
  tx: Tx,
  { id, scope, subject, reason }: Freeze,
  { actor, via, action, at }: FreezeActor & { action: string; at: number },
): Promise<void> {
  const data = {
    freeze: id,
    scope,
    ...(scope === "person" && { person: subject }),
    ...(reason !== null && { reason }),
  };
  await appendAudit(tx, { at, actor, action, via, ...(scope === "agent" && { agent: subject }), data });
  for (const topic of [FREEZES_TOPIC, INBOX_TOPIC, CLAIMS_TOPIC, TASKS_TOPIC]) tx.wake(topic);
}
