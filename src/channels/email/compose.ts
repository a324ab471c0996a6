import { createHash } from "node:crypto";
import { sha256Hex } from "../../lib/secrets/keyring.ts";
import { printable, printableLines } from "../../lib/printable.ts";
import { quoted, withoutForgery } from "../../requests/model/agent-words.ts";
import { headOf } from "../../requests/facts/function-name.ts";
import type { RequestView } from "../../requests/model/view.ts";
import type { Field } from "../../requests/model/schema-shape.ts";
import type { Notice, Sent } from "../channel.ts";
import { escapedHtml as escaped } from "./html-text.ts";
import { messageIdOf, nameIn, replyAddress } from "./names.ts";
import type { EmailTarget } from "./target.ts";
import { FIRST_LINE } from "./own-quote.ts";
import { templateWords } from "./template-words.ts";

/** A mail as it is handed to whoever sends it. */
export interface Outgoing {
  recipient: string;
  to: readonly string[];
  cc: readonly string[];
  replyTo?: string;
  subject: string;
  messageId: string;
  inReplyTo?: string;
  references: readonly string[];
  text: string;
  html: string;
}

/** The settings that all mails of this server share. */
export interface MailFrame {
  domain: string;
  /** Whether a reply may approve, where its sender is verified. */
  approvesByReply: boolean;
  /** Whether an agent's template keeps the shape of its words, or is text. */
  isShaped: boolean;
}

/** Part of a mail: words of ours, a text of somebody else's that stands apart, or a link of ours. */
type Block = { says: string } | { head: string } | { quoted: string; shaped?: string } | { link: string };

/**
 * Returns one recipient's copy of a mail about a request. Its text and its HTML are made of the same blocks, so that they
 * say the same; foreign words stand behind a bar in both, so that none can pass for ours (spec/channels 5.4).
 *
 * A copy for somebody who is not asked has no link, no code and no reply address.
 */
export function composeNotice(notice: Notice<EmailTarget>, frame: MailFrame): Outgoing {
  const { target, view } = notice;
  const { settings, informed } = target;
  const subject =
    view.fn === null || settings.subject !== undefined
      ? withoutForgery(printable(settings.subject ?? view.title), notice.link)
      : `May it run: ${headOf(view.fn).head}?`;
  // A mail that nobody sent: what is about one request names it, and so stands together in people's programs.
  const root = `<${view.requestId}.ask@${frame.domain}>`;
  return {
    recipient: target.to,
    to: settings.to,
    cc: settings.cc,
    ...(!informed && { replyTo: replyAddress(notice.replyToken, frame.domain) }),
    subject: subjectOf(notice.reminder ? `Re: ${subject}` : subject),
    messageId: messageIdOf(notice.messageName, frame.domain),
    ...(settings.inReplyTo !== undefined && { inReplyTo: settings.inReplyTo }),
    references: [...new Set([settings.references, settings.inReplyTo, root].filter((id) => id !== undefined))],
    ...render(blocksOf(notice, frame)),
  };
}

/** Returns a mail that says something to whoever got an earlier one, in its thread. */
export function composeTell(
  target: EmailTarget,
  { externalIds, replyToken }: Sent,
  words: string,
  frame: MailFrame,
): Outgoing {
  const { thread, subject = target.settings.subject ?? "Your answer" } = externalIds;
  const digest = createHash("sha256").update(words).digest("hex").slice(0, 12);
  return {
    recipient: target.to,
    to: [target.to],
    cc: [],
    ...(replyToken !== undefined && { replyTo: replyAddress(replyToken, frame.domain) }),
    subject: subjectOf(`Re: ${printable(subject)}`),
    messageId: messageIdOf(nameIn(thread ?? "") ?? "dlv_0", frame.domain, digest),
    ...(thread !== undefined && { inReplyTo: thread }),
    references: thread === undefined ? [] : [thread],
    ...render(wordsOf(words)),
  };
}

/**
 * Returns a subject that fits on one line: a word is never broken into two, and a line has 998 octets at most (RFC 5322).
 * One that is cut ends in what is no ASCII, and so is encoded in pieces.
 */
