import { listIdentityValues, pseudonymize } from "../../access/store/data-subjects.ts";
import { listConversationTargets } from "../../conversations/store/conversations.ts";
import type { Queryable, Tx } from "../../core/store/db.ts";
import { deleteDevicesOf } from "../../notices/store/push-subscriptions.ts";
import { forgetMeans } from "../../questions/store/participants.ts";
import { listMessageTargets } from "../../requests/store/person-rows.ts";
import { forgetPhones } from "../../requests/store/phones.ts";

/** Returns every address of the person: identities, and targets of messages and conversations, as JSON. */
export async function listReached(on: Queryable, person: string): Promise<{ identities: string[]; targets: string[] }> {
  const identities = await listIdentityValues(on, person);
  const targets = [...(await listMessageTargets(on, person)), ...(await listConversationTargets(on, person))];
  return { identities, targets };
}

/**
 * Deletes every means to reach or recognise the person, and whether a telephone number of theirs wanted messages. The
 * person's name becomes the pseudonym.
 */
export async function forgetPerson(
  tx: Tx,
  { id, pseudonym, phones }: { id: string; pseudonym: string; phones: readonly string[] },
): Promise<void> {
  await deleteDevicesOf(tx, id);
  await forgetMeans(tx, id);
  await forgetPhones(tx, phones);
  await pseudonymize(tx, id, pseudonym);
}
