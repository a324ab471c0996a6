/** Returns those of these whose name has every word that was typed: first those that begin with them, then the rest. */
export function matching<T extends { name: string }>(all: readonly T[], typed: string): T[] {
  const words = plain(typed).split(" ").filter(Boolean);
  const rank = (name: string): number => {
    if (words.length === 0 || name.startsWith(words.join(" "))) return 0;
    return words.every((word) => ` ${name}`.includes(` ${word}`)) ? 1 : 2;
  };
  return all
    .map((one) => ({ one, name: plain(one.name) }))
    .filter(({ name }) => words.every((word) => name.includes(word)))
    .sort((a, b) => rank(a.name) - rank(b.name))
    .map(({ one }) => one);
}

/** Small letters without accents and signs that nobody sees; every other sign is a space. */
function plain(words: string): string {
  return words
    .normalize("NFKD")
    .replace(/[\p{M}\p{Cf}]/gu, "")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}/?]+/gu, " ")
    .trim();
}
