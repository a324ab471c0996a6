/**
 * Returns the known word that a mistyped one most likely means: at most two letters are other, missing or too many, or
 * two neighbours changed places, and more than half of the word is right.
 */
export function nearest(word: string, known: readonly string[]): string | undefined {
  const most = Math.min(2, Math.floor((word.length - 1) / 2));
  const near = known.map((one) => ({ one, away: distance(word, one, most) })).sort((a, b) => a.away - b.away)[0];
  return near && near.away <= most ? near.one : undefined;
}

/** The number of letters to add, take away, change, or swap with the next; any number above `most` where it is above. */
function distance(one: string, other: string, most: number): number {
  if (Math.abs(one.length - other.length) > most) return Infinity;
  let before: number[] = [];
  let row = Array.from({ length: other.length + 1 }, (_, i) => i);
  for (let i = 1; i <= one.length; i += 1) {
    // Further away from the diagonal every number is above the most.
    const first = Math.max(1, i - most);
    const next: number[] = [];
    let least = first === 1 ? i : Infinity;
    next[first - 1] = least;
    for (let j = first; j <= Math.min(other.length, i + most); j += 1) {
      const change = (row[j - 1] ?? Infinity) + (one[i - 1] === other[j - 1] ? 0 : 1);
      const isSwapped = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      const swap = isSwapped ? (before[j - 2] ?? Infinity) + 1 : Infinity;
      const away = Math.min(change, swap, (row[j] ?? Infinity) + 1, (next[j - 1] ?? Infinity) + 1);
      next[j] = away;
      least = Math.min(least, away);
    }
    if (least > most) return Infinity;
    [before, row] = [row, next];
  }
  return row[other.length] ?? Infinity;
}