function subjectOf(text: string): string {
  return text.length <= MOST_SUBJECT ? text : `${text.slice(0, MOST_SUBJECT - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}

const MOST_SUBJECT = 900;

/** A line that is a link of ours stays one; the rest is shown and nothing more. */
function wordsOf(words: string): Block[] {
  return words.split("\n").map((line) => (/^https?:\/\/\S+$/.test(line) ? { link: line } : { says: printable(line) }));
}

function blocksOf(notice: Notice<EmailTarget>, frame: MailFrame): Block[] {
  const { view, target } = notice;
  const run = view.run === null ? "" : ` (run ${view.run})`;
  const asks = { approval: "asks whether a function may run", reply: "asks something", value: "asks for a value" };
  return [
    ...(notice.opening === null ? [] : [{ quoted: shown(notice.opening) }]),
    ...(notice.reminder ? [{ says: notice.renewal ? RENEWED : "This is still waiting for an answer." }] : []),
    { says: `The agent ${view.agent}${run}, a program, ${asks[view.kind]}.` },
    ...callBlocks(notice),
    ...wordBlocks(notice, frame),
    ...valueBlocks(notice),
    ...optionBlocks(notice),
    { says: `${view.expiresAt === null ? "" : `Answer before ${inWords(view.expiresAt)}. `}${view.onSilence}` },
    ...(target.informed
      ? [{ says: "This copy is for your information; others were asked." }]
      : [...answerBlocks(notice, frame), { says: `Reference: ${referenceOf(notice)}` }]),
  ];
}

const RENEWED =
  "The link of an earlier mail about this stood in words that a program can read. That mail answers nothing any more: answer this one instead, and leave out what it says.";

/** For people who talk about a mail: nothing is matched by it, and it does not reveal the Message-ID. */
function referenceOf({ messageName }: Notice<EmailTarget>): string {
  return sha256Hex(messageName).slice(0, 12);
}

function callBlocks({ view, whole }: Notice<EmailTarget>): Block[] {
  if (view.fn === null) return [];
  const names = view.argumentNames.length > 0 ? `${view.argumentNames.join(", ")}. ` : "";
  const tooLong = `${names}${view.argumentsLength} characters are on the page.`;
  return [
    ...(view.sentence === undefined ? [] : [{ quoted: view.sentence }]),
    ...(view.risk === undefined ? [] : [{ quoted: `${view.risk.word}: ${view.risk.because}` }]),
    { head: "Function" },
    { quoted: view.fn },
    { head: "Arguments" },
    whole ? { quoted: view.argumentsText ?? "" } : { says: tooLong },
    ...(view.digest === null ? [] : [{ says: `Digest of the call: ${view.digest}` }]),
  ];
}

/** The agent's words about its call or question. Where its template contains them, the template stands alone. */
function wordBlocks({ view, target, link }: Notice<EmailTarget>, { isShaped }: MailFrame): Block[] {
  const { template } = target.settings;
  const templated = template === undefined ? null : templateWords(template, view, { isShaped, ours: link });
  const hasWords = templated !== null && oneSpace(templated.text).includes(oneSpace(view.words));
  const blocks: Block[] = [
    ...(view.words === "" || hasWords ? [] : [{ quoted: view.words }]),
    ...(templated ? [{ quoted: templated.text, ...(templated.html !== null && { shaped: templated.html }) }] : []),
  ];
  return blocks.length === 0 ? [] : [{ head: "In the agent's own words" }, ...blocks];
}

const oneSpace = (text: string): string => text.replace(/\s+/g, " ").trim();

/** Describes the requested value in words; a schema is shown only where no form can be drawn for it. */
function valueBlocks({ view: { schema, shape } }: Notice<EmailTarget>): Block[] {
  switch (shape?.kind) {
    case "number":
    case "text":
      return [{ head: "The answer is" }, { quoted: shape.says }];
    case "object":
      return [{ head: "The answer has these fields" }, { quoted: shape.fields.map(fieldLine).join("\n") }];
    case "json":
      return [{ head: "The answer has to fit this JSON Schema" }, { quoted: shown(JSON.stringify(schema, null, 2)) }];
    case "choice":
    case "decision":
    case undefined:
      return [];
  }
}

function fieldLine({ name, label, required, of, description }: Field): string {
  const what = of.kind === "choice" ? `one of ${of.offers.map((offer) => offer.label).join(", ")}` : of.says;
  const called = label === printable(name) ? label : `${label} (${printable(name)})`;
  const about = description === undefined ? "" : ` \u2013 ${description}`;
  return `${called}: ${what}${required ? "" : ", optional"}${about}`;
}

function optionBlocks({ view }: Notice<EmailTarget>): Block[] {
  if (view.options.length === 0) return [];
  const lines = view.options.map(({ name, title, description }, i) => {
    return `#${i + 1} ${title ?? printable(name)}${description === undefined ? "" : ` \u2013 ${description}`}`;
  });
  return [{ head: view.kind === "approval" ? "Ways to reject" : "Ready-made answers" }, { quoted: lines.join("\n") }];
}

