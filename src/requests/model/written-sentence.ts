import { isSentence, PLACEHOLDER } from "../../policy/model/sentence.ts";
import { cutTo } from "../../core/model/title.ts";
import { textOf, type ArgumentLeaf } from "../facts/leaves.ts";
import { leavesIn } from "../facts/read-leaves.ts";
import { inMainUnits } from "../facts/money.ts";
import { printableExactly } from "../../lib/printable.ts";
import { bare } from "./sentence-parts.ts";

const LONGEST = 200;
const VALUES = [120, 60, 40, 24, 12];

/**
 * Returns a sentence with the values of the arguments that it names, `{amount}` or `{total.gross}`; null if one of them
 * is missing, or holds no text, number or switch.
 */
export function writtenSentence(sentence: string, kwargs: string): string | null {
  if (!isSentence(sentence)) return null;
  const leaves = new Map(leavesIn(kwargs).map((leaf) => [leaf.path.join("."), leaf]));
  const currencies = [...leaves.values()].filter(({ words }) => words.includes("currency")).map(textOf);
  for (const most of VALUES) {
    let isWhole = true;
    const says = sentence.split(PLACEHOLDER).map((part, i) => {
      if (i % 2 === 0) return printableExactly(part);
      const leaf = leaves.get(part.trim());
      const value = leaf && valueOf(leaf, currencies[0] ?? null);
      if (value === undefined || value === null) isWhole = false;
      return bare(value ?? "", most);
    });
    if (!isWhole) return null;
    const line = says.join("");
    if ([...line].length <= LONGEST || most === VALUES.at(-1)) return cutTo(LONGEST, line);
  }
  return null;
}

function valueOf(leaf: ArgumentLeaf, currency: string | null): string | null {
  const { value } = leaf;
  if (value.kind === "switch") return String(value.on);
  if (value.kind === "list") return value.items.every((one) => typeof one === "string") ? value.items.join(", ") : null;
  return inMainUnits(leaf.words, value.text, currency);
}
