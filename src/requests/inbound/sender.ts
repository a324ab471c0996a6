import type { Context } from "../../context.ts";
import { VIAS } from "../model/request.ts";
import type { Decider, Request, Via } from "../model/request.ts";
import type { Identity } from "../../access/model/identity.ts";
import type { InboundMessage } from "../model/inbound-message.ts";
import { readerOf } from "../model/audience.ts";
import { isMailboxOf } from "../../lib/mail-address.ts";
import { numberForms } from "../../lib/phone-number.ts";
import type { Queryable } from "../../core/store/db.ts";
import type { Delivery } from "../store/deliveries.ts";
import { findHumanByIdentity, findHumanByNumber, listIdentities } from "../../access/store/humans.ts";
import { isAddressLost } from "../read/address-of-delivery.ts";

/** Returns the person whom a provider proved to be the sender, with all their known identities. */
export async function knownBy(
  on: Queryable,
  via: Via,
  proved: Identity,
  more: Pick<Decider, "slackMember"> = {},
): Promise<Decider> {
  const human = await findHumanByIdentity(on, proved);
  const identities = human ? await listIdentities(on, human.person) : [proved];
  return {
    via,
    person: human?.person ?? null,
    identities,
    seesAll: human?.seesAll ?? false,
    called: proved.value,
    ...more,
  };
}

/** Returns who is speaking, if it is somebody the message was sent to, or who is known by what the provider proved. */
export async function responderFor(ctx: Context, delivery: Delivery, message: InboundMessage): Promise<Decider | null> {
  const on = ctx.db;
  const { sender } = message;
  const { target } = delivery;
  const via = viaOf(delivery);
  if (await isAddressLost(on, delivery)) return null;
  if (sender.kind === "human") {
    const number = /^\d{1,15}$/.test(sender.id) ? Number(sender.id) : undefined;
    const human = number === undefined ? undefined : await findHumanByNumber(on, number);
    // A target speaks only of what was sent to it, and for its own people.
    if (!human || target.via !== "webhook" || target.to !== sender.webhook) return null;
    if (!target.people.includes(human.person)) return null;
    return { via, person: human.person, identities: [], seesAll: human.seesAll, webhook: target.to };
  }
  if (sender.kind === "slack" && !sender.member) return null;
  // A token or a number speaks only for the address that its message was sent to.
  if (sender.kind === "email") {
    if (target.via !== "email" || !isMailboxOf(sender.id, target.to)) return null;
    return knownBy(ctx.db, via, { kind: "email", value: target.to });
  }
  if (sender.kind === "phone") {
    if (!("to" in target) || !numberForms(sender.id).includes(target.to)) return null;
    return knownBy(ctx.db, via, { kind: "phone", value: target.to });
  }

  const slackMember = sender.kind === "slack" && {
    channel: sender.channel,
    mayApprove: ctx.addressed.slackMembersApprove,
  };
  return knownBy(ctx.db, via, { kind: sender.kind, value: sender.id }, { ...(slackMember && { slackMember }) });
}

/** Returns the address that something came from; none where a program speaks for somebody. */
export function identityOf({ sender: { kind, id } }: InboundMessage): Identity | null {
  return kind === "human" ? null : { kind, value: id };
}

/** Returns the way by which an answer to a message came. */
export function viaOf({ channel }: Delivery): Via {
  return VIAS.find((via) => via === channel) ?? "web";
}

/** True where the sender of a message is the one who decided the request. */
export async function isDecidedBy(
  on: Queryable,
  { outcome }: Pick<Request, "outcome">,
  message: InboundMessage,
): Promise<boolean> {
  const from = identityOf(message);
  if (!from || !outcome?.by) return false;
  const human = await findHumanByIdentity(on, from);
  const forms = from.kind === "phone" ? numberForms(from.value) : [from.value];
  return [human?.person, ...forms.map((value) => readerOf({ kind: from.kind, value }))].includes(outcome.by.id);
}
