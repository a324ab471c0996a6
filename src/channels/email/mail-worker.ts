import { parentPort } from "node:worker_threads";
import EmailReplyParser from "email-reply-parser";
import PostalMime, { type Attachment, type Email } from "postal-mime";
import { undeclaredText, withReadableHeader } from "./charset.ts";
import { type OwnNames, withoutOwnQuote } from "./own-quote.ts";
import { replyHtml } from "./reply-html.ts";

const DEEPEST = 32;
/** Far more than any answer and what it quotes; what follows is looked at by nobody. */
const MOST_CHARACTERS = 1_000_000;
/** Parts that say of another mail what became of it. */
const OF_REPORTS = /^(message\/((global-)?delivery-status|rfc822|global|global-headers)|text\/rfc822-headers)$/;

/** Parts by which a program says that somebody reacted, read the mail, or answers an invitation. */
const OF_PROGRAMS = /^(text\/vnd\.google\.email-reaction\+json|message\/disposition-notification)$/;
const ANSWERS_INVITATION = /^METHOD:(?:REPLY|COUNTER|DECLINECOUNTER|REFRESH)\s*$/im;

/** The parts of a mail that are looked at. */
export interface ParsedMail extends Pick<Email, "headers" | "attachments"> {
  /** Its plain part; where it has none, the text of its HTML. */
  text: string;
  html: string | undefined;
  /** It holds a part that no person writes. */
  unwritten: boolean;
}

/** A part of a mail; its charset is given to the parser. */
interface TextPart {
  content: ArrayBuffer | null;
  contentType: { parsed: { value: string; params: Record<string, string> } };
  getTextContent(): string;
}

/** Has the parser, which takes undeclared text for UTF-8 and has no setting for it, read it as mail programs do. */
function readUndeclaredText(): void {
  const part = Object.getPrototypeOf(Reflect.get(new PostalMime(), "root")) as TextPart;
  const { getTextContent } = part;
  part.getTextContent = function () {
    const { value, params } = this.contentType.parsed;
    const bytes = new Uint8Array(this.content ?? new ArrayBuffer());
    const text = undeclaredText(bytes, params["charset"] ?? "", value === "text/html");
    if (text !== undefined) {
      this.content = new TextEncoder().encode(text).buffer;
      params["charset"] = "utf-8";
    }
    return getTextContent.call(this);
  };
}
readUndeclaredText();

/** A hundred times what a line of a mail may have (RFC 5322, section 2.1.1); whoever checks signatures takes lines whole. */
const LONGEST_LINE_BYTES = 100_000;
const LINE_FEED = 10;

/** Reads a mail. @throws {Error} for one whose parts nest without end, or with a line that no mail has */
async function parsed(raw: Uint8Array): Promise<ParsedMail> {
  for (let at = 0; at < raw.length;) {
    const end = raw.indexOf(LINE_FEED, at);
    const next = end < 0 ? raw.length : end + 1;
    if (next - at > LONGEST_LINE_BYTES) throw new Error("a line is too long");
    at = next;
  }
  const mail = await PostalMime.parse(withReadableHeader(raw), {
    forceRfc822Attachments: true,
    maxNestingDepth: DEEPEST,
  });
  const { headers, text } = mail;
  const html = mail.html?.slice(0, MOST_CHARACTERS);
  return {
    headers,
    text: text?.trim() ? text.slice(0, MOST_CHARACTERS) : replyHtml(html ?? ""),
    html,
    unwritten: mail.attachments.some(isUnwritten),
    attachments: mail.attachments.filter(({ mimeType }) => OF_REPORTS.test(mimeType)),
  };
}

/** An attached file of these types may be somebody's own. */
function isUnwritten({ mimeType, disposition, content }: Attachment): boolean {
  if (mimeType === "text/calendar" || mimeType === "application/ics") return ANSWERS_INVITATION.test(textOf(content));
  return OF_PROGRAMS.test(mimeType) && disposition !== "attachment";
}

const textOf = (content: string | ArrayBuffer | Uint8Array): string =>
  typeof content === "string" ? content : new TextDecoder().decode(content);

/** A mail to be read, or the text of one whose quotes and signature are to go. */
export type MailWork = { raw: Uint8Array } | { text: string; own: OwnNames };

/** The result of such work; it is empty where a mail cannot be read. */
export interface MailFound {
  mail?: ParsedMail;
  words?: string;
}

async function worked(work: MailWork): Promise<MailFound> {
  if ("raw" in work) return { mail: await parsed(work.raw) };
  return { words: new EmailReplyParser().parseReply(withoutOwnQuote(work.text, work.own)) };
}

parentPort?.on("message", (work: MailWork) => {
  worked(work).then(
    (found) => parentPort?.postMessage(found),
    () => parentPort?.postMessage({}),
  );
});
parentPort?.postMessage({});
