import { isSecretName, messagesIn, tokensIn } from "./names.ts";

/** Which message of ours a mail answers: by a reply address, or by the Message-IDs that it follows, the newest first. */
export type Reference = { token: string } | { messages: readonly string[] };

const ADDRESSES = ["to", "cc"] as const;
const MOST_FOLLOWED = 20;
/** Where mail servers write for whom a mail really was; never signed by its author. */
const ROUTES = ["delivered-to", "x-original-to", "envelope-to"] as const;

/**
 * Returns what a mail answers by what its headers say: a reply address, else a mail it follows, the newest first
 * (spec/channels 5.4). Subjects and free text never count.
 */
export function referenceIn(
  header: (name: string) => readonly string[],
  recipients: readonly string[],
  domain: string,
): Reference | undefined {
  const routed = [...recipients, ...ROUTES.flatMap(header), ...ADDRESSES.flatMap(header)];
  return firstToken(routed, domain) ?? followed(header, domain);
}

/**
 * The same, of headers that their author signed, and only of a mail that was written to us: to a reply address, or in
 * direct answer to a message of ours to the address that we write from. Where a mail was routed, and what it quotes, says
 * nothing about its author's intent.
 */
export function signedReferenceIn(
  lines: readonly string[],
  { domain, agent }: { domain: string; agent: string },
): Reference | undefined {
  const header = (name: string) =>
    lines.filter((line) => line.toLowerCase().startsWith(`${name}:`)).map((line) => line.slice(name.length + 1));
  const to = addressesIn(lines);
  const token = firstToken(to, domain);
  if (token || !to.includes(agent)) return token;
  const messages = header("in-reply-to").flatMap((value) => messagesIn(value, domain).filter(isSecretName));
  return messages.length === 0 ? undefined : { messages: messages.slice(0, 1) };
}

/** Returns the addresses that header lines name as recipients, in lower case. Text in a display name or a comment does not count. */
export function addressesIn(lines: readonly string[]): string[] {
  return lines
    .filter((line) => /^(to|cc)\s*:/i.test(line))
    .flatMap((line) => {
      const bare = withoutComments(line.slice(line.indexOf(":") + 1));
      return bare.split(/[,;]/).flatMap((one) => addressOf(one) ?? []);
    });
}

/** Returns the address of one recipient, whose quoted parts are gone: what stands in angle brackets where there are any. */
function addressOf(recipient: string): string | undefined {
  const isNamed = /[<>]/.test(recipient);
  const found = isNamed
    ? /^[^<>]*<([^<>]*)>[^<>]*$/.exec(recipient)?.[1]
    : recipient.slice(recipient.lastIndexOf(":") + 1);
  return /^\s*([^\s@:"\\]+@[^\s@:"\\]+)\s*$/.exec(found ?? "")?.[1]?.toLowerCase();
}

/** Leaves out comments, and puts a quote where a quoted text was. */
function withoutComments(value: string): string {
  let bare = "";
  let depth = 0;
  let isQuoted = false;
  for (const unit of value.match(/\\[^]|[^]/g) ?? []) {
    if (isQuoted) isQuoted = unit !== '"';
    else if (unit === "(") depth += 1;
    else if (depth > 0) depth -= unit === ")" ? 1 : 0;
    else {
      isQuoted = unit === '"';
      bare += unit;
    }
  }
  return bare;
}

/** Returns which of some addresses a mail was for, by its envelope, the way it came, or what its author wrote. */
export function recipientsAmong(
  addresses: readonly string[],
  header: (name: string) => readonly string[],
  recipients: readonly string[],
): string[] {
  const written = ADDRESSES.flatMap((name) => header(name).map((value) => `${name}:${value}`));
  const routed = [...recipients, ...ROUTES.flatMap(header)].map((value) => `to:${value}`);
  const found = new Set(addressesIn([...written, ...routed]));
  return addresses.filter((address) => found.has(address));
}

function firstToken(values: readonly string[], domain: string): Reference | undefined {
  const token = values.flatMap((value) => tokensIn(value, domain))[0];
  return token === undefined ? undefined : { token };
}

function followed(header: (name: string) => readonly string[], domain: string): Reference | undefined {
  const named = (name: string) => header(name).flatMap((value) => messagesIn(value, domain));
  const messages = [...new Set([...named("in-reply-to"), ...named("references").toReversed()])];
  return messages.length === 0 ? undefined : { messages: messages.slice(0, MOST_FOLLOWED) };
}
