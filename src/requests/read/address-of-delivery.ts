import { identityAt } from "../../access/model/identity.ts";
import type { Queryable } from "../../core/store/db.ts";
import type { Delivery } from "../store/deliveries.ts";
import { findHuman, findHumanByIdentity } from "../../access/store/humans.ts";

type Addressed = Pick<Delivery, "target" | "person">;

/**
 * Returns the person whom a message reaches: the one it was planned for, else the one enrolled with its address now;
 * null if nobody is.
 */
export async function ownerOf(on: Queryable, { target, person }: Addressed): Promise<string | null> {
  if (person !== null) return person;
  const identity = identityAt(target);
  return identity ? ((await findHumanByIdentity(on, identity))?.person ?? null) : null;
}

/**
 * True when a message was for somebody whose address this is no longer: it was removed, changed or given to somebody
 * else, or the person is gone. Such a message is not sent any more, its link is dead, and no reply to it
 * counts.
 */
export async function isAddressLost(on: Queryable, { target, person }: Addressed): Promise<boolean> {
  if (person === null) return false;
  const identity = identityAt(target);
  if (identity) return (await findHumanByIdentity(on, identity))?.person !== person;
  const human = await findHuman(on, person);
  return !human?.channels.some((one) => "to" in target && one.channel === target.via && one.target["to"] === target.to);
}
