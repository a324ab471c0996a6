const LONGEST_TITLE = 200;

/** Returns the first line of somebody's words as a title of at most 200 characters, its end marked where it goes on. */
export function titleOf(words: string): string {
  return cutTo(LONGEST_TITLE, words.trim().split(/\r\n|\n|\r/)[0] ?? "");
}

/** Returns a text of at most `most` code points, its end marked where something is missing. */
export function cutTo(most: number, text: string): string {
  const letters = Array.from(text);
  return letters.length <= most ? text : `${letters.slice(0, most - 1).join("")}…`;
}
