import type { Context } from "../context.ts";
import { findAddressed } from "../store/addressed-asks.ts";
import { appendAudit } from "../store/audit.ts";
import { findDelivery, hastenDelivery, updateDelivery } from "../store/deliveries.ts";
import { findHuman } from "../store/humans.ts";
import { transact } from "../store/transact.ts";
import { DELIVERIES_TOPIC } from "../store/wake.ts";
import { auditNoun, placeOf, planNextChannel } from "./address-ask.ts";

/**
 * A message that its provider had taken has not arrived after all: it counts as failed, and the person's next channel is
 * tried at once. Heard twice, or of a message that is closed already, it changes nothing (channels.md, section 1.2).
 */
export async function failDelivery(ctx: Context, deliveryId: string, providerCode: string): Promise<void> {
  await transact(ctx, async (tx) => {
    const delivery = await findDelivery(tx, deliveryId);
    if (!delivery || delivery.state !== "sent" || delivery.kind === "tell") return;
    const ask = (await findAddressed(tx, delivery.askId))?.ask;
    if (!ask || ask.state !== "open") return;
    const lastError = providerCode.slice(0, 64);
    if (!(await updateDelivery(tx, delivery, { state: "failed", lastError }))) return;
    const note = {
      actor: { kind: "server", id: "parley" } as const,
      agent: ask.asker,
      askId: ask.id,
      via: delivery.channel,
    };
    const data = { delivery: delivery.id };
    await appendAudit(tx, { ...note, action: `${auditNoun(ask)}.delivery_failed`, data });

    const human = delivery.person === null ? undefined : await findHuman(tx, delivery.person);
    if (!human || delivery.kind !== "ask") return;
    const place = placeOf(delivery.step);
    const step = delivery.step - place;
    const words = delivery.words === null ? {} : { words: delivery.words };
    await planNextChannel(ctx, tx, { askId: ask.id, human, step, from: place + 1, inMs: 0, ...words });
    // The next may have been planned for later, when this one was sent.
    for (let i = place + 1; i < human.channels.length; i += 1) await hastenDelivery(tx, ask.id, step + i);
    await appendAudit(tx, { ...note, action: `${auditNoun(ask)}.fell_back`, data });
    tx.wake(DELIVERIES_TOPIC);
  });
}
