import type { Attachment } from "postal-mime";
import { sha256Hex } from "../../lib/keyring.ts";
import { mailAddress } from "../../lib/mail-address.ts";
import { isAutomatic, plainValue } from "./automatic.ts";
import { mailThread } from "./mail-thread.ts";
import type { ParsedMail } from "./mail-worker.ts";
import { messagesIn, tokensIn } from "./names.ts";

/** A mail as it came in, by whichever way. */
export interface Arrived {
  raw: Buffer;
  /** Whom its envelope names, where there was one. */
  recipients: readonly string[];
  /** The envelope names no sender: nobody wants to hear back. */
  fromNobody: boolean;
}

/** A mail of ours that a report names: by its Message-ID, or by its reply address where a relay wrote another id. */
export type FailedMail = { thread: string } | { replyToken: string };

/** What came back about a mail of ours. */
interface Bounce {
  of: FailedMail;
  /** True: trying again cannot help. */
  permanent: boolean;
  /** Such as `5.1.1`. */
  code: string;
}

/** What a mail says about itself; none of it is proved. */
export interface ReadMail {
  /** The same for the same mail by whichever way it comes. */
  id: string;
  /** The one author, in lower case; nothing where there are several or none. */
  from: string | undefined;
  /** Its plain part; where it has none, the text of its HTML. */
  text: string;
  html: string | undefined;
  /** Every value of a header, as the mail has it. */
  header(name: string): string[];
  /** Its subject, decoded. */
  subject: string;
  /** Written by a program, or to many. */
  automatic: boolean;
  report: boolean;
  /** Of a report that says that a mail of ours did not arrive, or not yet. */
  bounce: Bounce | undefined;
  /** Sent by this server. */
  ours: boolean;
}

/** Reads a mail. @throws {Error} for one whose parts nest without end, or that takes too long to read */
export async function readMail({ raw, fromNobody }: Arrived, domain: string, agent: string): Promise<ReadMail> {
  const { addressParser, decodeWords } = await import("postal-mime");
  const { mail: email } = (await mailThread.work({ raw })) ?? {};
  if (!email) throw new Error("a mail cannot be read");
  const header = (name: string) => email.headers.filter(({ key }) => key === name).map(({ value }) => value);
  const first = (name: string) => plainValue(header(name)[0] ?? "");

  const [author, ...others] = header("from").flatMap((value) => addressParser(value));
  const from = others.length === 0 ? mailAddress(author?.address ?? "") : undefined;
  const messageId = header("message-id")[0]?.trim();
  const subject = decodeWords(header("subject")[0] ?? "");
  const report = first("content-type") === "multipart/report";
  return {
    id: sha256Hex(messageId ? `${messageId} ${from ?? ""}` : raw.toString("latin1")),
    from,
    text: email.text,
    html: email.html,
    header,
    subject,
    automatic: isAutomatic(header, { from, fromNobody, subject }),
    report,
    bounce: report ? bounceIn(email, header, domain) : undefined,
    ours: from === agent || messagesIn(messageId ?? "", domain).length > 0,
  };
}

/**
 * Returns which mail of ours did not arrive: the report carries its headers (RFC 3462, RFC 3464, RFC 6533), or follows it.
 * What a report names is known only to whoever got the mail, or passed it on.
 */
function bounceIn({ attachments }: ParsedMail, own: ReadMail["header"], domain: string): Bounce | undefined {
  const status = attachments.find(({ mimeType }) => /^message\/(global-)?delivery-status$/.test(mimeType));
  const original = attachments.find(({ mimeType }) =>
    /^(message\/(rfc822|global|global-headers)|text\/rfc822-headers)$/.test(mimeType),
  );
  const code = failureIn(textOf(status));
  const [returned = ""] = textOf(original)
    .trimStart()
    .split(/\r?\n\r?\n/, 1);
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