function answerBlocks({ view, link, code, whole }: Notice<EmailTarget>, frame: MailFrame): Block[] {
  const page: Block[] = [{ head: "To answer on the page" }, { link }, { says: `The page asks for this code: ${code}` }];
  const forYou = { says: "This mail is for you alone: whoever has it can answer in your name." };
  if (view.kind !== "approval") {
    const how = howToReply(view);
    return [...page, { head: "To answer by mail" }, { says: `Reply ${how}, above the quoted text.` }, forYou];
  }
  const reject = "reply with reject and your reason, or with the number of a way to reject, above the quoted text.";
  const approve =
    "To approve, reply with the one word approve. Where your mail does not prove who sent it, you are asked to confirm on the page.";
  return [
    ...page,
    { head: "To answer by mail" },
    ...(whole && frame.approvesByReply ? [{ says: approve }] : [{ says: "A reply can reject, and never approves." }]),
    { says: `To reject, ${reject}` },
    forYou,
  ];
}

function howToReply({ options, shape }: RequestView): string {
  if (shape?.kind === "decision") return "with yes or no, and a comment after a comma";
  if (shape?.kind === "choice") return "with #1, #2 and so on, or with the words beside it";
  if (shape?.kind === "object" || shape?.kind === "json") return "with JSON, or fill in the page";
  return options.length > 0 ? "with #1, #2 and so on, or in your own words" : "with your answer";
}

function render(blocks: readonly Block[]): { text: string; html: string } {
  const all: Block[] = [{ says: FIRST_LINE }, ...blocks];
  return {
    text: `${all.map(asText).join("\n\n")}\n`,
    html: `<!doctype html>\n<html><body style="font-family:sans-serif">\n${all.map(asHtml).join("\n")}\n</body></html>\n`,
  };
}

function asText(block: Block): string {
  if ("quoted" in block) return quoted(block.quoted, "| ");
  if ("link" in block) return block.link;
  return "head" in block ? `${block.head}:` : block.says;
}

/** The style of text that somebody else wrote. */
const BAR = "border-left:3px solid #888;padding-left:8px;margin-left:0";

function asHtml(block: Block): string {
  if ("quoted" in block) {
    if (block.shaped !== undefined) return `<div style="${BAR}">${block.shaped}</div>`;
    return `<pre style="white-space:pre-wrap;${BAR}">${escaped(block.quoted)}</pre>`;
  }
  if ("link" in block) return `<p><a href="${escaped(block.link)}">${escaped(block.link)}</a></p>`;
  return "head" in block ? `<p><b>${escaped(block.head)}:</b></p>` : `<p>${escaped(block.says)}</p>`;
}

function shown(text: string): string {
  return printableLines(text).join("\n");
}

/** Everybody reads the same hour, whatever their clock's zone. */
function inWords(at: number): string {
  return new Date(at)
    .toISOString()
    .replace("T", " ")
    .replace(/:\d\d\.\d+Z$/, " UTC");
}
