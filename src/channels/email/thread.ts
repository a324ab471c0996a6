import type { ThreadContext } from "../channel.ts";
import type { Arrived, ReadMail } from "./read-mail.ts";
import type { EmailTarget } from "./target.ts";

const MESSAGE_ID = /<[!-;=?-~]{1,900}>/g;
/** Longer mails are not passed on as they came; their text is. */
const RAW_MOST_BYTES = 1_048_576;
const BODY_MOST = 200_000;
const FOLLOWED_MOST = 20;

/** How the addresses of pages and reply addresses that are ours look. */
const OURS = /\/r\/[\w-]{43}|\bask\+[a-z2-7]{26}@/i;

/**
 * Returns what a conversation takes of a mail: its thread is that of the mails it follows, and its agent answers in
 * reply to it. `entries` are those of the agents' addresses that it was sent to. A mail that follows another is passed on
 * as its author's own words, without what it quotes: agents must not see the links and codes of what they ask.
 */
export function talkOf(
  mail: ReadMail & { from: string },
  { raw }: Arrived,
  { entries, words, proved }: { entries: readonly string[]; words: string; proved: boolean },
): ThreadContext {
  const idsIn = (name: string) => mail.header(name).flatMap((value) => value.match(MESSAGE_ID) ?? []);
  const [messageId = `<${mail.id}@mail>`] = idsIn("message-id");
  const references = idsIn("references");
  const followed = [...new Set([...idsIn("in-reply-to"), ...references.toReversed()])].slice(0, FOLLOWED_MOST);
  const subject = oneLine(mail.subject);
  const target: EmailTarget = {
    via: "email",
    to: mail.from,
    informed: false,
    settings: {
      to: [mail.from],
      cc: [],
      inReplyTo: messageId,
      ...(subject && { subject: `Re: ${subject.replace(/^(re:\s*)+/i, "")}` }),
      ...(references[0] !== undefined && { references: references[0] }),
    },
  };
  const written = mail.text;
  // Mails that people answer hold what lets people decide, in ways nobody could find again in their bytes.
  const isFresh =
    followed.length === 0 &&
    !raw.includes("message/rfc822") &&
    ![written, mail.html ?? "", ...["to", "cc"].flatMap(mail.header)].some((part) => OURS.test(part));
  return {
    at: entries.length === 0 ? null : { channel: "email", addresses: entries },
    begins: entries.length > 0,
    goesOn: true,
    threads: followed.map((id) => `email:${id}`),
    thread: `email:${messageId}`,
    source: `email ${mail.id}`,
    proved,
    target,
    opening: [subject, words].filter((part) => part !== "").join("\n\n"),
    raw: {
      from_address: mail.from,
      to_address: entries[0] ?? "",
      subject,
      message_id: messageId,
      body: (isFresh ? written.slice(0, BODY_MOST) : words).toWellFormed(),
      raw_email: isFresh && raw.length <= RAW_MOST_BYTES ? raw.toString("utf8") : "",
    },
  };
}

function oneLine(text: string): string {
  return text
    .replace(/[\u0000-\u001f\u007f\u0085\u2028\u2029]+/g, " ")
    .trim()
    .slice(0, 900)
    .toWellFormed();
}
