import { deliveriesIn, tokensIn } from "./names.ts";

/** Which message of ours a mail answers. */
export type Reference = { token: string } | { delivery: string };

const ADDRESSES = ["to", "cc"] as const;
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

/** The same, of headers that their author signed: where a mail was routed says nothing about what its author meant. */
export function signedReferenceIn(lines: readonly string[], domain: string): Reference | undefined {
  const header = (name: string) =>
    lines.filter((line) => line.toLowerCase().startsWith(`${name}:`)).map((line) => line.slice(name.length + 1));
  return firstToken(ADDRESSES.flatMap(header), domain) ?? followed(header, domain);
}

/** Returns the addresses that header lines name as recipients, in lower case. */
export function addressesIn(lines: readonly string[]): string[] {
  return lines
    .filter((line) => /^(to|cc)\s*:/i.test(line))
    .flatMap((line) => line.slice(line.indexOf(":") + 1).match(/[^\s<>,;:"()]+@[^\s<>,;:"()]+/g) ?? [])
    .map((address) => address.toLowerCase());
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

/** Returns what is quoted: our mails end with a line that names their delivery. */
export function quotedReferenceIn(text: string): Reference | undefined {
  const delivery = /\bdlv_[0-9A-Za-z]{1,64}\b/.exec(text)?.[0];
  return delivery === undefined ? undefined : { delivery };
}

function firstToken(values: readonly string[], domain: string): Reference | undefined {
  const token = values.flatMap((value) => tokensIn(value, domain))[0];
  return token === undefined ? undefined : { token };
}

function followed(header: (name: string) => readonly string[], domain: string): Reference | undefined {
  const delivery =
    header("in-reply-to").flatMap((value) => deliveriesIn(value, domain))[0] ??
    header("references")
      .flatMap((value) => deliveriesIn(value, domain))
      .at(-1);
  return delivery === undefined ? undefined : { delivery };
}
