import { ALL_READERS } from "../model/audience.ts";
import type { Tx } from "../store/db.ts";
import { findPeopleOfReaders, insertAddressedNotices } from "../store/notices.ts";

/**
 * The devices of those in whose inboxes an ask now is will be told of it, each device once: rows of the caller's
 * transaction, sent by the loop of `loops/send-notices.ts` while the ask is open (channels.md, section 5.2).
 *
 * `readers` are names as `readersOf` gives them; one that stands for nobody enrolled tells nobody.
 */
export async function tellDevices(tx: Tx, askId: string, readers: readonly string[]): Promise<void> {
  await insertAddressedNotices(tx, askId, await findPeopleOfReaders(tx, readers, ALL_READERS));
}
