/** One argument of a call as people are shown it. */
export interface ArgumentRow {
  name: string;
  text: string;
}

/**
 * Splits the arguments as a view shows them, one row each, in their order: the rows hold the same characters as the
 * text, but for white space between the parts of it. A line break inside a string stays `\n` and also begins a new line,
 * so that a long text can be read.
 */
export function argumentRows(argumentsText: string): ArgumentRow[] {
  const rows: ArgumentRow[] = [];
  for (const line of argumentsText.split("\n").slice(1, -1)) {
    const found = /^ {2}"((?:[^"\\]|\\.)*)": (.*)$/su.exec(line);
    const last = rows.at(-1);
    if (found) rows.push({ name: nameOf(found[1] ?? ""), text: found[2] ?? "" });
    else if (last) last.text += `\n${line.slice(2)}`;
  }
  return rows.map(({ name, text }) => ({ name, text: withLineBreaks(text.replace(/,$/, "")) }));
}

/** A name whose letters are written as they are is shown without its quotes; any other as it stands in the text. */
function nameOf(inside: string): string {
  return inside.includes("\\") || inside.trim() !== inside || inside === "" ? `"${inside}"` : inside;
}

function withLineBreaks(text: string): string {
  return text.replace(/\\(.)/gsu, (escape, letter: string) => (letter === "n" ? `${escape}\n` : escape));
}
