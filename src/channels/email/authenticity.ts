import { Resolver } from "node:dns/promises";
import type { DKIMResult } from "mailauth";
import type { Logger } from "pino";
import { addressesIn, signedReferenceIn, type Reference } from "./references.ts";
import type { ReadMail } from "./read-mail.ts";

/** Resolves a DNS name; a TXT record comes as a list of its pieces. Rejects with the code `ENOTFOUND` for no record. */
export type ResolveDns = (name: string, type: string) => Promise<string[] | string[][]>;

/** Returns lookups by this machine that give up within seconds. */
export function systemDns(): ResolveDns {
  const resolver = new Resolver({ timeout: 2000, tries: 2 });
  return (name, type) => resolver.resolve(name, type) as Promise<string[] | string[][]>;
}

interface Judge {
  domain: string;
  /** The address that this server writes from, in lower case. */
  agent: string;
  /** Mail servers of the operator whose `Authentication-Results` are believed. */
  trustedAuthservIds: readonly string[];
  resolve: ResolveDns;
  log?: Pick<Logger, "warn">;
}

/**
 * Returns which message of ours a mail answers, as far as its author's domain has signed just that; nothing where it is
 * not proved.
 *
 * Proved is a DKIM signature that we checked over the raw bytes: of a domain aligned with the one `From` (by the
 * domain's DMARC record, where it has one), over the whole body, and over to whom the mail was written: a signed "ok" to
 * somebody else approves nothing, whatever it quotes or follows. SPF does not count, since mail may have been relayed.
 * Else the word of a mail server that the operator named (spec/channels 5.4).
 */
export async function provedReference(raw: Buffer, mail: ReadMail, judge: Judge): Promise<Reference | undefined> {
  for (const lines of await signedHeaders(raw, mail, judge)) {
    const reference = signedReferenceIn(lines, judge);
    if (reference) return reference;
  }
  return undefined;
}

/** True where a mail's author is proved in the same way, and to have written to one of these addresses. */
export async function isProvedTo(
  addresses: readonly string[],
  raw: Buffer,
  mail: ReadMail,
  judge: Judge,
): Promise<boolean> {
  return (await signedHeaders(raw, mail, judge)).some((lines) =>
    addressesIn(lines).some((to) => addresses.includes(to)),
  );
}

/** Returns, for each proof of who wrote a mail, the header lines that it covers. */
async function signedHeaders(raw: Buffer, mail: ReadMail, { log, ...judge }: Judge): Promise<string[][]> {
  if (mail.from === undefined) return [];
  if (isVouchedFor(mail, judge.trustedAuthservIds)) {
    const names = ["to", "cc", "in-reply-to", "references"];
    return [names.flatMap((name) => mail.header(name).map((value) => `${name}:${value}`))];
  }
  const { authenticate } = await import("mailauth");
  const { dkim, dmarc } = await authenticate(raw, {
    resolver: judge.resolve,
    mta: judge.domain,
    rejectRsaSha1: true,
    disableArc: true,
    disableBimi: true,
  });
  if (dkim.fromFields !== 1 || dkim.headerFrom.length !== 1) return [];
  // Two readers of one header may differ: then nobody is believed.
  if (dkim.headerFrom[0]?.toLowerCase() !== mail.from) return [];
  // An alignment is sound only by the domain's own record, and may be looser than it while the record is not known.
  if (dmarc === false || dmarc.status.result === "temperror") {
    log?.warn(
      { domain: mail.from.split("@").at(-1) },
      "a mail proves nothing: its DMARC record could not be looked up",
    );
    return [];
  }
  const sound = dkim.results.filter(isSound);
  if (sound.length === 0 && dkim.results.some(({ status }) => status.result === "temperror")) {
    log?.warn({ domain: mail.from.split("@").at(-1) }, "a mail proves nothing: its signing key could not be looked up");
  }
  return sound.map(({ signingHeaders }) =>
    (signingHeaders?.headers ?? []).map((line) => line.replace(/\r?\n[ \t]+/g, " ")),
  );
}

function isSound({ status, canonBodyLengthLimited }: DKIMResult): boolean {
  return status.result === "pass" && Boolean(status.aligned) && !status.testing && !canonBodyLengthLimited;
}

/** The topmost `Authentication-Results` of a trusted server, which puts its own above all others (RFC 8601). */
function isVouchedFor(mail: ReadMail, trusted: readonly string[]): boolean {
  const domain = mail.from?.split("@").at(-1) ?? "";
  for (const value of mail.header("authentication-results")) {
    const [id = "", ...results] = value.replace(/"[^"]*"|\([^()]*\)/g, "").split(";");
    const [name = ""] = id.trim().toLowerCase().split(/\s/, 1);
    if (!trusted.some((one) => one.toLowerCase() === name)) continue;
    return results.some((result) => {
      const [method, ...properties] = result.trim().toLowerCase().split(/\s+/);
      return (
        (method === "dmarc=pass" && properties.includes(`header.from=${domain}`)) ||
        (method === "dkim=pass" && properties.includes(`header.d=${domain}`))
      );
    });
  }
  return false;
}
