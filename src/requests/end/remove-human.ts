import type { Context } from "../../context.ts";
import type { Request, Audience } from "../model/request.ts";
import { isJoint, leavesOf, readersOf } from "../model/audience.ts";
import { Refusal } from "../../refusals.ts";
import { skipQueuedTo } from "../store/person-rows.ts";
import { deleteAbsencesWith } from "../store/absences.ts";
import { deleteAllHandOnsWith } from "../store/hand-ons.ts";
import { deleteNotesOf } from "../store/agent-notes.ts";
import { deleteSnoozesOf } from "../store/snoozes.ts";
import { insertReaders, listPending, lockRequest, updateRequest } from "../store/requests.ts";
import { appendAudit, type Actor } from "../../core/store/audit.ts";
import type { Tx } from "../../core/store/db.ts";
import { findHuman, findHumanByNumber, lockHumans, retireHuman } from "../../access/store/humans.ts";
import { transact } from "../../core/store/transact.ts";
import { INBOX_TOPIC } from "../../core/store/wake.ts";
import { aboutRequest } from "../create/create-request.ts";
import { tellDevices } from "../create/tell-devices.ts";

/**
 * Removes a human, who can then no longer be asked, sign in or answer. Requests that only they were asked go to
 * everybody who sees all requests. Their decisions keep their name.
 *
 * @throws {Refusal} `human_not_found`, `invalid_input` for the person who runs the server
 */
export async function removeHuman(ctx: Pick<Context, "db" | "wake">, number: number, by: Actor): Promise<void> {
  await transact(ctx, async (tx) => {
    await lockHumans(tx);
    const human = await findHumanByNumber(tx, number);
    if (!human) throw new Refusal("human_not_found", { id: String(number) });
    if (human.isOperator) {
      throw new Refusal("invalid_input", { loc: ["path", "id"] }, "Whoever runs this server cannot be deleted.");
    }
    await removeFrom(tx, { person: human.person }, by);
  });
}

/** The person, whom this transaction has locked, can no longer be asked, sign in or answer. */
export async function removeFrom(tx: Tx, { person }: { person: string }, by: Actor): Promise<void> {
  await rerouteAll(tx, person, by);
  await retireHuman(tx, person);
  await skipQueuedTo(tx, person);
  await deleteSnoozesOf(tx, person);
  await deleteNotesOf(tx, person);
  await deleteAllHandOnsWith(tx, person);
  await deleteAbsencesWith(tx, person);
  await appendAudit(tx, { actor: by, action: "human.deleted", data: { person } });
  tx.wake(INBOX_TOPIC);
}

const ALL = { limit: 1_000_000, offset: 0 };

async function rerouteAll(tx: Tx, person: string, by: Actor): Promise<void> {
  const { items } = await listPending(tx, { readers: [person] }, ALL);
  for (const { request } of items) {
    const held = await lockRequest(tx, request.id);
    if (held?.request.state === "open") await reroute(tx, held.request, person, by);
  }
}

async function reroute(tx: Tx, request: Request, person: string, by: Actor): Promise<void> {
  await rerouteFrom(tx, request, { person, addresses: new Set() }, by);
}

/** An open request, which this transaction holds, asks neither the person nor anybody at these addresses any more. */
export async function rerouteFrom(
  tx: Tx,
  request: Request,
  { person, addresses }: { person: string; addresses: ReadonlySet<string> },
  by: Actor,
): Promise<void> {
  const left = await groupsLeft(tx, request.audience, person);
  const audience = withoutPerson(request.audience, { person, addresses, left });
  await insertReaders(tx, request.id, readersOf(audience));
  await tellDevices(tx, request.id, audience);
  await updateRequest(tx, { ...request, audience });
  await appendAudit(tx, { actor: by, ...aboutRequest(request, "rerouted") });
}

interface Gone {
  person: string;
  /** Addresses at which nobody is asked any more, even if the agent named the address itself. */
  addresses: ReadonlySet<string>;
  /** Groups in which any member may decide and that have members left: only these members stay asked. */
  left: ReadonlySet<string>;
}

async function groupsLeft(tx: Tx, audience: Audience, person: string): Promise<Set<string>> {
  const left = new Set<string>();
  if (isJoint(audience)) return left;
  for (const { target } of leavesOf(audience)) {
    if (target.via !== "person" || target.group === undefined || target.person === person) continue;
    if (await findHuman(tx, target.person)) left.add(target.group);
  }
  return left;
}

function withoutPerson(audience: Audience, gone: Gone): Audience {
  switch (audience.kind) {
    case "leaf":
      return isOnly(audience, gone) ? { kind: "leaf", target: { via: "inbox" } } : audience;
    case "any":
      return { kind: "any", of: audience.of.map((one) => ({ ...one, node: withoutPerson(one.node, gone) })) };
    case "all":
      return { kind: "all", of: audience.of.map((node) => withoutPerson(node, gone)) };
    case "quorum":
      return { ...audience, of: audience.of.map((node) => withoutPerson(node, gone)) };
  }
}

function isOnly({ target }: Audience & { kind: "leaf" }, { person, addresses, left }: Gone): boolean {
  if ("to" in target && addresses.has(target.to)) return true;
  if (target.via === "person") return target.person === person && !left.has(target.group ?? "");
  return target.via === "webhook" && target.people.every((one) => one === person);
}
