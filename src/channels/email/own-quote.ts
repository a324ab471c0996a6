import { tokensIn } from "./names.ts";

/** The first line of every mail of this server. No mail program translates it (spec/channels 5.4). */
export const FIRST_LINE = "Parley sends this for a program. Answers go above this line.";
/** A mail of a former version begins with this, or with a line that an agent wrote. */
const FORMER_LINE = String.raw`The agent [^\n]{1,300}, a program, asks`;
/** Marks of a quote before a line, and the asterisks of a text that was bold. */
const MARKS = String.raw`[ \t>|*]*`;
const OWN_LINE = new RegExp(
  [FIRST_LINE.replaceAll(".", String.raw`\.`), FORMER_LINE]
    .map((line) => `^${MARKS}${line.replace(/ (?!\[)/g, String.raw`[\s>|]{1,6}`)}`)
    .join("|"),
  "m",
);
/** The last words of a mail about a request. */
const LAST_WORDS = /^[\s>|]*Reference: [0-9a-f]{12}\s*$/;
const QUOTED = /^\s*>/;
const BLANK = /^[\s>|]*$/;
/** A line that only separates, as `-----Original Message-----` and `__________`. */
const RULE = /^(?:[-_=—─]{3}.*[-_=—─]{2}|[-_=*—─]{3,}|\p{P}*)$/u;
/** A header line of a quoted mail, in any language: `From: x`, `*Von:* x`, `差出人: x`. */
const LABELLED = /^[\s>|*]*[\p{L}][\p{L}\p{M}\s'’.()-]{0,40}\*?\s?[:：]/u;
const ENDS_IN_COLON = /[:：][\s*]*$/u;
/** A date as people write it: a year, or day and month in figures, or a time. */
const DATED = /(?<!\p{Nd})\p{Nd}{4}(?!\p{Nd})|\p{Nd}{1,2}[./-]\p{Nd}{1,2}[./-]|\p{Nd}{1,2}[:.h]\p{Nd}{2}/u;
/** An attribution that is wrapped has at most so many lines. */
const MOST_WRAPPED = 4;

/** The names under which this server writes: addresses and the display name, each as a quoted mail shows it. */
export interface OwnNames {
  /** In lower case. */
  agent: string;
  domain: string;
  display: string;
}

/**
 * Returns a reply without what it quotes of a mail of this server: the mail itself, the line or the headers that its
 * program puts above it, and the rule before those. Other quotes and the signature stay.
 *
 * The mail is known by its own first words and its own address, whatever the language of the reply's program. Where
 * neither stands in it, the text is returned as it is.
 */
export function withoutOwnQuote(text: string, own: OwnNames): string {
  const lines = text.split("\n");
  const first = firstOwnLine(text);
  if (first !== undefined) {
    const above = lines.slice(0, introStart(lines, first, own));
    return joined(
      above,
      QUOTED.test(lines[first] ?? "") ? unquoted(lines.slice(first)) : afterOwn(lines, first, above),
    );
  }
  const intro = introAlone(lines, own);
  return intro === undefined ? text : joined(lines.slice(0, intro.start), unquoted(lines.slice(intro.end)));
}

/** Returns the line in which a mail of this server begins; its first line may be wrapped, and quoted by marks. */
function firstOwnLine(text: string): number | undefined {
  const found = OWN_LINE.exec(text);
  return found ? text.slice(0, found.index).split("\n").length - 1 : undefined;
}

/**
 * Words below a mail that is quoted by marks, or between its lines. A single line right between two quoted ones is the
 * rest of a line that a program wrapped without a mark.
 */
function unquoted(lines: readonly string[]): readonly string[] {
  const isQuoted = (i: number) => QUOTED.test(lines[i] ?? "");
  return lines.filter((_, i) => !isQuoted(i) && !(isQuoted(i - 1) && isQuoted(i + 1) && !BLANK.test(lines[i] ?? "")));
}

/** Words below a mail that is quoted without marks count where nothing stands above it. */
function afterOwn(lines: readonly string[], first: number, above: readonly string[]): readonly string[] {
  if (above.some((line) => line.trim() !== "")) return [];
  const last = lines.findIndex((line, i) => i > first && LAST_WORDS.test(line));
  return last < 0 ? [] : lines.slice(last + 1);
}

function joined(above: readonly string[], below: readonly string[]): string {
  return [above.join("\n").trimEnd(), below.join("\n").trim()].filter((part) => part.trim() !== "").join("\n\n");
}

/** Returns the line in which that begins which a mail program puts above a quoted mail. */
function introStart(lines: readonly string[], quote: number, own: OwnNames): number {
  let start = aboveRules(lines, quote);
  for (let paragraphs = 0; paragraphs < 2; paragraphs += 1) {
    const top = paragraphTop(lines, start);
    const at = headerStart(lines, top, start, own) ?? attributionStart(lines, top, start, own);
    if (at === undefined) break;
    start = aboveRules(lines, at);
  }
  return start;
}

/** Returns the end of the text above a line, without blank lines and lines that only separate. */
function aboveRules(lines: readonly string[], end: number): number {
  let at = end;
  while (at > 0 && isRule(lines[at - 1] ?? "")) at -= 1;
  return at;
}

/** True for a blank line too. Its marks are taken off first: together with them the pattern takes time by the square. */
function isRule(line: string): boolean {
  return RULE.test(line.replace(/^[\s>|*]+/, "").replace(/(?<![\s>|*])[\s>|*]+$/, ""));
}

function paragraphTop(lines: readonly string[], end: number): number {
  let top = end;
  while (top > 0 && !BLANK.test(lines[top - 1] ?? "")) top -= 1;
  return top;
}

/** Returns where headers begin that end a paragraph: at least two labelled lines, one of which names this server. */
function headerStart(lines: readonly string[], top: number, end: number, own: OwnNames): number | undefined {
  let start = end;
  for (let i = end - 1; i >= top; i -= 1) {
    if (!LABELLED.test(lines[i] ?? "")) continue;
    if (lines.slice(i + 1, start).length > 1) break;
    start = i;
  }
  const block = lines.slice(start, end);
  const labelled = block.filter((line) => LABELLED.test(line));
  const isHeader = labelled.length >= 2 && block.some((line) => isNaming(line, own));
  return isHeader ? start : undefined;
}

/** Returns where the one sentence begins that says who wrote what is quoted; it may be wrapped. */
function attributionStart(lines: readonly string[], top: number, end: number, own: OwnNames): number | undefined {
  const from = Math.max(top, end - MOST_WRAPPED);
  for (let i = end - 1; i >= from; i -= 1) {
    const sentence = lines.slice(i, end).join(" ");
    if (!isNaming(sentence, own)) continue;
    const isIntro = DATED.test(sentence) || ENDS_IN_COLON.test(sentence) || sentence.toLowerCase().includes(own.agent);
    if (!isIntro) continue;
    // A long sentence is wrapped before the name, and the date may stand above it.
    const above = lines[i - 1] ?? "";
    const isWrapped = i > top && (beginsWithName(lines[i] ?? "", own) || (!DATED.test(sentence) && DATED.test(above)));
    return isWrapped ? i - 1 : i;
  }
  return undefined;
}

/** Finds such headers or such a sentence without the mail: its program quoted nothing, or something else of it. */
function introAlone(lines: readonly string[], own: OwnNames): { start: number; end: number } | undefined {
  for (let end = 1; end <= lines.length; end += 1) {
    const line = lines[end - 1] ?? "";
    if (BLANK.test(line) || !(end === lines.length || BLANK.test(lines[end] ?? "") || QUOTED.test(lines[end] ?? "")))
      continue;
    const top = paragraphTop(lines, end);
    const header = headerStart(lines, top, end, own);
    if (header !== undefined) return { start: aboveRules(lines, header), end: lines.length };
    const isAttribution = ENDS_IN_COLON.test(line) && isNamingAddress(lines.slice(top, end).join(" "), own);
    const at = isAttribution ? attributionStart(lines, top, end, own) : undefined;
    if (at !== undefined) return { start: aboveRules(lines, at), end };
  }
  return undefined;
}

function beginsWithName(line: string, { agent, display }: OwnNames): boolean {
  const bare = line.replace(/^[\s>|*"<]+/, "");
  return bare.toLowerCase().startsWith(agent) || (display !== "" && bare.startsWith(display));
}

function isNaming(text: string, own: OwnNames): boolean {
  return isNamingAddress(text, own) || (own.display !== "" && text.includes(own.display));
}

/** True where a text holds the address that this server writes from, or a reply address. */
function isNamingAddress(text: string, { agent, domain }: OwnNames): boolean {
  return text.toLowerCase().includes(agent) || tokensIn(text, domain).length > 0;
}
