import type { Attachment } from "postal-mime";
import type { ParsedMail } from "./mail-worker.ts";
import { messagesIn, tokensIn } from "./names.ts";

/** A mail of ours that a report names: by its Message-ID, or by its reply address where a relay wrote another id. */
export type FailedMail = { thread: string } | { replyToken: string };

/** A report says that a mail of ours did not arrive, or not yet. */
export interface Bounce {
  of: FailedMail;
  /** True: trying again cannot help. */
  permanent: boolean;
  /** Such as `5.1.1`. */
  code: string;
}

type Headers = (name: string) => string[];

/**
 * Returns which mail of ours did not arrive: the report carries its headers (RFC 3462, RFC 3464, RFC 6533), or follows it.
 * Only those who got the mail, or passed it on, know what a report names.
 */
export function bounceInReport({ attachments }: ParsedMail, own: Headers, domain: string): Bounce | undefined {
  const status = attachments.find(({ mimeType }) => /^message\/(global-)?delivery-status$/.test(mimeType));
  return bounceOf(failureIn(textOf(status)), returnedIn(attachments) ?? "", own, domain);
}

const FROM_MAIL_SYSTEM = /^(mailer-daemon|postmaster|mail-daemon|mdaemon)@/;
/** Mail systems say so in English, whatever the language of their users. */
const LATE =
  /\b(delayed|not yet been delivered|still (trying|being retried)|will (be retried|keep trying|continue)|no action is required)\b/i;
const GIVEN_UP =
  /\b(permanent(ly)?|giv(en|ing) up|undeliverable|undelivered|(could not|couldn't|cannot|wasn't able to|unable to|not) be? ?deliver(ed)?|delivery (to .{1,200} )?(has )?failed|failed)\b/i;
/** Where a copy of the mail begins: a line of headers that every mail of ours has. */
const COPY = /^(?:received|return-path|message-id|reply-to|mime-version)\s*:.*$/im;

/**
 * Returns which mail of ours did not arrive by a report without parts of its own, as qmail, Exim and older servers write
 * it: words of the mail system, and the mail as an attachment or as text below them.
 */
export function bounceInWords(
  email: ParsedMail,
  from: string | undefined,
  own: Headers,
  domain: string,
): Bounce | undefined {
  if (from === undefined || !FROM_MAIL_SYSTEM.test(from)) return undefined;
  const below = COPY.exec(email.text)?.index ?? email.text.length;
  const words = email.text.slice(0, below);
  const returned = returnedIn(email.attachments) ?? email.text.slice(below);
  const [code] = /\b[45]\.\d{1,3}\.\d{1,3}\b/.exec(words) ?? [];
  const isLate = LATE.test(words);
  if (isLate) return bounceOf((code ?? "4.0.0").replace(/^5/, "4"), returned, own, domain);
  return bounceOf(GIVEN_UP.test(words) ? (code ?? "5.0.0") : code, returned, own, domain);
}

/** Returns what is attached of the mail that did not arrive, if anything is. */
function returnedIn(attachments: readonly Attachment[]): string | undefined {
  const original = attachments.find(({ mimeType }) =>
    /^(message\/(rfc822|global|global-headers)|text\/rfc822-headers)$/.test(mimeType),
  );
  return original && textOf(original);
}

function bounceOf(code: string | undefined, original: string, own: Headers, domain: string): Bounce | undefined {
  const [returned = ""] = original.trimStart().split(/\r?\n\r?\n/, 1);
  const lines = returned.replace(/\r?\n[ \t]+/g, " ").split(/\r?\n/);
  // Relays that give a mail another id keep the first in a header of their own.
  const ids = lines.filter((line) => /^(x-[a-z-]*)?message-id\s*:/i.test(line));
  const [thread] = [...ids, ...own("in-reply-to"), ...own("references")].flatMap((value) => messagesIn(value, domain));
  const addresses = lines.filter((line) => /^reply-to\s*:/i.test(line));
  const [replyToken] = addresses.flatMap((line) => tokensIn(line, domain));
  const of = thread !== undefined ? { thread } : replyToken !== undefined ? { replyToken } : undefined;
  return code === undefined || of === undefined ? undefined : { of, permanent: code.startsWith("5"), code };
}

/** Returns the status of a recipient who was not reached: a permanent one before others, and none of whoever is late. */
function failureIn(report: string): string | undefined {
  const codes = report.split(/\r?\n[ \t]*\r?\n/).flatMap((recipient) => {
    const action = /^action\s*:\s*([a-z]+)/im.exec(recipient)?.[1]?.toLowerCase();
    const code = /^status\s*:\s*([245]\.\d{1,3}\.\d{1,3})/im.exec(recipient)?.[1];
    if (action === undefined || action === "failed") return code ?? (action && "5.0.0") ?? [];
    return action === "delayed" && code !== undefined ? code.replace(/^5/, "4") : [];
  });
  return codes.find((code) => code.startsWith("5")) ?? codes.find((code) => code.startsWith("4"));
}

function textOf(attachment: Attachment | undefined): string {
  if (!attachment) return "";
  const { content } = attachment;
  return typeof content === "string" ? content : Buffer.from(new Uint8Array(content)).toString("utf8");
}
