import type { Context } from "../../context.ts";
import { sha256Hex } from "../../lib/secrets/keyring.ts";
import { VIAS, type Request, type Decision, type Decider } from "../model/request.ts";
import { identityAt } from "../../access/model/identity.ts";
import { Refusal } from "../../refusals.ts";
import { storeNow } from "../../core/store/db.ts";
import { findDeliveryByHash, type Delivery } from "../store/deliveries.ts";
import { findHumanByIdentity } from "../../access/store/humans.ts";
import { decideRequest, type Decided } from "../decide/decide.ts";
import { responderOf } from "../decide/decider.ts";
import { decisionOriginOf } from "../decide/decision-origin.ts";
import { readForPeople } from "../read/read-request.ts";
import { isAddressLost } from "../read/address-of-delivery.ts";
import { isReadByAsker } from "../model/carrier.ts";
import { isLocked, tryCode } from "./try-code.ts";

/** How long the page of a link shows how its request ended. */
const SHOWN_AFTERWARDS_MS = 7 * 86_400_000;

const LOCKED = "Too many wrong codes: this link decides nothing any more.";

/** The request behind a one-time link. */
export interface LinkReading {
  request: Request;
  delivery: Delivery;
  /** Wrong codes have locked it; it shows, and decides nothing. */
  locked: boolean;
}

/**
 * Returns what a one-time link is about; changes nothing (spec/channels 3.1).
 *
 * @throws {Refusal} `link_dead` for an unknown one, for one that stood in words that agents can read or whose message the
 *   asker can read, for one whose address is no longer that person's, or a week after its request has ended
 */
export async function readLink(ctx: Context, token: string): Promise<LinkReading> {
  const delivery = /^[\w-]{43}$/.test(token) ? await findDeliveryByHash(ctx.db, sha256Hex(token)) : undefined;
  if (!delivery || delivery.exposedAt !== null || isReadByAsker(delivery.target)) throw new Refusal("link_dead");
  if (await isAddressLost(ctx.db, delivery)) throw new Refusal("link_dead");
  const request = await readForPeople(ctx, delivery.requestId);
  if (request.settledAt !== null && (await storeNow(ctx.db)) - request.settledAt > SHOWN_AFTERWARDS_MS) {
    throw new Refusal("link_dead");
  }
  return { request, delivery, locked: isLocked(delivery) };
}

/**
 * Decides as the recipient of the link's message. Every answer needs the message's code too, unless the recipient is
 * signed in: a machine may have read the link, or followed it. `read` is the link as the caller has just read it.
 *
 * @throws {Refusal} `link_dead`, `code_missing`, and whatever `decideAsk` throws
 */
export async function decideByLink(
  ctx: Context,
  token: string,
  given: { decision: Decision; code?: string; signedIn?: string; read?: LinkReading },
): Promise<Decided> {
  const { request, delivery } = given.read ?? (await readLink(ctx, token));
  const responder = await recipientOf(ctx, delivery);
  const isOwnSession = given.signedIn !== undefined && given.signedIn === responder.person;
  if (request.state === "open" && !isOwnSession) {
    const tried = await tryCode(ctx, delivery, given.code);
    if (tried === "locked") throw new Refusal("code_missing", {}, LOCKED);
    if (tried === "wrong") throw new Refusal("code_missing");
  }
  const origin = decisionOriginOf(ctx, delivery, identityAt(delivery.target));
  return decideRequest(ctx, { requestId: request.id, read: request, responder, decision: given.decision, origin });
}

/** Returns the recipient of a message as a decider; `via` is the channel that carried the link. */
async function recipientOf(ctx: Context, { target, person, channel }: Delivery): Promise<Decider> {
  const via = VIAS.find((one) => one === channel) ?? "web";
  if (person !== null) return responderOf(ctx.db, person, via);
  const identity = identityAt(target);
  if (!identity) return { via, person: null, identities: [], seesAll: false };
  const human = await findHumanByIdentity(ctx.db, identity);
  if (human) return responderOf(ctx.db, human.person, via);
  return { via, person: null, identities: [identity], seesAll: false, called: identity.value };
}
