const LONGEST_TITLE = 200;
/** A line that begins or ends a block of code in Markdown. */
const FENCE = /^ {0,3}(?:`{3,}[^`]*|~~~.*)$/;
/** So short a sentence is a greeting, and the next belongs to it. */
const SHORTEST_SENTENCE = 20;
/** An end of a sentence; a small letter behind it shows an abbreviation. */
const END = /[.!?…](?=\s+[^\s\p{Ll}])|[。！？]/gu;

/**
 * Returns the first line of somebody's words as a title of at most 200 characters, its end marked where it goes on. A
 * block of code is no title, unless there is nothing else.
 */
export function titleOf(words: string): string {
  return cutTo(LONGEST_TITLE, proseOf(words)[0]?.trimEnd() ?? "");
}

/** Returns the first sentence of somebody's words, on one line and as long as a title. */
export function firstSentenceOf(words: string): string {
  const lines = proseOf(words);
  const end = lines.findIndex((line) => line.trim() === "");
  const paragraph = (end === -1 ? lines : lines.slice(0, end))
    .map((line) => line.replace(/`{3,}/g, "").trim())
    .join(" ");
  const ends = [...paragraph.matchAll(END)].map(({ index }) => index + 1);
  return cutTo(LONGEST_TITLE, paragraph.slice(0, ends.find((at) => at >= SHORTEST_SENTENCE) ?? paragraph.length));
}

/** The lines outside of blocks of code from the first that says something on; those of the code if there are no others. */
function proseOf(words: string): string[] {
  const lines = words.trim().split(/\r\n|\n|\r/);
  let isCode = false;
  const prose = lines.map((line) => {
    const isFence = FENCE.test(line);
    if (isFence) isCode = !isCode;
    return isFence || isCode ? "" : line;
  });
  const saying = [prose, lines.map((line) => (FENCE.test(line) ? "" : line)), lines];
  const chosen = saying.find((some) => some.some((line) => line.trim() !== "")) ?? [];
  return chosen.slice(chosen.findIndex((line) => line.trim() !== ""));
}

/** Returns a text of at most `most` code points, its end marked where something is missing. */
export function cutTo(most: number, text: string): string {
  const letters = Array.from(text);
  return letters.length <= most ? text : `${letters.slice(0, most - 1).join("")}…`;
}
