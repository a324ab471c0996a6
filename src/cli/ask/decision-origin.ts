import { mailAddress } from "../../lib/mail-address.ts";
import { phoneNumber } from "../../lib/phone-number.ts";
import type { Identity } from "../../access/model/identity.ts";
import { WrongUsage } from "../arguments.ts";

/**
 * Returns a mail address, a phone number or the id of a Slack user as decisions are known by it.
 *
 * @throws {WrongUsage} for any other text
 */
export function addressFrom(text: string): Identity {
  const mail = mailAddress(text.trim());
  if (mail !== undefined) return { kind: "email", value: mail };
  const phone = phoneNumber(text);
  if (phone !== undefined) return { kind: "phone", value: phone };
  if (/^[UW][A-Z0-9]+$/.test(text)) return { kind: "slack", value: text };
  throw new WrongUsage(
    "--address takes a mail address, a number such as +4930901820, or a Slack user such as U02147483",
  );
}

/** Returns who decided, as a receipt and the record say it: neither holds a name or an address. */
export function deciderLine(by: {
  kind: string;
  id: string;
  via?: string | undefined;
  delivery?: string | undefined;
}): string {
  const via = by.via === undefined ? "" : ` via ${by.via}`;
  const who = by.kind === "address" ? `somebody not enrolled, address ${by.id}` : `${by.kind} ${by.id}`;
  return `${who}${via}${by.delivery === undefined ? "" : ` (message ${by.delivery})`}`;
}
