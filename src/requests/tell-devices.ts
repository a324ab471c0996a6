import { findPeopleOfReaders, insertAddressedNotices } from "../requests/store/device-notices.ts";
import type { Audience } from "../requests/model/request.ts";
import { ALL_READERS, leavesOf, readersOf } from "../requests/model/audience.ts";
import type { Tx } from "../core/store/db.ts";

/**
 * The devices of those who are asked will be told of it, each device once, from when on they are asked: rows of the
 * caller's transaction, sent while the ask is open (spec/channels 5.2). Whoever is not enrolled has no device here.
 */
export async function tellDevices(tx: Tx, askId: string, audience: Audience): Promise<void> {
  const leaves = leavesOf(audience);
  for (const afterMs of new Set(leaves.map((leaf) => leaf.afterMs))) {
    const then = leaves.filter((leaf) => leaf.afterMs === afterMs);
    const readers = then.flatMap(({ target }) => readersOf({ is: "leaf", target }));
    const people = await findPeopleOfReaders(tx, readers, ALL_READERS);
    await insertAddressedNotices(tx, askId, people, afterMs);
  }
}
