/** Control, bidirectional and zero-width characters and tags: what can steer a terminal or hide from its reader. */
const UNSEEN =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]/gu;

/** Returns a text of somebody else's as one line that a terminal can show: what cannot be seen appears as `\uXXXX`. */
export function printable(text: string): string {
  return text.toWellFormed().replace(UNSEEN, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return code > 0xffff ? `\\u{${code.toString(16)}}` : `\\u${code.toString(16).padStart(4, "0")}`;
  });
}

/** Returns the lines of a text of somebody else's, each of them printable. */
export function printableLines(text: string): string[] {
  return text.split(/\r\n|\n|\r/).map((line) => printable(line.replaceAll("\t", "  ")));
}

/**
 * Control characters but for line ends and tabs, what turns the direction of writing, tags, and what is never seen.
 * The joiners U+200C and U+200D stay: some scripts and many emoji cannot be written without them.
 */
const STEERING =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]/gu;

/** Returns a text without the characters by which it could say something else than it shows. */
export function withoutSteering(text: string): string {
  return text.replace(STEERING, "");
}
