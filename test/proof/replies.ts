import { composeNotice } from "../../src/channels/email/compose.ts";
import { replyHtml } from "../../src/channels/email/reply-html.ts";
import { replyText } from "../../src/channels/email/reply-text.ts";
import { AGENT, ANA, DOMAIN, noticeOf, TOKEN } from "../channels/mail.ts";
import { htmlForms, marked, replyForms, type ReplyForm } from "../channels/replies/forms.ts";
import { type Failure, firstSeedOf, type Harness, type HarnessOptions, type HarnessReport } from "./harness.ts";
import { type Dice, diceOf } from "./sim-dice.ts";

const REPLIES = 10_000;
const MAX_FAILURES = 5;
const OWN = { agent: AGENT, domain: DOMAIN, display: "Parley" };
const SIGNATURES = [
  "",
  "\n\n-- \nAna Ruiz\nCFO, People Ltd",
  "\n\n--\nAna",
  "\n\nSent from my iPhone",
  "\n\nVon meinem iPhone gesendet",
];

const mail = composeNotice(noticeOf(), { domain: DOMAIN, approvesByReply: true, isShaped: false });
const ANSWERED = { text: mail.text, html: mail.html, agent: AGENT, replyTo: `ask+${TOKEN}@${DOMAIN}`, person: ANA };
const FORMS: readonly ReplyForm[] = [
  ...replyForms(ANSWERED),
  ...htmlForms(ANSWERED).map(({ name, words, html }) => ({ name, words, text: replyHtml(html) })),
];

/**
 * Replies in the forms of many mail programs, changed at random: signed, quoted once more, folded, with other line ends.
 * Each is read as the person's words, or as nothing, so that the person is asked again; never as more than was written
 * (spec/channels 5.4).
 */
export const replies: Harness = {
  name: "replies",
  async run(options: HarnessOptions): Promise<HarnessReport> {
    const base = firstSeedOf(options);
    const wanted = options.seed !== undefined ? 1 : REPLIES * (options.longHours ? 100 * options.longHours : 1);
    const until = options.boxMs === undefined ? Infinity : performance.now() + options.boxMs;
    const failures: Failure[] = [];
    const figures = { seed: base, replies: 0, read: 0 };
    for (; figures.replies < wanted && performance.now() < until; figures.replies += 1) {
      const seed = base + figures.replies;
      const { name, words, text } = changed(diceOf(seed));
      const found = await replyText({ text }, OWN);
      if (options.trace) console.error(`${name}\n${text}\n=> ${JSON.stringify(found)}`);
      if (found === words) figures.read += 1;
      if (isPartOf(found, words)) continue;
      const says = `${name}: ${JSON.stringify(words)} was read as ${JSON.stringify(found)}`;
      failures.push({ says, repeat: `npm run prove -- replies --seed ${seed} --trace` });
      if (options.stopAtFirstFailure || failures.length >= MAX_FAILURES) break;
    }
    if (figures.read * 2 < figures.replies)
      failures.push({ says: `only ${figures.read} replies were read whole`, repeat: `npm run prove -- replies` });
    return { figures, failures };
  },
};

/** True where each line that was read is a line of the person's. */
function isPartOf(found: string, words: string): boolean {
  const lines = new Set(words.split("\n").map((line) => line.trim()));
  return found.split("\n").every((line) => lines.has(line.trim()) || line.trim() === "");
}

/** Returns one reply as yet another program would have written it. */
function changed(dice: Dice): ReplyForm {
  const form = dice.pick(FORMS);
  const signature = form.text.startsWith(form.words) ? dice.pick(SIGNATURES) : "";
  let text = form.text.replace(form.words, () => `${form.words}${signature}`);
  if (dice.chance(0.2))
    text = text.replace(
      /(?<=\n)> .*/gs,
      (quote) => `${quote}\n> \n> On 20 Nov 2026, Parley <${AGENT}> wrote:\n${marked(marked(mail.text))}`,
    );
  if (dice.chance(0.2)) text = folded(text, dice.pick([60, 72, 76]));
  if (dice.chance(0.2)) text = text.replaceAll("\n", "\r\n");
  if (dice.chance(0.2)) text = text.replace(/\n\n/g, "\n \n");
  if (dice.chance(0.1)) text = text.replaceAll("> ", ">");
  if (dice.chance(0.1)) text = `\ufeff${text}`;
  if (dice.chance(0.1)) text = `${text}\n\n\n`;
  return { ...form, text };
}

/** Wraps long lines, each rest with the marks of its line. */
function folded(text: string, width: number): string {
  return text
    .split("\n")
    .flatMap((line) => {
      const marks = /^[> ]*/.exec(line)?.[0] ?? "";
      const words = line.slice(marks.length).split(" ");
      const lines: string[] = [];
      for (const word of words) {
        const last = lines.at(-1);
        if (last !== undefined && marks.length + last.length + word.length < width)
          lines.splice(-1, 1, `${last} ${word}`);
        else lines.push(word);
      }
      return lines.map((one) => `${marks}${one}`);
    })
    .join("\n");
}
