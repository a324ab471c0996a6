import type { AddressedAsk, DecidedBy, Outcome } from "../model/addressed-ask.ts";
import { endAddressed } from "../store/addressed-asks.ts";
import { appendAudit, type Actor } from "../store/audit.ts";
import type { Tx } from "../store/db.ts";
import { closeDeliveries } from "../store/deliveries.ts";
import { askTopic, DELIVERIES_TOPIC, INBOX_TOPIC } from "../store/wake.ts";
import { aboutAsk, auditNoun } from "./address-ask.ts";
import { RELAY_DOOR } from "./relay-people.ts";
import { planWebhooks } from "./webhook-endpoints.ts";

/** Who ended an ask, and what the record calls that. */
export interface EndedHow {
  by: DecidedBy | Actor;
  action: string;
  data?: Record<string, unknown>;
}

/**
 * Ends a held, open ask: outcome, record, and the closing of every message about it, in the transaction under way.
 * `act` does, in between, what the outcome means to whoever asked.
 */
export async function closeAddressedIn(
  tx: Tx,
  ask: AddressedAsk,
  { outcome, at }: { outcome: Outcome; at: number },
  how: EndedHow,
  act: (over: AddressedAsk) => Promise<void> = () => Promise.resolve(),
): Promise<AddressedAsk> {
  const over = await endAddressed(tx, ask.id, outcome, at);
  await act(over);
  // point: addressed-between-outcome-and-closing
  await closeDeliveries(tx, ask.id);
  if (ask.door !== RELAY_DOOR) await planWebhooks(tx, over, `${auditNoun(ask)}.completed`);
  await appendAudit(tx, {
    actor: { kind: how.by.kind === "person" ? "human" : how.by.kind, id: how.by.id },
    ...aboutAsk(ask, how.action),
    ...("via" in how.by && { via: how.by.via }),
    ...(outcome.digest !== undefined && { digest: outcome.digest }),
    ...(how.data && { data: how.data }),
  });
  tx.wake(askTopic(ask.id));
  tx.wake(INBOX_TOPIC);
  tx.wake(DELIVERIES_TOPIC);
  return over;
}
