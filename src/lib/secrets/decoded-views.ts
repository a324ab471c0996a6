/** A text as a reader may decode it. Each of its characters knows the place in the written text that it came from. */
export interface DecodedView {
  text: string;
  /** Where, in the text as it was written, the source of each character begins, and where it ends. */
  starts: Int32Array;
  ends: Int32Array;
  /** Words that stood apart stand together in it: its spaces and line breaks are gone. */
  joined: boolean;
}

/** A text that is decoded again and again never has more views than this. */
const MOST_VIEWS = 24;
const MOST_STEPS = 5;

/** Characters that are not seen, and those that are another way to write one of ASCII: full-width letters, others' digits. */
const NOT_ASCII = /[^\x00-\x7f]/gu;
const UNSEEN = /\p{Default_Ignorable_Code_Point}/u;

const NAMED: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: " ",
  lowbar: "_",
  plus: "+",
  commat: "@",
  sol: "/",
  colon: ":",
  period: ".",
  equals: "=",
  percnt: "%",
  num: "#",
  quest: "?",
  newline: "\n",
  shy: "",
  zwnj: "",
  zwj: "",
};

/** HTML entities, percent signs, quoted-printable, and the escapes of JSON and Markdown. */
const ESCAPES =
  /&#(\d{1,7});?|&#x([0-9a-f]{1,6});?|&([a-z]{2,7});|%([0-9a-f]{2})|=[ \t]*(\r?\n)(?:[ \t]*[>|])*[ \t]?|=([0-9A-F]{2})|\\u([0-9a-f]{4})|\\x([0-9a-f]{2})|\\([nrt])|\\([^\sa-z0-9])/gi;

/** Proofpoint URL Defense 2 writes `-2D` for a hyphen, `-5F` for an underscore, and `_` for a slash. */
const URL_DEFENSE_2 = /-([0-9a-f]{2})|_/gi;
const HAS_URL_DEFENSE_2 = /-3a__/i;
/** Version 3 writes `*` for what it keeps, as base64, behind the address. */
const URL_DEFENSE_3 = /\/v3\/__((?:(?!\/v3\/__)[^]){1,4000}?)__;([\w-]{1,4000})!/g;

/** One line of base64 that is long enough for an address, or several lines as mail programs wrap them. */
const BASE64 = /(?<![A-Za-z0-9+/])(?:[A-Za-z0-9+/]{56,}\r?\n)+[A-Za-z0-9+/]*={0,2}|[\w+/-]{60,}={0,2}/g;

/** Marks of quotes where a line begins, tags that break no word, and every space. */
const BETWEEN =
  /\s+(?:[>|]\s*)*|^(?:[>|]\s*)+|<\/?(?:wbr|br|span|font|b|i|u|em|strong|a|p|div|td|tr|pre|code)(?:\s[^<>]{0,2000})?\/?>/gi;

const STEPS: readonly ((view: DecodedView) => DecodedView)[] = [
  (view) => rewritten(view, ESCAPES, (match) => unescaped(match)),
  (view) => (HAS_URL_DEFENSE_2.test(view.text) ? rewritten(view, URL_DEFENSE_2, ([, hex]) => slashOr(hex)) : view),
  (view) => rewritten(view, URL_DEFENSE_3, ([, address = "", kept = ""]) => withKept(address, kept)),
  (view) => rewritten(view, BASE64, ([whole]) => wordsInBase64(whole)),
  (view) => (view.joined ? view : { ...rewritten(view, BETWEEN, () => ""), joined: true }),
];

/**
 * Returns the ways in which a text can be read: as it was written, and with every encoding undone that mail programs,
 * security gateways and forms add, one in another too. Whatever is found in a view is marked by `starts` and `ends` in
 * the text as it was written, of which this may be the part that begins at `offset`.
 */
export function decodedViews(written: string, offset = 0): DecodedView[] {
  const views = [plainView(written, offset)];
  const seen = new Set(views.map(({ text }) => text));
  let last = views;
  for (let step = 0; step < MOST_STEPS && last.length > 0; step += 1) {
    const next: DecodedView[] = [];
    for (const view of last) {
      for (const decode of STEPS) {
        const decoded = decode(view);
        if (seen.has(decoded.text) || views.length + next.length >= MOST_VIEWS) continue;
        seen.add(decoded.text);
        next.push(decoded);
      }
    }
    views.push(...next);
    last = next;
  }
  return views;
}

