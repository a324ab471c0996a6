import type { RequestId } from "../../core/model/ids.ts";
import { peopleOfReaders } from "../../access/store/people.ts";
import { insertRequestNotices } from "../store/device-notices.ts";
import type { Audience } from "../model/request.ts";
import { ALL_READERS, leavesOf, readersOf } from "../model/audience.ts";
import type { Tx } from "../../core/store/db.ts";

/**
 * Plans a notification for each device of the people asked, once a device, from the time at which they are asked. These
 * are rows of the caller's transaction, sent while the request is open (spec/channels 5.2). Only enrolled people have
 * devices here.
 */
export async function tellDevices(tx: Tx, requestId: RequestId, audience: Audience): Promise<void> {
  const leaves = leavesOf(audience);
  for (const afterMs of new Set(leaves.map((leaf) => leaf.afterMs))) {
    const then = leaves.filter((leaf) => leaf.afterMs === afterMs);
    const readers = then.flatMap(({ target }) => readersOf({ kind: "leaf", target }));
    await insertRequestNotices(tx, requestId, peopleOfReaders(readers, ALL_READERS), { inMs: afterMs });
  }
}
