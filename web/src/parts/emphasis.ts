/** A part of a line: plain, code, or emphasised, which may hold more parts. */
export interface LinePart {
  kind: "plain" | "code" | "strong" | "em";
  text: string;
}

/**
 * Code between backquotes, and words between one or two asterisks: the signs stand around a word, not within one, and
 * against its letters. All else that has an asterisk, such as `*.ts`, `2*3` or `count(*)`, is left as it is.
 */
const MARKED =
  /(?<!`)(`+)(?!`)([^`\n](?:[^\n]*?[^`\n])?)\1(?!`)|(?<![^\s("'“„«[])(\*\*?)(?=[\p{L}\p{N}"“`])([^\n*]*[^\s*])\3(?![^\s.,;:!?)"'”“»\]…])/gu;

/** Splits words into what is plain, and what their writer marked as code or as emphasised. */
export function emphasisOf(words: string): LinePart[] {
  const parts: LinePart[] = [];
  let from = 0;
  const add = (kind: LinePart["kind"], text: string): void => void (text !== "" && parts.push({ kind, text }));
  for (const { 0: whole, 2: code, 3: signs, 4: marked = "", index } of words.matchAll(MARKED)) {
    add("plain", words.slice(from, index));
    if (code === undefined) add(signs === "*" ? "em" : "strong", marked);
    else add("code", code);
    from = index + whole.length;
  }
  add("plain", words.slice(from));
  return parts;
}