/** Returns a text as it looks, with each way to write a letter or digit of ASCII made that letter or digit. */
export function plainView(written: string, offset = 0): DecodedView {
  const [starts, ends] = [new Int32Array(written.length), new Int32Array(written.length)];
  for (let i = 0; i < written.length; i += 1) {
    starts[i] = offset + i;
    ends[i] = offset + i + 1;
  }
  const asWritten = { text: written, starts, ends, joined: false };
  return rewritten(asWritten, NOT_ASCII, ([one]) => plainOf(one));
}

/** Returns what a character looks like: nothing where it is not seen, and a digit of whatever script as one of ASCII. */
function plainOf(one: string): string {
  if (UNSEEN.test(one)) return "";
  const plain = one.normalize("NFKC");
  if (!DIGIT.test(plain)) return plain;
  // Unicode has the ten digits of a script in their order, one behind another.
  const code = plain.codePointAt(0) ?? 0;
  let before = 0;
  while (DIGIT.test(String.fromCodePoint(code - before - 1))) before += 1;
  return String(before % 10);
}

const DIGIT = /^\p{Nd}$/u;

/** Returns a view in which each match is replaced; what stands for a match came from all of it. */
function rewritten(
  view: DecodedView,
  pattern: RegExp,
  replace: (match: RegExpExecArray) => string | null,
): DecodedView {
  const changes: { from: number; to: number; by: string }[] = [];
  for (const match of view.text.matchAll(pattern)) {
    const by = replace(match);
    if (by !== null && by !== match[0]) changes.push({ from: match.index, to: match.index + match[0].length, by });
  }
  if (changes.length === 0) return view;
  const length = changes.reduce((sum, { from, to, by }) => sum + by.length - (to - from), view.text.length);
  const [starts, ends] = [new Int32Array(length), new Int32Array(length)];
  const pieces: string[] = [];
  let [read, filled] = [0, 0];
  const copyTo = (end: number): void => {
    pieces.push(view.text.slice(read, end));
    starts.set(view.starts.subarray(read, end), filled);
    ends.set(view.ends.subarray(read, end), filled);
    filled += end - read;
  };
  for (const { from, to, by } of changes) {
    copyTo(from);
    pieces.push(by);
    starts.fill(view.starts[from] ?? 0, filled, filled + by.length);
    ends.fill(view.ends[to - 1] ?? 0, filled, filled + by.length);
    filled += by.length;
    read = to;
  }
  copyTo(view.text.length);
  return { text: pieces.join(""), starts, ends, joined: view.joined };
}

/** Returns the ASCII character of a code; nothing for any other. */
function asciiOf(digits: string, base: number): string {
  const code = Number.parseInt(digits, base);
  return code < 0x80 ? String.fromCharCode(code) : "";
}

function slashOr(hex: string | undefined): string | null {
  return hex === undefined ? "/" : asciiOf(hex, 16) || null;
}

function unescaped(match: RegExpExecArray): string | null {
  const [, decimal, hex, name, percent, softBreak, printable, unicode, byte, blank, mark] = match;
  if (name !== undefined) return NAMED[name.toLowerCase()] ?? null;
  if (softBreak !== undefined) return "";
  if (blank !== undefined) return "\n";
  if (mark !== undefined) return mark;
  if (decimal !== undefined) return asciiOf(decimal, 10) || null;
  return asciiOf(hex ?? percent ?? printable ?? unicode ?? byte ?? "", 16) || null;
}

/** Returns an address with what its gateway kept for it: `*` stands for one character, and `**A` for two or more. */
function withKept(address: string, kept: string): string {
  const characters = [...Buffer.from(kept, "base64url").toString("utf8")];
  return address.replace(/\*(\*[\w-])?/g, (_, run?: string) => {
    const count = run === undefined ? 1 : RUNS.indexOf(run.charAt(1)) + 2;
    return characters.splice(0, count).join("");
  });
}

const RUNS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/** Returns what base64 says, where it begins as text does; part of an address may stand before it. */
function wordsInBase64(encoded: string): string | null {
  for (let skip = 0; skip < 4; skip += 1) {
    const words = (length?: number) => Buffer.from(encoded.slice(skip, length), "base64").toString("latin1");
    const beginning = words(skip + SAMPLE);
    const odd = beginning.match(/[^\t\r\n\x20-\x7e]/g)?.length ?? 0;
    if (odd * 10 <= beginning.length) return words();
  }
  return null;
}

const SAMPLE = 400;
