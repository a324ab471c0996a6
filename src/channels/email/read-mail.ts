import { sha256Hex } from "../../lib/secrets/keyring.ts";
import { mailAddress } from "../../lib/mail-address.ts";
import { isAutomatic, plainValue } from "./automatic.ts";
import { mailThread } from "./mail-thread.ts";
import { type Bounce, bounceInReport, bounceInWords } from "./bounce.ts";
import { messagesIn } from "./names.ts";

/** A mail as it came in, by whichever way. */
export interface Arrived {
  raw: Buffer;
  /** The recipients of the envelope; empty where the mail has no envelope. */
  recipients: readonly string[];
  /** The envelope names no sender: nobody wants to hear back. */
  fromNobody: boolean;
}

/** The statements of a mail about itself. They are not proved. */
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
  /** Written by a program, or to many; a reaction or an answer to an invitation, too. */
  automatic: boolean;
  report: boolean;
  /** The failure or delay that a delivery report states about a mail of this server. */
  bounce: Bounce | undefined;
  /** Sent by this server. */
  ours: boolean;
}

/** Reads a mail. @throws {Error} for one whose parts nest without end, or that takes too long to read */
export async function readMail(
  { raw, fromNobody }: Arrived,
  domain: string,
  agent: string,
  noteCost?: (cpuMs: number) => void,
): Promise<ReadMail> {
  const { addressParser, decodeWords } = await import("postal-mime");
  const { mail: email } = (await mailThread.work({ raw }, noteCost)) ?? {};
  if (!email) throw new Error("a mail cannot be read");
  const header = (name: string) => email.headers.filter(({ key }) => key === name).map(({ value }) => value);
  const first = (name: string) => plainValue(header(name)[0] ?? "");

  const [author, ...others] = header("from").flatMap((value) => addressParser(value));
  const from = others.length === 0 ? mailAddress(author?.address ?? "") : undefined;
  const messageId = header("message-id")[0]?.trim();
  const subject = decodeWords(header("subject")[0] ?? "");
  const report = first("content-type") === "multipart/report";
  const isReaction = first("content-type") === "text/vnd.google.email-reaction+json";
  return {
    id: sha256Hex(messageId ? `${messageId} ${from ?? ""}` : raw.toString("latin1")),
    from,
    text: email.text,
    html: email.html,
    header,
    subject,
    automatic: email.unwritten || isReaction || isAutomatic(header, { from, fromNobody, subject }),
    report,
    bounce: report ? bounceInReport(email, header, domain) : bounceInWords(email, from, header, domain),
    ours: from === agent || messagesIn(messageId ?? "", domain).length > 0,
  };
}
