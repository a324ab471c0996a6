import { domainToASCII } from "node:url";

const LOCAL = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/;
const DOMAIN = /^([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9])?\.)*[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

/**
 * Returns one mail address in lower case, its domain in ASCII, or nothing for any other text: no display name, no list,
 * no quoted or non-ASCII local part, and so nothing that could break out of a header.
 */
export function mailAddress(text: string): string | undefined {
  const at = text.lastIndexOf("@");
  const local = text.slice(0, Math.max(0, at));
  // A domain in other letters is turned into ASCII; anything but letters it would be turned from is no domain.
  const domain = /[\s"(),:;<>[\\\]%/?#@]/.test(text.slice(at + 1)) ? "" : domainToASCII(text.slice(at + 1));
  if (local.length > 64 || local.length + domain.length > 253) return undefined;
  return LOCAL.test(local) && DOMAIN.test(domain) ? `${local}@${domain}`.toLowerCase() : undefined;
}

/** Returns the address of the mailbox that an address in lower case leads to: the same without a `+tag` (RFC 5233). */
export function mailboxOf(address: string): string {
  return address.replace(/^([^+@]+)\+[^@]*@/, "$1@");
}

/** True where an address, or that of its mailbox, is the sender's: programs answer mail to `ana+work@` from `ana@`. */
export function isMailboxOf(sender: string, address: string): boolean {
  return sender === address || sender === mailboxOf(address);
}

/** A name to be shown and an address. */
export interface Mailbox {
  name: string;
  address: string;
}

/** Returns the name and address of `Name <address>`, or of an address alone; undefined if the address is invalid. */
export function mailbox(text: string): Mailbox | undefined {
  const [, name = "", address = text] = /^([^<>\r\n]*)<([^<>]*)>$/.exec(text.trim()) ?? [];
  const found = mailAddress(address.trim());
  return found === undefined ? undefined : { name: name.trim().replace(/^"(.*)"$/, "$1"), address: found };
}
