/**
 * Returns the labels that words choose, in the order of the words. Commas, semicolons and lines separate them. Each is
 * named by its label, in any case, or by its number (`#1`, `1`); words that name none of them stay as they are.
 */
export function chosenLabels(words: string, labels: readonly string[]): string[] {
  const parts = words
    .split(/[,;\n]/)
    .map((part) => part.trim())
    .filter((part) => part !== "");
  const chosen: string[] = [];
  for (let at = 0; at < parts.length;) {
    const { label, length } = longestAt(parts, at, labels);
    chosen.push(label);
    at += length;
  }
  return [...new Set(chosen)];
}

/** A label may hold a comma itself, so the longest run of parts that is one wins. */
function longestAt(parts: readonly string[], at: number, labels: readonly string[]): { label: string; length: number } {
  for (let length = parts.length - at; length > 0; length -= 1) {
    const run = foldedLabel(parts.slice(at, at + length).join(", "));
    const label = labels.find((one) => foldedLabel(one) === run);
    if (label !== undefined) return { label, length };
  }
  const part = parts[at] ?? "";
  const number = /^#?\s?(\d{1,2})[.)]?$/.exec(part.normalize("NFKC"))?.[1];
  return { label: (number === undefined ? undefined : labels[Number(number) - 1]) ?? part, length: 1 };
}

/** Returns a label as labels are compared: separators of every kind count as commas, and case does not count. */
export function foldedLabel(text: string): string {
  return text
    .normalize("NFKC")
    .trim()
    .replace(/(?:(?<!\s)\s+)?[,;\n]\s*/g, ", ")
    .replace(/\s+/g, " ")
    .replace(/[.!]$/, "")
    .toLowerCase();
}
