import { createHash } from "node:crypto";
import type { Context } from "../../context.ts";
import { sha256Hex } from "../../lib/secrets/keyring.ts";
import { isReadByAsker } from "../model/carrier.ts";
import type { Delivery } from "../store/deliveries.ts";

/** Without the characters that are mistaken for one another. */
const CODE_LETTERS = "23456789CDFGHJKMNPQRTVWX";
const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/** Nobody guesses the name of a message. */
const NAME_LETTERS = 22;
const BASE32 = "abcdefghijklmnopqrstuvwxyz234567";
/** 130 bits, which survive a mail system that folds case. */
const REPLY_LETTERS = 26;

/**
 * The tokens in a message that let its reader answer. They are derived from the delivery's id and a key outside the
 * database. So a message that is sent again has the same tokens, and a stolen database does not reveal them
 * (spec/channels 3).
 */
export interface DeliveryTokens {
  link: string;
  code: string;
  reply: string;
}

/**
 * Returns the address where the recipient of a message decides: its one-time page, or the inbox if the requester can
 * read the message.
 */
export function linkOf(
  ctx: Pick<Context, "keyring">,
  publicUrl: string,
  { id, requestId, target }: Pick<Delivery, "id" | "requestId" | "target">,
): string {
  return isReadByAsker(target) ? `${publicUrl}/inbox/${requestId}` : `${publicUrl}/r/${tokensOf(ctx, id).link}`;
}

/**
 * Returns the name of a message where others may read it, such as in a Message-ID. It looks like the id of a delivery,
 * and reveals nothing of it.
 */
export function messageNameOf({ keyring }: Pick<Context, "keyring">, deliveryId: string): string {
  return `dlv_${letters(keyring.mac("delivery", `name ${deliveryId}`), BASE62, NAME_LETTERS)}`;
}

export function tokensOf({ keyring }: Pick<Context, "keyring">, deliveryId: string): DeliveryTokens {
  return {
    link: keyring.mac("delivery", `link ${deliveryId}`),
    code: letters(keyring.mac("delivery", `code ${deliveryId}`), CODE_LETTERS, 4),
    reply: letters(keyring.mac("delivery", `reply ${deliveryId}`), BASE32, REPLY_LETTERS),
  };
}

/** Returns the hashes under which the store finds a delivery by what stood in its message. */
export function tokenHashes(tokens: DeliveryTokens): { linkHash: string; replyHash: string } {
  return { linkHash: sha256Hex(tokens.link), replyHash: sha256Hex(tokens.reply) };
}

/** Returns `count` letters that follow from a text, each uniform but for a bias under 10⁻⁶. */
function letters(text: string, alphabet: string, count: number): string {
  const bytes = createHash("sha512").update(text).digest();
  const more = createHash("sha512").update(bytes).digest();
  const pool = Buffer.concat([bytes, more]);
  return Array.from({ length: count }, (_, i) => alphabet[pool.readUInt32BE(i * 4) % alphabet.length]).join("");
}
