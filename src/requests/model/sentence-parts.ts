import { cutTo } from "../../core/model/title.ts";
import { printableExactly } from "../../lib/printable.ts";

/** One fact of a sentence. `say` gets the most characters that a value may have. */
export interface Part {
  /** Joins it to the words before it; `~` is a space behind the first fact, and a comma behind others. */
  joint: " " | ", " | ": " | "~";
  /** A part of `Infinity` is never left out. */
  weight: number;
  say: (most: number) => string;
}

const LONGEST = 200;
const MOST_OPTIONAL = 5;
/** The lengths of values that are tried one after the other. */
const VALUES = [72, 48, 30, 20, 12];

/**
 * Joins the parts of a sentence. If it is too long, long values are cut first, then the lightest parts are left out,
 * and what must stay is cut last.
 */
export function joined(head: string, parts: readonly Part[]): string {
  const optional = parts.filter(({ weight }) => weight !== Infinity).toSorted((a, b) => b.weight - a.weight);
  for (let count = Math.min(MOST_OPTIONAL, optional.length); count >= 0; count -= 1) {
    const kept = new Set(optional.slice(0, count));
    const shown = parts.filter((part) => part.weight === Infinity || kept.has(part));
    for (const most of count > 0 ? VALUES.slice(0, 2) : VALUES) {
      const sentence = sentenceWith(head, shown, most);
      if ([...sentence].length <= LONGEST) return sentence;
    }
  }
  return cutTo(
    LONGEST,
    sentenceWith(
      head,
      parts.filter(({ weight }) => weight === Infinity),
      12,
    ),
  );
}

function sentenceWith(head: string, parts: readonly Part[], most: number): string {
  const jointOf = (joint: Part["joint"], i: number) => (joint === "~" ? (i < 2 ? " " : ", ") : joint);
  return parts.reduce((sentence, { joint, say }, i) => `${sentence}${jointOf(joint, i)}${say(most)}`, head);
}

/** Without its quotes such a text could pass for something else: a switch, a list, an amount, or the next fact. */
const NEEDS_QUOTES =
  /^\s|\s$|^$|[,;—→`](?:\s|$)|:\s|:$|^(?:true|false|null)$|^[[{"“]|["“”]|\s(?:and|und|to|from|in|no|an|von|ohne|with|without)\s|\s[+−]\d|\d\s\p{L}|\p{L}\s[\d+−]|^(?:no|ohne|to|from|in|an|von) /iu;

/** A text on one line, in quotes where it could pass for something else; no quote inside ends them. */
export function bare(text: string, most: number): string {
  const line = oneLine(text, most);
  return NEEDS_QUOTES.test(line) ? quoted(text, most) : short(line, most);
}

/** A text on one line, in quotes. */
export function quoted(text: string, most: number): string {
  return `“${short(oneLine(text, most).replace(/[“”„«»]/g, '"'), most)}”`;
}

/** A command or a statement in backquotes, of which beginning and end are shown. */
export function coded(code: string, most: number): string {
  const shown = whole(code, most);
  return shown.includes("`") ? `\`\` ${shown} \`\`` : `\`${shown}\``;
}

function whole(code: string, most: number): string {
  const all = code
    .replace(/\\\r?\n\s*/g, " ")
    .trim()
    .replace(/\r\n|[\r\n]/g, " ↵ ")
    .replaceAll("\t", " ");
  const [first, last] = [all.slice(0, 4 * most), all.slice(-4 * most)];
  const start = Array.from(printableExactly(first));
  if (all.length <= 4 * most && start.length <= most) return start.join("");
  const end = Array.from(printableExactly(last.toWellFormed()));
  const tail = Math.floor(most * 0.4);
  return `${start.slice(0, most - tail - 3).join("")} … ${end.slice(-tail).join("")}`;
}

function oneLine(text: string, most: number): string {
  return text
    .slice(0, 4 * most)
    .replace(/\r\n|[\r\n]/g, " ↵ ")
    .replaceAll("\t", " ");
}

/** The beginning of a text; an escape is at most as long as ten characters, so what is cut before is never missed. */
export function short(text: string, most: number): string {
  return cutTo(most, printableExactly(text.slice(0, 4 * most)));
}

/** A path or an address: its end says as much as its beginning. */
export function pathText(path: string, most: number): string {
  const letters = Array.from(path.slice(0, 8 * most));
  if (letters.length <= most) return bare(path, most);
  const end = Array.from(path.slice(-4 * most)).slice(-Math.ceil(most * 0.6));
  const start = letters.slice(0, most - end.length - 1);
  return bare(`${start.join("")}…${end.join("")}`, most);
}
