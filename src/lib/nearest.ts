/**
 * Returns the known word that a mistyped one most likely means: at most two letters are other, missing or too many, or
 * two neighbours changed places, and more than half of the word is right.
 */
export function nearest(word: string, known: readonly string[]): string | undefined {
  const most = Math.min(2, Math.floor((word.length - 1) / 2));
  const near = known.map((one) => ({ one, away: distance(word, one) })).sort((a, b) => a.away - b.away)[0];
  return near && near.away <= most ? near.one : undefined;
}

/** The number of letters to add, take away, change, or swap with the next. */
function distance(one: string, other: string): number {
  let before: number[] = [];
  let row = Array.from({ length: other.length + 1 }, (_, i) => i);
  for (let i = 1; i <= one.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= other.length; j += 1) {
      const change = (row[j - 1] ?? 0) + (one[i - 1] === other[j - 1] ? 0 : 1);
      const isSwapped = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      const swap = isSwapped ? (before[j - 2] ?? 0) + 1 : Infinity;
      next.push(Math.min(change, swap, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    [before, row] = [row, next];
  }
  return row.at(-1) ?? 0;
}
