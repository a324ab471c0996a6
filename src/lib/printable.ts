/**
 * Characters that look like a space or like nothing: control and format characters, line and paragraph separators,
 * every character that Unicode lets a font leave out, and other blank characters.
 *
 * Default_Ignorable_Code_Point holds variation selectors, fillers, joiners, tags and the code points kept for more of
 * them; U+2800, U+1D159, U+13441, U+13442 and U+16FE4 are blank without any property that says so.
 */
const UNSEEN = String.raw`\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u{2800}\u{1d159}\u{13441}\u{13442}\u{16fe4}`;
/** Every space but the ordinary one. In words they are spaces; in an argument each could pass for another. */
const OTHER_SPACES = String.raw`\p{Zs}--[\u0020]`;

/** Returns a pattern that is made when it is first used: each of these takes half a millisecond, and a hook may need none. */
function onceUsed(source: string, flags: string): () => RegExp {
  let pattern: RegExp | undefined;
  return () => (pattern ??= new RegExp(source, flags));
}

const inExact = onceUsed(`[${UNSEEN}[${OTHER_SPACES}]]`, "gv");
/** Where an emoji may begin, what may hide in one, and what else may go on with one. */
const BASE = String.raw`[[\p{Emoji}\p{Emoji_Component}]--[\p{Emoji_Modifier}\u{20e3}\u{200d}\u{fe0f}\u{e0020}-\u{e007f}]]`;
const HIDDEN = String.raw`\u{200d}\u{fe0f}\u{e0020}-\u{e007f}`;
const GOES_ON = String.raw`(?:\u{200d}${BASE}|[${HIDDEN}\p{Emoji_Modifier}\u{20e3}])`;
/** Something unseen by itself, or what could be an emoji that holds something unseen. */
const inWords = onceUsed(`${BASE}\\p{Emoji_Modifier}?(?=[${HIDDEN}])${GOES_ON}+|[${UNSEEN}]`, "gv");
/**
 * Emoji are pictures of more than one code point; the sequences that Unicode recommends can hide nothing. Their list
 * takes a tenth of a server's start to read and some microseconds for each emoji, so it is read when the first is met
 * that could hide something, and asked about no other.
 */
const inEmoji = onceUsed(`\\p{RGI_Emoji}|[${UNSEEN}]`, "gv");
/** Results for emoji seen before, because the same emoji occur again and again. */
const emojiMet = new Map<string, string>();
const MOST_EMOJI_MET = 5000;
/** In UTF-16 units; none that Unicode recommends is half as long, and what is longer hides something. */
const LONGEST_EMOJI = 40;
const IS_PLAIN = /^[\u0020-\u007e]*$/;
const isUnseen = onceUsed(`^[${UNSEEN}]$`, "v");
const anyUnseen = onceUsed(`[${UNSEEN}]`, "gv");

/**
 * Returns a text of somebody else's as one line that a terminal can show: what cannot be seen appears as `\uXXXX`. Emoji
 * stay whole. For what is approved there is `printableExactly`.
 */
export function printable(text: string): string {
  if (IS_PLAIN.test(text)) return text;
  return text.toWellFormed().replace(inWords(), (found) => (isUnseen().test(found) ? escapeOf(found) : emojiOf(found)));
}

/** Returns what may be emoji, one after the other: those that Unicode recommends are whole, of others all shows. */
function emojiOf(found: string): string {
  if (found.length > LONGEST_EMOJI) return found.replace(anyUnseen(), escapeOf);
  const met = emojiMet.get(found);
  if (met !== undefined) return met;
  const shown = found.replace(inEmoji(), (part) => (isUnseen().test(part) ? escapeOf(part) : part));
  if (emojiMet.size >= MOST_EMOJI_MET) emojiMet.clear();
  emojiMet.set(found, shown);
  return shown;
}

/**
 * Returns a name or an argument of a call as one line in which every code point can be distinguished from every other.
 * Invisible characters are escaped, also within emoji, and so is every space but the ordinary one.
 */
export function printableExactly(text: string): string {
  return text.toWellFormed().replace(inExact(), escapeOf);
}

function escapeOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return code > 0xffff ? `\\u{${code.toString(16)}}` : `\\u${code.toString(16).padStart(4, "0")}`;
}

/** Returns the lines of a text of somebody else's, each of them printable. */
export function printableLines(text: string): string[] {
  return text.split(/\r\n|\n|\r/).map((line) => printable(line.replaceAll("\t", "  ")));
}

/** Returns the lines of arguments, each of them printable to the code point. */
export function printableLinesExactly(text: string): string[] {
  return text.split("\n").map(printableExactly);
}

/** Returns JSON that says the same, and in which whatever cannot be seen is an escape of JSON's own. */
export function printableJson(json: string): string {
  return json
    .split("\n")
    .map((line) => line.replace(inExact(), unitsOf))
    .join("\n");
}

function unitsOf(character: string): string {
  return character
    .split("")
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .join("");
}

/** The joiners U+200C and U+200D stay: some scripts and many emoji cannot be written without them. */
const STEERING =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]/gu;

/**
 * Returns what a person wrote, for a program: without control characters but line ends and tabs, what turns the
 * direction of writing, tags, and what is never seen.
 */
export function withoutSteering(text: string): string {
  return text.replace(STEERING, "");
}
