/**
 * The code points that nobody can see, or tell from a space or from nothing, written down from Unicode's tables: a second
 * list, so that a mistake in the first one is found.
 */
const RANGES: readonly (readonly [number, number])[] = [
  // Controls.
  [0x00, 0x1f],
  [0x7f, 0x9f],
  // Default_Ignorable_Code_Point.
  ...[[0xad], [0x34f], [0x61c], [0x115f, 0x1160], [0x17b4, 0x17b5], [0x180b, 0x180f], [0x200b, 0x200f]].map(pair),
  ...[[0x202a, 0x202e], [0x2060, 0x206f], [0x3164], [0xfe00, 0xfe0f], [0xfeff], [0xffa0], [0xfff0, 0xfff8]].map(pair),
  ...[
    [0x1bca0, 0x1bca3],
    [0x1d173, 0x1d17a],
    [0xe0000, 0xe0fff],
  ].map(pair),
  // Other format characters, and the separators of lines and paragraphs.
  ...[[0x600, 0x605], [0x6dd], [0x70f], [0x890, 0x891], [0x8e2], [0x2028, 0x2029], [0xfff9, 0xfffb]].map(pair),
  ...[[0x110bd], [0x110cd], [0x13430, 0x1343f]].map(pair),
  // Spaces but the ordinary one, and blanks that no property tells.
  ...[[0xa0], [0x1680], [0x2000, 0x200a], [0x202f], [0x205f], [0x3000]].map(pair),
  ...[[0x2800], [0x1d159], [0x13441, 0x13442], [0x16fe4]].map(pair),
];

function pair(range: readonly number[]): readonly [number, number] {
  const [from = 0, to = from] = range;
  return [from, to];
}

/** Every code point that an argument may not show as it is. */
export const UNSEEN_POINTS: readonly number[] = RANGES.flatMap(([from, to]) =>
  Array.from({ length: to - from + 1 }, (_, i) => from + i),
).sort((a, b) => a - b);

const UNSEEN = new Set(UNSEEN_POINTS);

/** Returns the first code point of a text that nobody sees; the end of a line is one that everybody sees. */
export function firstUnseen(text: string): string | undefined {
  for (const character of text) {
    const point = character.codePointAt(0) ?? 0;
    if (point !== 0x0a && UNSEEN.has(point)) return `U+${point.toString(16).toUpperCase().padStart(4, "0")}`;
  }
  return undefined;
}
